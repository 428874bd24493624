package transport_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
)

// slow is a summarizer that needs time.
type slow struct {
	wait  time.Duration
	calls atomic.Int32
}

func (s *slow) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	n := s.calls.Add(1)
	select {
	case <-ctx.Done():
		return strategy.Draft{}, ctx.Err()
	case <-time.After(s.wait):
	}
	return strategy.Draft{Text: fmt.Sprintf("## Goals and success criteria\n- [open] the tests of the module pass (draft %d)\n", n)}, nil
}

// exactly counts a body's tokens as the provider of gpt-4o does.
func exactly(t *testing.T, f wire.Format) func([]byte) int {
	t.Helper()
	counter, err := token.ForModel("gpt-4o")
	if err != nil {
		t.Fatal(err)
	}
	e, err := token.NewEstimator("gpt-4o", counter, nil)
	if err != nil {
		t.Fatal(err)
	}
	return func(body []byte) int {
		req, err := f.ParseRequest(body, nil)
		if err != nil {
			return 1 << 30
		}
		n := e.Tools(req.About().Tools) + e.Reply()
		for _, m := range req.Messages() {
			n += e.Message(m)
		}
		return n
	}
}

// Six conversations run at once, under one cache key, one user, one session's name or
// no name, with equal or different beginnings. No call fails, no request exceeds the
// window, and each compaction makes one summary.
func TestConcurrentConversationsAreIndependent(t *testing.T) {
	i := 0
	for _, alike := range []bool{false, true} {
		for _, f := range forms() {
			if f.stream {
				continue
			}
			for _, fields := range []string{"", `,"prompt_cache_key":"agent-v1"`, `,"user":"me"`, `,"metadata":{"session_id":"s"}`} {
				if f.wire != provider.Chat && fields != "" {
					continue
				}
				if i++; (i-1)%samples.Every(1) != 0 {
					continue
				}
				if testing.Short() && !alike && (f.wire != provider.Chat || fields != "") {
					continue
				}
				g := f
				g.fields = strings.NewReplacer("gpt-5", "gpt-4o", "claude-sonnet-4-5", "gpt-4o").Replace(f.fields + fields)
				g.path = strings.Replace(f.path, "gemini-2.5-pro", "gpt-4o", 1)
				t.Run(fmt.Sprintf("%s %s alike=%v", f.wire, fields, alike), func(t *testing.T) { atOnce(t, g, alike) })
			}
		}
	}
}

func atOnce(t *testing.T, f form, alike bool) {
	s := &slow{wait: 20 * time.Millisecond}
	r := newRig(t, compact.Config{Preset: "summarize", Summarize: s})
	r.server.Window, r.server.Count = window, exactly(t, wires[f.wire])
	var all sync.WaitGroup
	const conversations = 6
	for k := range conversations {
		all.Go(func() {
			ask := fmt.Sprintf("Fix module %d.", k)
			if alike {
				ask = "Fix it."
			}
			for step := range 24 {
				body := strings.ReplaceAll(f.body(ask, step, 1200), "file ", fmt.Sprintf("file of %d ", k))
				body = strings.NewReplacer(`{\"n\":`, fmt.Sprintf(`{\"k\":%d,\"n\":`, k), `{"n":`, fmt.Sprintf(`{"k":%d,"n":`, k)).Replace(body)
				resp, err := r.client.Do(r.request(context.Background(), f.path, body))
				if err != nil {
					t.Errorf("conversation %d, step %d: %v", k, step, err)
					return
				}
				if resp.StatusCode != http.StatusOK {
					t.Errorf("conversation %d, step %d: %s", k, step, resp.Status)
				}
				_ = resp.Body.Close()
			}
		})
	}
	all.Wait()
	compactions := 0
	for _, res := range r.results {
		if res.Triggered {
			compactions++
		}
	}
	// A conversation can end with a summary that was written ahead of its call.
	if n := int(s.calls.Load()); n < compactions || n > compactions+conversations || r.steps() != compactions || compactions < conversations {
		t.Errorf("%d compactions, %d steps, %d summaries; want at least %d and at most %d", compactions, r.steps(), n, conversations, compactions+conversations)
	}
	for _, q := range r.server.Requests() {
		if q.Prompt > window || q.Status != http.StatusOK {
			t.Errorf("a request of %d tokens was answered with %d, want at most %d and %d", q.Prompt, q.Status, window, http.StatusOK)
		}
	}
	r.quiet()
}

// held is a summarizer that waits until it is released.
type held struct{ begun, free chan struct{} }

func (h *held) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	close(h.begun)
	select {
	case <-ctx.Done():
		return strategy.Draft{}, ctx.Err()
	case <-h.free:
	}
	return strategy.Draft{Text: "## Goals and success criteria\n- [open] the tests of the module pass\n"}, nil
}

// While one conversation waits for its summary, others with the same beginning
// continue, even under the same name.
func TestConversationsWithOneBeginningDoNotBlockEachOther(t *testing.T) {
	for _, fields := range []string{"", `,"user":"me"`, `,"metadata":{"session_id":"s"}`} {
		h := &held{make(chan struct{}), make(chan struct{})}
		f, r := forms()[0], newRig(t, compact.Config{Preset: "summarize", Summarize: h})
		f.fields += fields
		var all sync.WaitGroup
		all.Go(func() { r.do(r.request(context.Background(), f.path, f.body("Fix it.", 60, 300))) })
		<-h.begun
		for _, body := range []string{f.body("Fix it.", 0, 0), strings.ReplaceAll(f.body("Fix it.", 3, 3), `"read"`, `"list"`), f.body("Other.", 3, 3)} {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			if resp, err := r.client.Do(r.request(ctx, f.path, body)); err != nil {
				t.Errorf("%q: %v", fields, err)
			} else {
				_ = resp.Body.Close()
			}
			cancel()
		}
		close(h.free)
		all.Wait()
		r.quiet()
	}
}
