package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// tight is a configuration with a window far larger than the provider's.
var tight = compact.Config{MaxContextTokens: 200_000}

func TestOverflowIsAnsweredByOneCompactionAndOneRetry(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.String(), func(t *testing.T) {
			r := newRig(t, tight)
			r.server.Window = 8_000
			body := f.body("Fix it.", 60, 200)
			status, answer := r.post(f, body)
			if status != http.StatusOK || !strings.Contains(answer, "ok") || strings.Contains(answer, "error\":{") {
				t.Fatalf("%d %s, want %d, text with %q and text without %q", status, answer, http.StatusOK, "ok", "error\":{")
			}
			got := r.got()
			if len(got) != 2 || got[0] != body || len(got[1]) >= len(body) || r.steps() != 1 {
				t.Errorf("%d requests, %d and %d bytes, %d steps; want 2, less than %d and 1", len(got), len(got[0]), len(got[1]), r.steps(), len(body))
			}
			// The limit that the provider named holds for later requests of the
			// session.
			if status, _ = r.post(f, f.body("Fix it.", 61, 200)); status != http.StatusOK || len(r.got()) != 3 {
				t.Errorf("the next call: %d after %d requests", status, len(r.got())-2)
			}
			r.quiet()
		})
	}
}

// The size that the provider reports for a refused request also counts as a measurement
// of that request. The bill of the answer counts for the smaller request.
func TestOverflowCountsAsABillOfTheRefusedRequest(t *testing.T) {
	for _, f := range guessed() {
		for _, inStream := range []bool{false, true} {
			r := newRig(t, tight)
			r.server.Window, r.server.InStream = 8_000, inStream
			r.post(f, f.body("Fix it.", 60, 200))
			if len(r.results) != 2 {
				t.Fatalf("%v: %d results, want 2", f, len(r.results))
			}
			if says := f.wire != provider.Responses; r.observed(r.results[0], 9_000) != says {
				t.Errorf("%v, in the stream %v: the bill of the refused request was reported: %v", f, inStream, !says)
			}
			if !r.observed(r.results[1], 9_000) {
				t.Errorf("%v, in the stream %v: the bill of the smaller request was not reported", f, inStream)
			}
		}
	}
}

// broken is a body that only returns an error.
type broken struct{ err error }

func (b *broken) Read([]byte) (int, error) {
	err := b.err
	b.err = io.EOF
	return 0, err
}

func TestTruncatedRefusalIsReturned(t *testing.T) {
	gone := errors.New("gone")
	refusal := io.MultiReader(strings.NewReader(`{"error":{"code":"context_length_exceeded"`), &broken{gone})
	r := newRig(t, tight, transport.Base(scripted(func(int) int { return http.StatusBadRequest }, "application/json", "", refusal)))
	f := forms()[0]
	resp, err := r.client.Do(r.request(context.Background(), f.path, f.body("go", 60, 200)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	if text, err := io.ReadAll(resp.Body); !errors.Is(err, gone) || string(text) != `{"error":{"code":"context_length_exceeded"` {
		t.Errorf("%s, %v, want gone", text, err)
	}
}

func TestOverflowInAStreamThatHasBegun(t *testing.T) {
	f := forms()[3]
	r := newRig(t, tight)
	r.server.Window, r.server.InStream = 8_000, true
	body := f.body("Fix it.", 60, 200)
	status, answer := r.post(f, body)
	if status != http.StatusOK || strings.Contains(answer, "response.failed") || strings.Count(answer, "event: response.created") != 1 || !strings.Contains(answer, "response.completed") {
		t.Fatalf("%d %s, want %d, text without %q and text with %q", status, answer, http.StatusOK, "response.failed", "response.completed")
	}
	if got := r.got(); len(got) != 2 || len(got[1]) >= len(body) || r.steps() != 1 {
		t.Errorf("%d requests, %d steps; want 2 and 1", len(got), r.steps())
	}
	r.quiet()

	never := newRig(t, tight)
	never.server.Window, never.server.InStream = 1, true
	_, answer = never.post(f, body)
	if n := len(never.got()); n != 2 || strings.Count(answer, "response.failed\n") != 1 || !strings.Contains(answer, "context_length_exceeded") {
		t.Errorf("a second overflow: %d requests, %s; want 2 and text with %q", n, answer, "context_length_exceeded")
	}
}

func TestSecondOverflowReachesTheCaller(t *testing.T) {
	for _, f := range forms() {
		r := newRig(t, tight)
		r.server.Window = 1
		status, answer := r.post(f, f.body("Fix it.", 60, 200))
		if n := len(r.got()); status != http.StatusBadRequest || n > 2 {
			t.Errorf("%v: %d after %d requests, want %d and at most 2", f, status, n, http.StatusBadRequest)
		}
		_, direct := r.read(http.DefaultClient.Do(r.request(context.Background(), f.path, r.got()[len(r.got())-1])))
		if answer != direct {
			t.Errorf("%v: the caller got\n%s\nthe provider said\n%s", f, answer, direct)
		}
	}
}

func TestTheCallerGetsTheRefusalOfARequestThatCannotShrink(t *testing.T) {
	f := forms()[0]
	r := newRig(t, tight)
	r.server.Window = 100
	body := f.body(strings.Repeat("word ", 3000), 0, 0)
	status, answer := r.post(f, body)
	if status != http.StatusBadRequest || !strings.Contains(answer, "maximum context length") || len(r.got()) != 1 {
		t.Errorf("%d %s after %d requests, want %d, text with %q and 1", status, answer, len(r.got()), http.StatusBadRequest, "maximum context length")
	}
	if len(r.errs) != 1 || !strings.Contains(r.errs[0].Error(), "overflow") {
		t.Errorf("reported %v", r.errs)
	}
}

// A request that no view made smaller, and that the provider then refuses, is one failed
// call, not two.
func TestARefusedRequestThatFitsNoWindowFailsOnce(t *testing.T) {
	f := forms()[0]
	events, c := &tracetest.Recorder{}, compact.Config{MaxContextTokens: window}
	c.Exporters = []trace.Exporter{events}
	r := newRig(t, c)
	r.server.Window = window
	status, _ := r.post(f, f.body(strings.Repeat("word ", 2*window), 0, 0))
	if status != http.StatusBadRequest || len(r.got()) != 1 {
		t.Errorf("%d after %d requests, want %d and 1", status, len(r.got()), http.StatusBadRequest)
	}
	if err := r.m.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	if failed := events.Named(trace.NameError); len(failed) != 1 {
		t.Errorf("%d failed calls are reported, want 1", len(failed))
	}
}

// canned answers every request with one status and body.
func canned(t *testing.T, status int, answer string) (url string, requests func() []string) {
	var got []string
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		b, _ := io.ReadAll(q.Body)
		got = append(got, string(b))
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(status)
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(h.Close)
	return h.URL, func() []string { return got }
}

func TestOtherErrorsAreReturnedUnchanged(t *testing.T) {
	long := strings.Repeat("x", 100_000)
	for _, c := range []struct {
		status int
		answer string
	}{
		{400, `{"error":{"message":"Invalid value: 'tool'.","type":"invalid_request_error","code":null}}`},
		{400, `{"error":{"message":"` + long + `"}}`},
		{400, ``},
		{401, `{"error":{"message":"prompt is too long: 5 tokens > 4 maximum"}}`},
		{413, `{"type":"error","error":{"type":"request_too_large","message":"Request exceeds the maximum size"}}`},
		{429, `{"error":{"message":"Request too large for gpt-4o: Limit 30000, Requested 40000","code":"rate_limit_exceeded"}}`},
		{500, `{"error":{"message":"prompt is too long: 5 tokens > 4 maximum"}}`},
		{200, `{"choices":[{"message":{"content":"prompt is too long: 5 tokens > 4 maximum"}}]}`},
	} {
		f := forms()[0]
		r := newRig(t, tight)
		url, requests := canned(t, c.status, c.answer)
		r.url = url
		status, answer := r.post(f, f.body("x", 60, 200))
		if status != c.status || answer != c.answer || len(requests()) != 1 {
			t.Errorf("%d %.80s after %d requests, want %d %.80s", status, answer, len(requests()), c.status, c.answer)
		}
		r.quiet()
	}
}

// The same idempotency key would get the same refusal again.
func TestRetryHasAnotherIdempotencyKey(t *testing.T) {
	f := forms()[0]
	r := newRig(t, tight)
	r.server.Window = 8_000
	req := r.request(context.Background(), f.path, f.body("x", 60, 200))
	req.Header.Set("Idempotency-Key", "k")
	r.do(req)
	log := r.server.Requests()
	if len(log) != 2 || log[0].Header.Get("Idempotency-Key") != "k" || log[1].Header.Get("Idempotency-Key") == "k" || log[1].Header.Get("Idempotency-Key") == "" {
		t.Errorf("%d requests, the last with %v, want 2", len(log), log[len(log)-1].Header)
	}
}

// A window that a refusal names applies to one session and one model.
func TestOverflowShrinksTheWindowOfItsSessionAndModelAlone(t *testing.T) {
	f := forms()[0]
	r := newRig(t, tight)
	r.server.Window = 8_000
	body := f.body("x", 60, 200)
	r.post(f, body)
	const asked = 8_000
	if r.last().MaxTokens > asked {
		t.Fatalf("window %d, want at most %d", r.last().MaxTokens, asked)
	}
	r.server.Window = 0
	for _, c := range []struct {
		session, model string
		small          bool
	}{{"s", "gpt-4o", true}, {"t", "gpt-4o", false}, {"s", "gpt-4.1", false}} {
		r.do(r.request(transport.WithSession(context.Background(), c.session), f.path, strings.Replace(body, "gpt-4o", c.model, 1)))
		if small := r.last().MaxTokens <= asked; small != c.small {
			t.Errorf("%s, %s: window %d", c.session, c.model, r.last().MaxTokens)
		}
	}
}

func TestOverflowWithoutNumbersIsAnsweredToo(t *testing.T) {
	j := &journal{}
	before := slog.Default()
	slog.SetDefault(j.logger())
	defer slog.SetDefault(before)
	f := forms()[2] // Responses names none
	r := newRig(t, tight)
	r.server.Window = 9_000
	if status, answer := r.post(f, f.body("x", 60, 200)); status != http.StatusOK {
		t.Errorf("%d %s, want %d", status, answer, http.StatusOK)
	}
	for _, line := range j.records(t) {
		if strings.Contains(fmt.Sprint(line), "contradicts") {
			t.Errorf("a usage without the provider's figures: %v", line)
		}
	}
}

// There is only one retry, for each form of the second refusal.
func TestSecondOverflowInTheStreamReachesTheCaller(t *testing.T) {
	requests := 0
	const failed = "event: response.failed\ndata: {\"response\":{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"x\"}}}\n\n"
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		_, _ = io.Copy(io.Discard, q.Body)
		if requests++; requests == 1 {
			w.WriteHeader(http.StatusBadRequest)
			_, _ = io.WriteString(w, `{"error":{"code":"context_length_exceeded","message":"x"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, failed)
	}))
	defer h.Close()
	f := forms()[3]
	r := newRig(t, tight)
	r.url = h.URL
	if status, answer := r.post(f, f.body("x", 60, 200)); status != http.StatusOK || answer != failed || requests != 2 {
		t.Errorf("%d %q after %d requests, want %d, %q and 2", status, answer, requests, http.StatusOK, failed)
	}
}

// A caller that cancels while its history is compacted gets its cancellation. It must
// not get a refusal of a too long request, because callers treat that as permanent. No
// failure is reported.
func TestACallerThatCancelsGetsNoRefusalOfItsContext(t *testing.T) {
	stream := forms()[3] // the refusal is in a stream that began with 200
	for i, f := range append(forms(), stream) {
		t.Run(f.String(), func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			config := tight
			config.Preset, config.Summarize = "summarize", givenUp{cancel}
			r := newRig(t, config)
			r.server.Window, r.server.InStream = 8_000, i == len(forms())
			resp, err := r.client.Do(r.request(ctx, f.path, f.body("Fix it.", 60, 200)))
			if err == nil {
				_, err = io.Copy(io.Discard, resp.Body)
				_ = resp.Body.Close()
			}
			if !errors.Is(err, context.Canceled) || len(r.got()) != 1 {
				t.Errorf("%v after %d requests, want Canceled and 1", err, len(r.got()))
			}
			r.quiet()
		})
	}
}

// givenUp is a summarizer whose caller cancels during the call.
type givenUp struct{ cancel context.CancelFunc }

func (g givenUp) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	g.cancel()
	<-ctx.Done()
	return strategy.Draft{}, ctx.Err()
}
