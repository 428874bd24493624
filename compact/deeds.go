package compact

import (
	"slices"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// deeds counts the input messages that one call changed or took out, by what
// became of them. The counts of a Result are of the whole history, whoever did
// it.
type deeds struct {
	truncated, masked, summarized, dropped int

	kept trace.Kept // what is in the view afterwards
}

// deedsOf compares an outcome with the conversation as it stood.
func (c *call) deedsOf(out *policy.Outcome) *deeds {
	d := &deeds{kept: kept(out.View)}
	for _, i := range c.changed(out) {
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

// pruned is how many messages left the view.
func (d *deeds) pruned() int { return d.summarized + d.dropped }

// all is how many were touched.
func (d *deeds) all() int { return d.pruned() + d.masked + d.truncated }

// each returns texts in their order, each once.
func each(texts []string) []string {
	var out []string
	for _, t := range texts {
		if !slices.Contains(out, t) {
			out = append(out, t)
		}
	}
	return out
}
