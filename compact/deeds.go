package compact

import (
	"slices"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// deeds counts the input messages that one call changed or removed, by kind.
// The counts of a Result cover the whole history, including earlier calls.
type deeds struct {
	truncated, masked, summarized, dropped int

	kept trace.Kept // counts of the messages that stay in the view
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

// severest returns the most severe of the reductions that were made.
func severest(invariants string, summarized, dropped, masked, truncated bool) ReductionStage {
	switch {
	case invariants == InvariantsFallback && dropped:
		return ReductionFallback
	case summarized:
		return ReductionSummarization
	case dropped:
		return ReductionFallback
	case masked:
		return ReductionMasking
	case truncated:
		return ReductionTruncation
	}
	return ReductionNone
}

// kept counts the pinned messages, summaries, turns and tool pairs of a view.
func kept(v *policy.View) trace.Kept {
	k := trace.Kept{RecentTurns: len(v.Turns)}
	for i := range v.Messages {
		if v.Pinned[i] {
			k.Pinned++
		}
		if v.Summary(i) {
			k.Summary++
		}
	}
	for _, r := range v.Rounds {
		k.ToolPairs += r.Pairs
	}
	return k
}
