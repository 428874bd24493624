package compact_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// A call that compacts nothing waits for no archive, however slow: the originals
// for a prepared summary are read in the background.
func TestOnlyCallsThatCompactWaitForOriginals(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &unreadableTranscript{Archive: memory.New(), slow: 1500 * time.Millisecond}
		_, view := masks(t, a.Archive)
		size := newRig(t, compact.Config{MaxContextTokens: 200_000, Archive: a.Archive}).preflight(view).UpperBound
		model := &asked{}
		r := newRig(t, compact.Config{MaxContextTokens: size*107/100 + 1500, Archive: a, Summarize: model}) // 93 % of the trigger, with the buffer
		for n := range 4 {
			began := time.Now()
			res := r.preflight(view)
			if res.Step != 0 || res.UpperBound*10 < res.Trigger*9 {
				t.Fatalf("call %d: %d tokens (%d), %d trigger, step %d: %s, want 0", n, res.UpperBound, res.Before.Total, res.Trigger, res.Step, res.Reason)
			}
			if d := time.Since(began); d > 0 {
				t.Errorf("call %d, which compacts nothing, took %v", n, d)
			}
			time.Sleep(3 * time.Second)
			synctest.Wait()
		}
		model.mu.Lock()
		asked := model.prompt
		model.mu.Unlock()
		if !strings.Contains(asked, tornWrite) || strings.Contains(asked, "observation masked") {
			t.Error("the summary that is prepared is of placeholders")
		}
		more := append(slices.Clone(view), message.Assistant(text(400)), message.User("Go on."))
		res := r.preflight(more)
		if res.Step == 0 || res.Summary == nil || !strings.Contains(res.Summary.Text, tornWrite) {
			t.Fatalf("step %d, %+v", res.Step, res.Summary)
		}
	})
}

// A failing archive does not prevent prepared summaries, and is not read at every
// call.
func TestUnreadableOriginalsBlockNoCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &unreadableTranscript{Archive: memory.New(), down: true}
		_, view := masks(t, a.Archive)
		size := newRig(t, compact.Config{MaxContextTokens: 200_000, Archive: a.Archive}).preflight(view).UpperBound
		model := &asked{}
		r := newRig(t, compact.Config{MaxContextTokens: size*107/100 + 1500, Archive: a, Summarize: model})
		for range 3 {
			r.preflight(view)
			synctest.Wait()
		}
		model.mu.Lock()
		defer model.mu.Unlock()
		if model.prompt == "" || strings.Contains(model.prompt, tornWrite) {
			t.Errorf("the summary was asked for with %d bytes", len(model.prompt))
		}
	})
}
