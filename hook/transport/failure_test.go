package transport_test

import (
	"context"
	"errors"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// full is an archive that takes nothing.
type full struct{ *memory.Archive }

var errFull = errors.New("no space left")

func (full) Create(context.Context, storage.Key, storage.Blob) error { return errFull }

// panics is a wire that ends the program.
type panics struct{ wire.Format }

func (panics) ParseRequest([]byte, *wire.Cache) (wire.Request, error) { panic("a bug") }

func TestFailuresDoNotStopTheAgent(t *testing.T) {
	f := forms()[0]
	for name, c := range map[string]struct {
		config compact.Config
		body   string
		opts   []transport.Option
		op     string
		is     error
	}{
		"not JSON":            {compact.Config{}, `{"messages":[`, nil, "parse", nil},
		"no messages":         {compact.Config{}, `{"model":"gpt-4o"}`, nil, "parse", nil},
		"a list":              {compact.Config{}, `[]`, nil, "parse", nil},
		"the archive is full": {compact.Config{Archive: full{memory.New()}}, long(""), nil, "compact", compact.ErrArchiveFailed},
		"the budget":          {compact.Config{MaxContextTokens: 4000}, f.body(strings.Repeat("word ", 9000), 1, 1), nil, "compact", compact.ErrInsufficientBudget},
		"a bug":               {compact.Config{}, long(""), []transport.Option{transport.Route("/chat/completions", panics{openai.Wire})}, "compact", nil},
	} {
		for _, strict := range []bool{false, true} {
			opts := c.opts
			if strict {
				opts = append(opts, transport.Strict())
			}
			r := newRig(t, c.config, opts...)
			r.server.Lenient = true
			resp, err := r.client.Do(r.request(transport.WithSession(context.Background(), "s"), f.path, c.body))
			if !strict {
				if status, _ := r.read(resp, err); status != http.StatusOK || r.got()[0] != c.body {
					t.Errorf("%s: status %d, or a different body was sent", name, status)
				}
				if len(r.errs) != 1 {
					t.Fatalf("%s: reported %v", name, r.errs)
				}
				err = r.errs[0]
			} else {
				if len(r.got()) != 0 || len(r.errs) != 0 {
					t.Errorf("%s, strict: %d requests, reported %v, want 0", name, len(r.got()), r.errs)
				}
				err = refusedBy(t, resp, err)
			}
			known := (*transport.Error)(nil)
			if !errors.As(err, &known) || known.Op != c.op || known.Path != f.path || c.is != nil && !errors.Is(err, c.is) {
				t.Errorf("%s, strict %v: %v", name, strict, err)
			}
			if c.op != "parse" && name != "a bug" && known != nil && known.Session != "s" {
				t.Errorf("%s: session %q", name, known.Session)
			}
		}
	}
}

// refusedBy returns the error that a strict transport answered with.
func refusedBy(t *testing.T, resp *http.Response, err error) error {
	t.Helper()
	if err != nil {
		t.Fatalf("not answered but failed: %v", err)
	}
	defer func() { _ = resp.Body.Close() }()
	known := transport.ErrorOf(resp)
	if known == nil || resp.Header.Get("X-Compact-Error") != known.Op {
		t.Fatalf("%s %v is not an error of the transport: %v", resp.Status, resp.Header, known)
	}
	return known
}

func TestClosedManagersLetRequestsPass(t *testing.T) {
	r := newRig(t, compact.Config{})
	if err := r.m.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
	f := forms()[0]
	if status, _ := r.post(f, long("")); status != http.StatusOK || r.got()[0] != long("") || !errors.Is(r.errs[0], compact.ErrClosed) {
		t.Errorf("status %d, reported %v, want %d", status, r.errs, http.StatusOK)
	}
}

func TestCanceledRequestsFail(t *testing.T) {
	r := newRig(t, compact.Config{})
	ctx, cancel := context.WithCancel(transport.WithSession(context.Background(), "s"))
	cancel()
	f := forms()[0]
	if _, err := r.client.Do(r.request(ctx, f.path, long(""))); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	if len(r.got()) != 0 || len(r.errs) != 0 {
		t.Errorf("%d requests, reported %v, want 0", len(r.got()), r.errs)
	}
}

func TestHangingServersAreLeftWithTheCaller(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Run("calls", func(t *testing.T) {
		r := newRig(t, compact.Config{})
		for _, f := range forms() {
			r.server.Fail(provider.Failure{Hang: true})
			ctx, cancel := context.WithTimeout(transport.WithSession(context.Background(), "s"), 50*time.Millisecond)
			if _, err := r.client.Do(r.request(ctx, f.path, f.body("x", 1, 1))); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("%v: %v, want DeadlineExceeded", f, err)
			}
			cancel()
		}
		r.client.CloseIdleConnections()
	})
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(20 * time.Millisecond)
	}
	buf := make([]byte, 1<<16)
	t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, buf[:runtime.Stack(buf, true)])
}

func TestVanishedServersFailTheCall(t *testing.T) {
	gone := errors.New("connection refused")
	r := newRig(t, compact.Config{}, transport.Base(refusing{gone}))
	if _, err := r.client.Do(r.request(context.Background(), "/v1/chat/completions", long(""))); !errors.Is(err, gone) {
		t.Error(err)
	}
	r.quiet()
}

type refusing struct{ err error }

func (r refusing) RoundTrip(req *http.Request) (*http.Response, error) {
	_ = req.Body.Close()
	return nil, r.err
}
