package policy

import "context"

// Window bounds the number of messages that are held: the oldest rounds above
// it go, never pinned ones, never the anchor, never the newest round.
type Window struct {
	Messages int // default [MessageLimit]
}

// Name returns "window".
func (Window) Name() string { return "window" }

// MessageLimit derives the bound from the model's window:
// clamp(2 * (tokens / 200), 100, 2000) in integers, 1000 when it is not known.
func MessageLimit(maxInputTokens int) int {
	if maxInputTokens <= 0 {
		return 1000
	}
	return min(max(2*(maxInputTokens/200), 100), 2000)
}

// Propose offers the shortest cut that gets below the bound.
func (w Window) Propose(ctx context.Context, v *View) (Proposal, error) {
	over := len(v.Messages) - w.Messages
	if w.Messages <= 0 || over <= 0 {
		return Proposal{}, nil
	}
	drops, err := Drop{}.Propose(ctx, v)
	for _, group := range drops.Groups {
		if cut := group[0].Cut; len(cut.Removed)-1 >= over {
			group[0].Reason = "older than the bound on the number of messages"
			return Proposal{Groups: [][]Edit{group}}, err
		}
	}
	if n := len(drops.Groups); n > 0 {
		return Proposal{Groups: drops.Groups[n-1:]}, err
	}
	return Proposal{}, err
}
