package transport_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/storage/memory"
)

// guessed returns the forms with models whose tokenizer is not public.
func guessed() (out []form) {
	for _, f := range forms() {
		f.fields = strings.NewReplacer("gpt-4o", "deepseek-v3", "gpt-5", "grok-4").Replace(f.fields)
		out = append(out, f)
	}
	return out
}

// observed reports whether the bill of a result was already recorded: a second bill is
// refused.
func (r *rig) observed(res *compact.Result, tokens int) bool {
	r.t.Helper()
	return !r.m.Observe(res, compact.Usage{PromptTokens: tokens})
}

func TestUsageOfAnswersCalibratesTheEstimate(t *testing.T) {
	for _, f := range guessed() {
		t.Run(f.String(), func(t *testing.T) {
			r := newRig(t, compact.Config{})
			body := f.body("x", 10, 200)
			bill := 0
			r.server.Count = func([]byte) int { return bill }

			r.post(f, body) // a bill of zero tokens does not count
			plain := r.last()
			bill = plain.Before.Total * 12 / 10
			if r.observed(plain, bill) {
				t.Fatal("a bill of zero tokens was accepted")
			}

			r.server.Answer(provider.Answer{Text: "one two three", Cached: 500, Created: 300})
			more := f.body("x", 11, 200)
			r.post(f, more)
			if !r.observed(r.last(), bill) {
				t.Error("the bill was not reported")
			}
			r.post(f, f.body("x", 12, 200))
			if r.last().UpperBound <= r.last().Before.Total {
				t.Errorf("the estimate is %d, at most %d: nothing was learned", r.last().Before.Total, r.last().UpperBound)
			}
			r.quiet()
		})
	}
}

// Compression is left to the caller.
func TestCompressedAnswersAreLeftAlone(t *testing.T) {
	answer := `{"id":"x","choices":[],"usage":{"prompt_tokens":900}}`
	h := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, q *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		if !strings.Contains(q.Header.Get("Accept-Encoding"), "gzip") {
			_, _ = io.WriteString(w, answer)
			return
		}
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		_, _ = io.WriteString(z, answer)
		_ = z.Close()
	}))
	defer h.Close()
	f := guessed()[0]
	for _, asked := range []bool{false, true} { // by net/http itself, by the caller
		r := newRig(t, compact.Config{})
		r.url = h.URL
		req := r.request(context.Background(), f.path, f.body("x", 10, 50))
		if asked {
			req.Header.Set("Accept-Encoding", "gzip")
		}
		resp, err := r.client.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		var body io.Reader = resp.Body
		if asked {
			if body, err = gzip.NewReader(resp.Body); err != nil {
				t.Fatal(err)
			}
		}
		if b, err := io.ReadAll(body); err != nil || string(b) != answer {
			t.Errorf("asked %v: %s, %v", asked, b, err)
		}
		_ = resp.Body.Close()
		if !r.observed(r.last(), 900) {
			t.Errorf("asked %v: the bill was not reported", asked)
		}
	}
}

// step is a server that sends one event on each signal.
type step chan string

// newStep replaces the rig's server. Each step serves one call, because the server may
// learn late that the client of the previous call has gone.
func newStep(r *rig) step {
	s := make(step)
	h := httptest.NewServer(s)
	r.t.Cleanup(h.Close)
	r.url = h.URL
	return s
}

func (s step) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	_, _ = io.Copy(io.Discard, q.Body)
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	ctl := http.NewResponseController(w)
	_ = ctl.Flush()
	for {
		select {
		case ev, ok := <-s:
			if !ok {
				return
			}
			_, _ = io.WriteString(w, ev)
			_ = ctl.Flush()
		case <-q.Context().Done():
			return
		}
	}
}

// Settle waits for the usage of answers that are being read, so that the manager can be
// closed after it.
func TestSettleWaitsForTheUsageOfAnswers(t *testing.T) {
	for _, f := range forms() {
		r := newRig(t, compact.Config{})
		rt := r.client.Transport.(*transport.Transport)
		resp, err := r.client.Do(r.request(t.Context(), f.path, f.body("x", 1, 1)))
		if err != nil {
			t.Fatal(err)
		}
		over, cancel := context.WithCancel(t.Context())
		cancel()
		if err := rt.Settle(over); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: %v while an answer is being read, want Canceled", f, err)
		}
		_, _ = io.Copy(io.Discard, resp.Body)
		_ = resp.Body.Close()
		if err := rt.Settle(over); err != nil || !r.observed(r.last(), 100) {
			t.Errorf("%s: %v after it was read", f, err)
		}
	}
}

func TestStreamsArePassedOnEventByEvent(t *testing.T) {
	for _, f := range guessed() {
		if !f.stream {
			continue
		}
		r := newRig(t, compact.Config{})
		s := newStep(r)
		resp, err := r.client.Do(r.request(t.Context(), f.path, f.body("x", 1, 1))) // returns with the headers
		if err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewReader(resp.Body)
		for i := range 5 { // each is read before the next is sent
			s <- fmt.Sprintf("data: {\"n\":%d}\n\n", i)
			for _, want := range []string{fmt.Sprintf("data: {\"n\":%d}\n", i), "\n"} {
				if got, err := lines.ReadString('\n'); err != nil || got != want {
					t.Fatalf("%v: %q, %v; want %q", f, got, err, want)
				}
			}
		}
		_ = resp.Body.Close()
	}
}

func TestStreamsClosedEarlyReportTheirUsage(t *testing.T) {
	f := guessed()[5] // Anthropic sends it first
	r := newRig(t, compact.Config{})
	s := newStep(r)
	resp, err := r.client.Do(r.request(t.Context(), f.path, f.body("x", 10, 200)))
	if err != nil {
		t.Fatal(err)
	}
	bill := r.last().Before.Total * 11 / 10
	s <- fmt.Sprintf("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"usage\":{\"input_tokens\":%d,\"output_tokens\":1}}}\n\nevent: content_block_delta\ndata: {", bill)
	if _, err := bufio.NewReaderSize(resp.Body, 16).ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAtLeast(resp.Body, make([]byte, 1000), 100); err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	if !r.observed(r.last(), bill) {
		t.Error("the bill was not reported")
	}
}

// In another process, a session has the figures of the first process only from its
// archive. So this test uses one process and two sessions.
func TestBillsBelongToTheirRequests(t *testing.T) {
	r := newRig(t, compact.Config{Archive: memory.New()})
	f := guessed()[0]
	r.server.Count = func(body []byte) int { return len(body) / 5 }
	for i := range 4 {
		req := r.request(transport.WithSession(context.Background(), fmt.Sprint(i)), f.path, f.body(fmt.Sprint(i), 5+3*i, 100))
		r.do(req)
	}
	for i, res := range r.results {
		if !r.observed(res, len(r.got()[i])/5) {
			t.Errorf("request %d: the bill was not reported", i)
		}
	}
}
