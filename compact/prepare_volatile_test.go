package compact_test

import (
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/message"
)

// A system prompt with the time differs at each call: no prepared summary can
// be used, so only a few are paid for.
func TestChangingHistoryPreparesFewSummaries(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := ahead(t, nil)
		for n := range 12 {
			history := turns(soonTurns, 100)
			history[0] = message.System(fmt.Sprintf("You are a careful assistant. It is %02d:00.", n))
			history = append(history, round(1000+n, 10*n)...)
			if res, err := r.Preflight(t.Context(), "s", history); err != nil || res.Triggered {
				t.Fatalf("call %d: triggered %v, %v; want false and no error", n, res.Triggered, err)
			}
			time.Sleep(6 * time.Second)
		}
		if n := s.Calls.Load(); n < 1 || n > 2 {
			t.Errorf("%d summaries were written, and none can be taken; want at least 1 and at most 2", n)
		}
	})
}

// After a step, summaries are prepared again.
func TestStepAfterLostSummariesAllowsNewOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r, s := ahead(t, nil)
		for n := range 3 { // the summary of each call is lost at the next one
			history := turns(soonTurns, 100)
			history[0] = message.System(fmt.Sprintf("You are a careful assistant. It is %02d:00.", n))
			r.preflight(history)
			time.Sleep(6 * time.Second)
		}
		history := turns(dueTurns, 100)
		waits(t, r, history, 5*time.Second)
		before := s.Calls.Load()
		for n := 0; s.Calls.Load() == before; n++ {
			if history = append(history, round(2000+n, 100)...); r.preflight(history).Triggered {
				t.Fatalf("call %d compacts, and no summary was prepared", n)
			}
			time.Sleep(6 * time.Second)
		}
	})
}
