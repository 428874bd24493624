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
				t.Fatalf("call %d: triggered %v, %v", n, res.Triggered, err)
			}
			time.Sleep(6 * time.Second)
		}
		if n := s.Calls.Load(); n < 1 || n > 2 {
			t.Errorf("%d summaries were written, and none can be taken", n)
		}
	})
}
