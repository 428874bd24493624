package transport_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

var errReset = errors.New("connection reset by peer")

// breaking cuts one answer after a number of events.
type breaking struct {
	inner http.RoundTripper
	err   error // read after the last event; nil = the stream just ends
	half  bool  // half of the next event follows

	mu        sync.Mutex
	answer    int // number of the answer that is cut, from 0; -1 = none
	events    int
	n         int
	exhausted bool // the answer had no more events
}

func (b *breaking) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := b.inner.RoundTrip(q)
	b.mu.Lock()
	defer b.mu.Unlock()
	n := b.n
	b.n++
	if err != nil || n != b.answer || resp.StatusCode != http.StatusOK {
		return resp, err
	}
	raw, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	all := strings.SplitAfter(string(raw), "\n\n")
	if len(all) == 1 { // an array, or a document
		all = strings.SplitAfter(string(raw), "}")
	}
	b.exhausted = b.events >= len(all)
	text := strings.Join(all[:min(b.events, len(all))], "")
	if b.half && !b.exhausted {
		text += all[b.events][:len(all[b.events])/2]
	}
	var end io.Reader = strings.NewReader("")
	if b.err != nil {
		end = cutBy{b.err}
	}
	resp.Body, resp.ContentLength = &closer{Reader: io.MultiReader(strings.NewReader(text), end)}, -1
	return resp, nil
}

type cutBy struct{ err error }

func (f cutBy) Read([]byte) (int, error) { return 0, f.err }

// try posts like rig.post, and returns the error of the answer's body.
func (r *rig) try(ctx context.Context, f form, body string) (answer string, err error) {
	resp, err := r.client.Do(r.request(transport.WithSession(ctx, "s"), f.path, body))
	if err != nil {
		return "", err
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	return string(b), err
}

// A stream breaks anywhere, in the answer with the recall call or in the one after it. The
// caller gets no part of the recall call. The retry of an SDK gets the whole answer, and
// sends the same bytes: the broken attempt leaves nothing behind.
func TestABrokenStreamLeavesNothingBehind(t *testing.T) {
	eachFlow(t, func(t *testing.T, f form) {
		b := &breaking{inner: http.DefaultTransport, answer: -1}
		r, body, ref := recalling(t, f, transport.Base(b))
		answers := []provider.Answer{
			{Reasoning: "Hm.", Text: "Let me see.", Calls: []provider.Call{recallOf(ref)}},
			{Reasoning: "I see.", Text: "It is a word.", Calls: []provider.Call{{ID: "c900", Name: "read", Args: `{"n":900}`}}},
		}
		for _, b.err = range []error{errReset, nil} {
			for answer := range answers {
				for b.events, b.exhausted = 0, false; ; b.events++ {
					b.half, b.n, b.answer = b.events%2 == 0, 0, answer
					r.server.Answer(answers[:answer+1]...)
					got, err := r.try(t.Context(), f, body)
					where := fmt.Sprintf("answer %d breaks after %d events with %v", answer, b.events, b.err)
					if b.exhausted {
						r.server.Answer(answers[answer+1:]...)
						break
					}
					inSequence(t, f, where, got)
					if answer == 0 && b.err == nil && b.n > 1 { // the recall call was complete
						continue
					}
					b.answer = -1
					r.server.Answer(answers...)
					before := len(r.server.Requests())
					again, err2 := r.try(t.Context(), f, body)
					if err2 != nil || !strings.Contains(again, "word") {
						t.Fatalf("%s: %v; the retry gets %v %s, want none and text with %q", where, err, err2, again, "word")
					}
					if r.sent(before) != r.sent(1) {
						t.Errorf("%s: the retry sends other bytes", where)
					}
				}
			}
		}
		r.allOK(f)
	})
}

// inSequence checks that the complete events of a broken stream continue one answer, and
// hold no part of a recall call.
func inSequence(t *testing.T, f form, where, got string) {
	t.Helper()
	block, sequence := -1.0, -1.0
	sep := "\n\n"
	if f.array() {
		sep = "\n"
	}
	for e := range strings.SplitAfterSeq(got, sep) {
		data := strings.Trim(e[max(strings.Index(e, "data: ")+len("data: "), 0)*min(1, strings.Count(e, "data: ")):], "[,]\r\n")
		var o map[string]any
		if json.Unmarshal([]byte(data), &o) != nil {
			continue
		}
		if strings.Contains(data, `"recall"`) || strings.Contains(data, "function_call_arguments") && strings.Contains(data, "ref") {
			t.Errorf("%s: the caller gets %s, want text without %q", where, data, `"recall"`)
		}
		if n, ok := o["sequence_number"].(float64); ok {
			if n <= sequence {
				t.Errorf("%s: event %v follows event %v: %s", where, n, sequence, got)
			}
			sequence = n
		}
		if n, ok := o["index"].(float64); ok && o["type"] == "content_block_start" {
			if n <= block {
				t.Errorf("%s: block %v follows block %v: %s", where, n, block, got)
			}
			block = n
		} else if ok && n != block && strings.HasPrefix(fmt.Sprint(o["type"]), "content_block") {
			t.Errorf("%s: %s, while block %v is open", where, data, block)
		}
	}
}

// hanging does not answer after gone was set: the caller gives up.
type hanging struct {
	inner http.RoundTripper
	gone  context.CancelFunc
}

func (h *hanging) RoundTrip(q *http.Request) (*http.Response, error) {
	if h.gone == nil {
		return h.inner.RoundTrip(q)
	}
	h.gone()
	<-q.Context().Done()
	return nil, q.Context().Err()
}

// A follow-up request that the provider answers with errors, or that the caller gives up,
// costs nothing: the bill has the answers that the provider gave.
func TestABrokenFollowUpIsNotBilled(t *testing.T) {
	eachForm(t, func(t *testing.T, f form) {
		hung := &hanging{inner: http.DefaultTransport}
		r, body, ref := recalling(t, f, transport.Base(hung))
		r.client.Transport.(*transport.Transport).Pauses(func(time.Duration) {})
		n := 0
		r.server.Reply = func(provider.Request) provider.Answer {
			if n++; n%2 == 0 {
				return provider.Answer{Text: "It is a word."}
			}
			if n == 1 {
				r.server.Fail(slices.Repeat([]provider.Failure{{Status: http.StatusServiceUnavailable}}, 3)...)
			}
			return provider.Answer{Calls: []provider.Call{recallOf(ref)}}
		}
		was := r.m.Bill()
		_, _ = r.try(t.Context(), f, body)
		r.server.Recover()
		if is := r.m.Bill(); is.Calls-was.Calls != 1 || is.Measured-was.Measured != 1 {
			t.Errorf("%d calls, of which %d are measured; want the one that was answered", is.Calls-was.Calls, is.Measured-was.Measured)
		}
		was = r.m.Bill()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		r.server.Reply = func(provider.Request) provider.Answer {
			hung.gone = cancel
			return provider.Answer{Calls: []provider.Call{recallOf(ref)}}
		}
		if _, err := r.try(ctx, f, body); !errors.Is(err, context.Canceled) {
			t.Errorf("the error of a call that is given up is %v, want Canceled", err)
		}
		if is := r.m.Bill(); is.Measured-was.Measured != 1 {
			t.Errorf("%d calls are measured, want the one that was answered", is.Measured-was.Measured)
		}
	})
}

// A follow-up request waits as long as the provider asks, also in milliseconds.
func TestAFollowUpWaitsAsAsked(t *testing.T) {
	f := forms()[1].withTools()
	r, body, ref := recalling(t, f, transport.Base(waiting{http.DefaultTransport}))
	var waits []time.Duration
	r.client.Transport.(*transport.Transport).Pauses(func(d time.Duration) { waits = append(waits, d) })
	r.server.Reply = func(provider.Request) provider.Answer {
		r.server.Fail(provider.Failure{Status: http.StatusTooManyRequests})
		r.server.Reply = nil
		return provider.Answer{Calls: []provider.Call{recallOf(ref)}}
	}
	if status, answer := r.post(f, body); status != http.StatusOK || !slices.Equal(waits, []time.Duration{1500 * time.Millisecond}) {
		t.Errorf("%d %s: waits of %v, want %d and %v", status, answer, waits, http.StatusOK, []time.Duration{1500 * time.Millisecond})
	}
}

// waiting adds a wait in milliseconds to refusals.
type waiting struct{ inner http.RoundTripper }

func (w waiting) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := w.inner.RoundTrip(q)
	if err == nil && resp.StatusCode == http.StatusTooManyRequests {
		resp.Header.Set("Retry-After-Ms", "1500")
	}
	return resp, err
}
