package policy

import (
	"slices"

	"github.com/agentcompact/compact/message"
)

// Copy returns a view that shares no mutable state with v. It is for a stage that may
// modify the view, or use the view after the stage has returned. The copy has no Sent.
func (v *View) Copy() *View {
	w := *v
	w.Messages = copies(len(v.Messages), func(i int) message.Message { return v.Messages[i] })
	w.Tokens, w.Pinned, w.Rounds, w.Turns = slices.Clone(v.Tokens), slices.Clone(v.Pinned), slices.Clone(v.Rounds), slices.Clone(v.Turns)
	w.traits, w.round, w.turn = slices.Clone(v.traits), slices.Clone(v.round), slices.Clone(v.turn)
	w.rounder, w.calls, w.Sent, w.run.Masks = new(message.Rounder), nil, nil, nil
	if v.run.Before != nil {
		before := copies(len(v.Messages), v.run.Before)
		w.run.Before = func(i int) message.Message { return before[i] }
	}
	if v.Origins != nil {
		known := v.origins()
		w.Origins = func(i, p int) (Origin, bool) { o, ok := known[[2]int{i, p}]; return o, ok }
	}
	return &w
}

func copies(n int, get func(i int) message.Message) []message.Message {
	all := make([]message.Message, n)
	for i := range all {
		all[i] = get(i).Copy()
	}
	return all
}

// origins returns the origin of each edited part, by message and part.
func (v *View) origins() map[[2]int]Origin {
	known := map[[2]int]Origin{}
	for i := range v.Messages {
		for p := range v.Messages[i].Parts {
			if o, ok := v.Origins(i, p); ok {
				known[[2]int{i, p}] = o
			}
		}
	}
	return known
}
