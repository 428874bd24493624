package compact

import (
	"slices"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// deeds counts the input messages that one call changed or removed, by kind.
// The counts of a Result cover the whole history, including earlier calls.
type deeds struct {
	truncated, masked, summarized, dropped int

	kept trace.Kept // the rest that stays in the view
}

// deedsOf compares an outcome with the conversation before it.
func (c *call) deedsOf(out *reduce.Outcome) *deeds {
	d := &deeds{kept: kept(out.View)}
	for _, i := range c.touched(out) {
		switch is, _ := out.Conversation.Decision(i); is {
		case policy.Truncated:
			d.truncated++
		case policy.Masked:
			d.masked++
		case policy.Summarized:
			d.summarized++
		case policy.Dropped:
			d.dropped++
		}
	}
	return d
}

// touched returns the input messages that the run edited or removed, in order. The
// decision on a message with several results stays the same if another of them is
// edited.
func (c *call) touched(out *reduce.Outcome) []int {
	at := c.changed(out)
	for i := range out.Passes {
		p := &out.Passes[i]
		if p.Applied == 0 || p.Recipe.Cut != nil {
			continue
		}
		for _, src := range p.Sources {
			if src >= 0 {
				at = append(at, src)
			}
		}
	}
	slices.Sort(at)
	return slices.Compact(at)
}

// stage returns the most severe reduction that the call made.
func (d *deeds) stage(invariants string) ReductionStage {
	return severest(invariants, d.summarized > 0, d.dropped > 0, d.masked > 0, d.truncated > 0)
}

// pruned returns the number of messages that left the view.
func (d *deeds) pruned() int { return d.summarized + d.dropped }

// all returns the number of messages that were changed or removed.
func (d *deeds) all() int { return d.pruned() + d.masked + d.truncated }

// each returns texts without duplicates, in order.
func each(texts []string) []string {
	var out []string
	for _, t := range texts {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}
