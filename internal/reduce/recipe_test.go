package reduce

import (
	"errors"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

func TestParseDecisionAcceptsTheOldSpelling(t *testing.T) {
	for d := policy.Kept; d <= policy.Dropped; d++ {
		if got := parseDecision(d.String()); got != d {
			t.Errorf("parseDecision(%s) = %s", d, got)
		}
	}
	if got := parseDecision("summarised"); got != policy.Summarized {
		t.Errorf("parseDecision(summarised) = %s", got)
	}
}

// A changed ledger can state more pinned messages than the conversation has.
func TestReplayLimitsTheNumberOfPinnedMessages(t *testing.T) {
	msgs := []message.Message{message.User("a"), message.Assistant("b"), message.User("c"), message.Assistant("d"), message.System("e"), message.System("f")}
	c := NewConversation(msgs, policy.Pins{message.RoleSystem}, nil)
	r := Recipe{Stage: "x", Cut: &CutRecipe{Removed: [][2]int{{0, 2}}, Recent: 4, Pins: 99, Decision: "dropped", Notice: 2}}
	d, err := c.Replay(r)
	if err != nil || d.Len() != 5 {
		t.Errorf("%v: %v", d.Sources(), err)
	}
	for _, wrong := range []CutRecipe{{Removed: [][2]int{{-1, 2}}}, {Removed: [][2]int{{0, 9}}}, {Removed: [][2]int{{2, 1}}}, {Recent: -1}, {Recent: 9}} {
		if _, err := c.Replay(Recipe{Cut: &wrong}); !errors.Is(err, policy.ErrEdit) {
			t.Errorf("%+v: %v", wrong, err)
		}
	}
}

func TestTrailRejectsAnEmptyPrefix(t *testing.T) {
	trail := NewTrail([]message.Message{message.User("a")}, nil, nil, nil)
	for _, l := range []Link{{}, {Hash: trail.chain.at(trail.conv, 0)}, {N: -1}, {N: 2}} {
		if trail.Has(l) {
			t.Errorf("the trail accepts the prefix %+v", l)
		}
	}
}
