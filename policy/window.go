package policy

import "context"

// Window bounds the number of messages that are held: the oldest rounds above
// it go, never pinned ones, never the anchor, never the newest round. Pinned
// messages and our own notices are not counted.
type Window struct {
	// Messages is the bound; default: what [MessageLimit] says of a window that
	// is not known. Negative: as few as may be.
	Messages int
}

// Name returns "window".
func (Window) Name() string { return "window" }

// MessageLimit derives the bound from the model's window:
// clamp(2 * (tokens / 200), 100, 2000) in integers, 1000 when the window is
// not known, which a negative number says.
func MessageLimit(maxInputTokens int) int {
	if maxInputTokens < 0 {
		return 1000
	}
	return min(max(2*(maxInputTokens/200), 100), 2000)
}

// Propose offers the shortest cut that gets below the bound, with a notice.
func (w Window) Propose(ctx context.Context, v *View) (Proposal, error) {
	over := -max(w.Messages, 0)
	if w.Messages == 0 {
		over = -MessageLimit(-1)
	}
	for i := range v.Messages {
		over += v.held(i)
	}
	if over <= 0 {
		return Proposal{}, nil
	}
	drops, err := Drop{}.Propose(ctx, v)
	counted := 0 // each removes what the one before it does, and more
	for k, group := range drops.Groups {
		for _, i := range group[0].Cut.Removed[counted:] {
			over -= v.held(i)
		}
		counted = len(group[0].Cut.Removed)
		if over <= 0 || k == len(drops.Groups)-1 {
			group[0].Reason = "older than the bound on the number of messages"
			return Proposal{Groups: [][]Edit{group}}, err
		}
	}
	return Proposal{}, err
}

// held is 1 for a message of the conversation itself.
func (v *View) held(i int) int {
	if v.Pinned[i] || v.Owned(i) {
		return 0
	}
	return 1
}
