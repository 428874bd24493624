package transport_test

import (
	"bytes"
	"compress/gzip"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// wireTap is a provider that stores its requests and returns a fixed answer.
type wireTap struct {
	mu     sync.Mutex
	bodies []string
	heads  []http.Header
	answer string
	kind   string
	coding string
}

func (w *wireTap) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	_ = req.Body.Close()
	w.mu.Lock()
	defer w.mu.Unlock()
	w.bodies, w.heads = append(w.bodies, string(body)), append(w.heads, req.Header.Clone())
	h := http.Header{"Content-Type": {w.kind}}
	if w.coding != "" {
		h.Set("Content-Encoding", w.coding)
	}
	return &http.Response{StatusCode: 200, Status: "200 OK", Header: h, Body: io.NopCloser(strings.NewReader(w.answer)), Request: req}, nil
}

// spaced returns JSON with unusual white space.
func spaced(body string) string {
	body = strings.Replace(body, `{`, "\n \t{ ", 1)
	body = strings.ReplaceAll(body, `","`, "\" ,\r\n\t \"")
	return strings.ReplaceAll(body, `"role":`, `"role" :  `) + " \n\n"
}

func zipped(t *testing.T, body string) string {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(body)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// faulty is a fault of an observing manager or its wire.
type faulty struct {
	on      bool
	hang    chan struct{}
	panics  bool
	fails   bool
	observe []transport.Option
}

func (b *faulty) Name() string { return "broken" }
func (b *faulty) Count(s string) int {
	switch {
	case b.on && b.panics:
		panic("a bug")
	case b.on && b.hang != nil:
		<-b.hang
	}
	return len(s) / 4
}

func (b *faulty) config() compact.Config {
	return compact.Config{Model: "gpt-4o", MaxContextTokens: 16_000, Counter: b}
}

// With every outcome of the observation, on every wire, streamed or not, the transport
// sends the received body, returns the provider's answer, and adds no delay.
func TestObservedRequestsGoOutByteForByteAtOnce(t *testing.T) {
	for name, b := range map[string]*faulty{
		"it compacts": {}, "it fails": {fails: true}, "it panics": {panics: true},
		"a wire panics": {observe: []transport.Option{transport.Route("/chat/completions", panics{openai.Wire})}},
		"it hangs":      {hang: make(chan struct{})},
	} {
		synctest.Test(t, func(t *testing.T) {
			if b.hang != nil {
				b.hang = make(chan struct{})
			}
			m, err := compact.New(t.Context(), b.config())
			if err != nil {
				t.Fatal(err)
			}
			b.on = true
			tap, results := &wireTap{answer: `{"usage":{"prompt_tokens":9}}`, kind: "application/json"}, 0
			var mu sync.Mutex
			rt := transport.New(m, append(b.observe, transport.Base(tap), transport.Observe(), transport.Strict(), transport.Recall(),
				transport.OnError(func(context.Context, error) {}),
				transport.OnResult(func(_ context.Context, res *compact.Result) {
					mu.Lock()
					defer mu.Unlock()
					if res.Projected != nil && res.Projected.Triggered {
						results++
					}
				}))...)
			sent, ask := 0, "Fix it."
			if b.fails {
				ask = strings.Repeat("word ", 20_000)
			}
			for _, f := range forms() {
				plain := strings.Replace(f.body(ask, 40, 300), `{`, `{"meta":{"protected":true},`, 1)
				bodies := map[string]string{"": plain}
				if name == "it compacts" || name == "it hangs" { // in the other cases the observation failed before it read the encoding
					bodies["identity"], bodies["gzip"] = spaced(plain), zipped(t, plain)
				}
				for coding, body := range bodies {
					ctx := transport.WithSession(t.Context(), f.path+f.fields+coding)
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, "https://example.test"+f.path, strings.NewReader(body))
					if err != nil {
						t.Fatal(err)
					}
					req.Header.Set("Content-Type", "application/json")
					req.Header.Set("X-Compact-Agent", "a")
					req.Header.Set("Idempotency-Key", "k")
					if coding != "" {
						req.Header.Set("Content-Encoding", coding)
					}
					began := time.Now()
					resp, err := rt.RoundTrip(req)
					if err != nil {
						t.Fatal(err)
					}
					answer, err := io.ReadAll(resp.Body)
					if err != nil || string(answer) != tap.answer || time.Since(began) != 0 {
						t.Errorf("%s, %v, %q: %q after %s, %v; want 0 and no error", name, f, coding, answer, time.Since(began), err)
					}
					head := tap.heads[sent]
					if tap.bodies[sent] != body || head.Get("X-Compact-Agent") != "" || head.Get("Idempotency-Key") != "k" || head.Get("Accept-Encoding") != "" {
						t.Errorf("%s, %v, %q: %d bytes were received, %d were sent, %v", name, f, coding, len(body), len(tap.bodies[sent]), head)
					}
					sent++
				}
			}
			if b.hang != nil {
				time.Sleep(time.Minute)
				close(b.hang)
			}
			synctest.Wait()
			if name == "it compacts" && results != 3*len(forms()) || (name == "it fails" || name == "it panics") && results != 0 {
				t.Errorf("%s: %d compactions were projected", name, results)
			}
			if err := m.Close(context.Background()); err != nil {
				t.Error(err)
			}
		})
	}
}

// observing returns a rig, and a function that waits for the rig's observations and
// returns them.
func observing(t *testing.T, model string, opts ...transport.Option) (*rig, *tracetest.Recorder, func() []*compact.Result) {
	t.Helper()
	events := &tracetest.Recorder{}
	r := newRig(t, compact.Config{Model: model, Exporters: []trace.Exporter{events}}, append(opts, transport.Observe())...)
	return r, events, func() []*compact.Result {
		for deadline := time.Now().Add(time.Minute); ; time.Sleep(time.Millisecond) {
			r.mu.Lock()
			results, errs := r.results, len(r.errs)
			r.mu.Unlock()
			if len(results)+errs >= len(r.got()) || time.Now().After(deadline) {
				return results
			}
		}
	}
}

func TestObservedAnswersAreMeteredAndNothingIsArchived(t *testing.T) {
	for _, f := range forms() {
		r, events, results := observing(t, "claude-sonnet-4-5")
		body := f.body("Fix it.", 60, 400)
		for range 2 {
			if status, answer := r.post(f, body); status != http.StatusOK {
				t.Fatalf("%v: %s", f, answer)
			}
		}
		all := results()
		if len(all) != 2 || all[0].Projected == nil || all[1].Projected == nil {
			t.Fatalf("%v: %d results; %v, want 2", f, len(all), r.errs)
		}
		for _, got := range r.got() {
			if got != body {
				t.Errorf("%v: a different body was sent", f)
			}
		}
		for info, err := range r.archive.List(t.Context(), storage.Key{}) {
			t.Errorf("%v: the archive has %v, %v", f, info.Key, err)
		}
		usage := func() int {
			if err := r.m.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			return len(events.Named(trace.NameObservedUsage))
		}
		for deadline := time.Now().Add(time.Minute); usage() < 2 && time.Now().Before(deadline); time.Sleep(time.Millisecond) {
		}
		if usage() != 2 {
			t.Errorf("%v: %d bills were observed of 2, want 2", f, usage())
		}
		r.quiet()
	}
}

// A failed observation is reported like every other failure, and the request is sent.
func TestAFailedObservationIsReported(t *testing.T) {
	f := forms()[0]
	for name, c := range map[string]struct {
		body string
		opts []transport.Option
		op   string
	}{
		"not JSON": {`{"messages":[`, nil, "parse"},
		"a bug":    {f.body("hi", 1, 1), []transport.Option{transport.Route("/chat/completions", panics{openai.Wire})}, "observe"},
	} {
		r := newRig(t, compact.Config{}, append(c.opts, transport.Observe())...)
		r.server.Lenient = true
		if status, _ := r.post(f, c.body); status != http.StatusOK || r.got()[0] != c.body {
			t.Errorf("%s: status %d, or a different body was sent", name, status)
		}
		if err := r.client.Transport.(*transport.Transport).Settle(t.Context()); err != nil {
			t.Fatal(err)
		}
		if len(r.errs) != 1 || len(r.results) != 0 {
			t.Fatalf("%s: reported %v, with %d results, want 0", name, r.errs, len(r.results))
		}
		if known := (*transport.Error)(nil); !errors.As(r.errs[0], &known) || known.Op != c.op || known.Path != f.path {
			t.Errorf("%s: %v, want an error with operation and path", name, r.errs[0])
		}
	}
}

// An observing manager makes every transport observe; the caller gets a
// provider's overflow.
func TestAManagerThatObservesMakesTheTransportObserve(t *testing.T) {
	m, err := compact.New(t.Context(), compact.Config{Observe: true, Model: "gpt-4o", MaxContextTokens: 16_000})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) })
	tap := &wireTap{answer: `{"error":{"code":"context_length_exceeded","message":"too long"}}`, kind: "application/json"}
	f := forms()[0]
	body := spaced(f.body("Fix it.", 60, 400))
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.test"+f.path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if _, err := transport.New(m, transport.Base(tap)).RoundTrip(req); err != nil {
		t.Fatal(err)
	}
	if len(tap.bodies) != 1 || tap.bodies[0] != body {
		t.Errorf("%d requests, or a different body, want 1", len(tap.bodies))
	}
}

// A body above MaxBody is sent whole, and the missing observation is reported.
func TestABodyTooLargeToObserveIsSentWhole(t *testing.T) {
	r, _, results := observing(t, "gpt-4o", transport.MaxBody(1000))
	r.server.Lenient = true
	f := forms()[0]
	body := f.body("Fix it.", 60, 40)
	if status, _ := r.post(f, body); status != http.StatusOK || r.got()[0] != body {
		t.Error("a different body was sent")
	}
	if len(results()) != 0 || len(r.errs) != 1 || !errors.Is(r.errs[0], transport.ErrTooLarge) {
		t.Errorf("reported %v", r.errs)
	}
}

// Settle waits for a running observation as long as its context allows.
func TestSettleWaitsForObservations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &faulty{hang: make(chan struct{})}
		m, err := compact.New(t.Context(), b.config())
		if err != nil {
			t.Fatal(err)
		}
		b.on = true
		rt := transport.New(m, transport.Base(&wireTap{answer: "{}", kind: "application/json"}), transport.Observe(), transport.OnError(func(context.Context, error) {}))
		f := forms()[0]
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.test"+f.path, strings.NewReader(f.body("Fix it.", 2, 10)))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Content-Type", "application/json")
		resp, err := rt.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := rt.Settle(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("the observation hangs: %v, want DeadlineExceeded", err)
		}
		close(b.hang)
		if err := rt.Settle(t.Context()); err != nil {
			t.Error(err)
		}
		if err := transport.New(m).Settle(ctx); err != nil {
			t.Errorf("without observations: %v", err)
		}
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	})
}

// Functions of the program that panic end neither a request nor the program, also where an
// observation calls them in the background.
func TestPanicsOfTheProgramsFunctionsAreContained(t *testing.T) {
	for name, opts := range map[string][]transport.Option{"observed": {transport.Observe()}, "compacted": nil} {
		t.Run(name, func(t *testing.T) {
			m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4o", Archive: memory.New()})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = m.Close(context.Background()) }()
			base, asked := &wireTap{answer: "{}", kind: "application/json"}, 0
			rt := transport.New(m, append(opts, transport.Base(base),
				transport.OnError(func(context.Context, error) { asked++; panic("the program's OnError") }),
				transport.OnResult(func(context.Context, *compact.Result) { asked++; panic("the program's OnResult") }))...)
			f := forms()[0]
			for i, body := range []string{`{"messages":7}`, f.body("Fix it.", 2, 10)} {
				req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.test"+f.path, strings.NewReader(body))
				if err != nil {
					t.Fatal(err)
				}
				req.Header.Set("Content-Type", "application/json")
				resp, err := rt.RoundTrip(req)
				if err != nil {
					t.Fatal(err)
				}
				if err := errors.Join(resp.Body.Close(), rt.Settle(t.Context())); err != nil { // Settle waits for the body
					t.Fatal(err)
				}
				if want := []int{1, 3}[i]; base.bodies[i] != body || asked != want { // the panic of OnResult is an error, too
					t.Errorf("request %d: sent unchanged: %t; %d calls of functions, want %d", i, base.bodies[i] == body, asked, want)
				}
			}
		})
	}
}
