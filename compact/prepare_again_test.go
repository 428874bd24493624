package compact

import (
	"testing"

	"github.com/agentcompact/compact/policy"
)

// If there was nothing to summarize, a session tries again three times before the
// compaction: whenever it has grown by a quarter of the way.
func TestATextToSummarizeIsSearchedForAgain(t *testing.T) {
	ep := &epoch{cfg: Config{Policy: policy.Config{PreparePct: 0.9}}}
	c := &call{ep: ep, res: &Result{}, lane: &lane{ahead: &expectedCompaction{ep: ep, at: 9000}}}
	for tokens, want := range map[int]bool{9000: true, 9224: true, 9226: false, 9900: false} {
		if c.res.Before.Total = tokens; c.isPrepared() != want {
			t.Errorf("%d tokens after an attempt at 9,000: prepared %v, want %v", tokens, !want, want)
		}
	}
	c.res.Before.Total, c.ep = 9000, &epoch{cfg: ep.cfg}
	if c.isPrepared() {
		t.Error("the attempt was for another model")
	}
}
