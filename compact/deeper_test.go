package compact_test

import (
	"fmt"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
)

// A session that grows at each call by more than the distance from target to
// trigger does not compact at each call.
func TestCompactionsInConsecutiveStepsDoNotHappen(t *testing.T) {
	for _, keep := range []int{1, 6} {
		for _, kept := range []bool{false, true} {
			if !samples.All() && kept != (keep == 6) {
				continue
			}
			c, _ := compact.Preset("graduated")
			c.MaxContextTokens, c.Policy.KeepRecentTurns, c.Policy.KeepToolIOPairs = 20_000, keep, 1
			r := newRig(t, c)
			history := []message.Message{message.System("Be brief."), message.User("Go.")}
			last, consecutive, all := false, 0, 0
			for i := range 24 {
				history = append(history, message.Assistant(fmt.Sprintf("Part %d. %s", i, text(5_300))), message.User(fmt.Sprintf("And %d?", i)))
				res := r.preflight(history)
				if res.Triggered && last && i > 4 {
					consecutive++
				}
				if last = res.Triggered; last {
					all++
				}
				if kept {
					history = res.Messages
				}
			}
			if consecutive > 0 || all == 0 {
				t.Errorf("keep %d, kept %v: %d of %d compactions directly after another", keep, kept, consecutive, all)
			}
		}
	}
}
