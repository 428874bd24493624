package serve

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
)

// A connection stays open after a request that was read to its end, and after a request
// without a body. It is closed if a rest of the request was not read, because that rest
// would be mistaken for the next request. Over HTTP/2 there is no such rest.
func TestConnectionsStayOpenAfterWholeRequests(t *testing.T) {
	for name, c := range map[string]struct {
		body         string
		read         int // bytes; -1 = all
		major        int
		wantsClosing bool
	}{
		"read to its end": {"hello", -1, 1, false}, "a part": {"hello", 2, 1, true}, "nothing": {"hello", 0, 1, true}, "without a body": {"", 0, 1, false}, "HTTP/2": {"hello", 2, 2, false},
	} {
		r := httptest.NewRequest(http.MethodPost, "/", nil)
		if c.body != "" {
			r = httptest.NewRequest(http.MethodPost, "/", strings.NewReader(c.body))
		}
		r.ProtoMajor = c.major
		w := httptest.NewRecorder()
		p := newPatient(w, r, Config{Stall: time.Minute, BodyTimeout: time.Minute})
		body := p.body(r.Body)
		if c.read < 0 {
			if data, err := io.ReadAll(body); err != nil || string(data) != c.body {
				t.Errorf("%s: %q, %v", name, data, err)
			}
		} else if _, err := io.ReadFull(body, make([]byte, c.read)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		hinted := newPatient(httptest.NewRecorder(), r, Config{})
		if hinted.WriteHeader(http.StatusEarlyHints); hinted.status != 0 {
			t.Errorf("%s: a hint is the answer", name)
		}
		if _, err := p.Write([]byte("ok")); err != nil || p.status != http.StatusOK {
			t.Errorf("%s: status %d, %v", name, p.status, err)
		}
		if closes := w.Header().Get("Connection") == "close"; closes != c.wantsClosing {
			t.Errorf("%s: closed %v", name, closes)
		}
	}
}

// Each failure of preflight has its status and its code, and only failures of the handler
// are counted.
func TestFailuresOfPreflightHaveTheirCodes(t *testing.T) {
	h := &Handler{m: unused(t), counters: newCounters(), log: slog.New(slog.DiscardHandler)}
	for name, c := range map[string]struct {
		err    error
		status int
		code   string
		counts int
	}{
		"a mistake":           {fmt.Errorf("x: %w", badRequest("no %s", "list")), 400, "bad_request", 0},
		"too large a view":    {fmt.Errorf("x: %w", compact.ErrInsufficientBudget), 422, "insufficient_budget", 0},
		"the archive":         {fmt.Errorf("x: %w", compact.ErrArchiveFailed), 500, "archive_failed", 1},
		"anything else":       {errors.New("x"), 500, "failed", 1},
		"the client has gone": {context.Canceled, 500, "failed", 1},
	} {
		before := h.counters.failures["preflight"]
		if m := h.mistakeOf(c.err); m.status != c.status || m.code != c.code || m.Error() == "" {
			t.Errorf("%s: %d %s %q", name, m.status, m.code, m.Error())
		}
		if n := h.counters.failures["preflight"] - before; n != c.counts {
			t.Errorf("%s: counted %d times", name, n)
		}
	}
}

// timeoutError is an error of a server that did not answer in time.
type timeoutError struct{ error }

func (timeoutError) Timeout() bool { return true }

// A request that was not answered has its reason in status, header, counters and on the
// page, and never the address of the upstream.
func TestUnansweredRequestsTellTheirReason(t *testing.T) {
	to := target{name: "openai", url: &url.URL{Scheme: "https", Host: "upstream.internal", Path: "/v1/x"}, rest: "/v1/x"}
	for name, c := range map[string]struct {
		err    error
		op     string
		status int
		shown  int // failures on the page; the transport reports its own
	}{
		"no connection":      {&upstreamError{errors.New("dial https://upstream.internal/v1/x: refused")}, "upstream", 502, 1},
		"too slow":           {&upstreamError{timeoutError{errors.New("timeout")}}, "upstream", 504, 1},
		"refused by strict":  {&transport.Error{Op: "parse", Err: io.ErrUnexpectedEOF}, "parse", 400, 0},
		"the request itself": {io.ErrUnexpectedEOF, "read", 400, 1},
	} {
		h := &Handler{m: unused(t), counters: newCounters(), log: slog.New(slog.DiscardHandler), now: time.Now, live: newLive(func(s string) string { return s }, time.Unix(0, 0))}
		r := httptest.NewRequest(http.MethodPost, "/openai/v1/x", nil)
		r = r.WithContext(context.WithValue(r.Context(), callKey{}, &call{upstream: to}))
		w := httptest.NewRecorder()
		h.failed(w, r, c.err)
		if w.Code != c.status || w.Header().Get(errorHeader) != c.op || h.counters.broken[c.op] != 1 || h.live.failed != c.shown || strings.Contains(w.Body.String(), "upstream.internal") {
			t.Errorf("%s: %d %s %s, counted %v, %d on the page", name, w.Code, w.Header().Get(errorHeader), w.Body, h.counters.broken, h.live.failed)
		}
	}
}

// A curve above its limit keeps both ends, every other point, and the points that matter.
func TestThinnedCurvesKeepBothEnds(t *testing.T) {
	for _, n := range []int{livePoints, livePoints + 1, livePoints + 2} {
		points := make([]int, n)
		for i := range points {
			points[i] = i
		}
		kept := thinned(points, func(p int) bool { return p == 7 })
		if n == livePoints && len(kept) != n {
			t.Errorf("%d points become %d", n, len(kept))
		}
		if kept[0] != 0 || kept[len(kept)-1] != n-1 || !slices.Contains(kept, 7) || n > livePoints && (len(kept) > n/2+3 || slices.Contains(kept, 9)) {
			t.Errorf("%d points become %v", n, kept)
		}
		if !slices.IsSorted(kept) {
			t.Errorf("%d points are out of order", n)
		}
	}
}

// A client that falls back to HTTP gets no WebSocket, unless nothing would be compacted
// anyway: because of the handler, or because of its manager.
func TestAWebSocketIsRefusedOnlyForACompaction(t *testing.T) {
	compacting, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", Storage: compact.StorageConfig{Adapter: "memory"}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = compacting.Close(t.Context()) }()
	r := httptest.NewRequest(http.MethodGet, "/openai/v1/responses", nil)
	r.Header.Set("Upgrade", "websocket")
	r.Header.Set("User-Agent", "codex/1")
	for name, c := range map[string]struct {
		m       *compact.CompactManager
		observe bool
		status  int
	}{
		"compacting": {compacting, false, http.StatusUpgradeRequired}, "the handler observes": {compacting, true, 0}, "the manager observes": {unused(t), false, 0},
	} {
		h, err := New(c.m, Config{Observe: c.observe})
		if err != nil {
			t.Fatal(err)
		}
		if call, status, why := h.admit(r); status != c.status || (call == nil) != (why != "") {
			t.Errorf("%s: %d %s", name, status, why)
		}
	}
}
