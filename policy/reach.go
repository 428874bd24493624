package policy

// A Taker is a stage that takes messages out of a view. What the stages may
// take at most is what the smallest view is known by.
type Taker interface {
	Stage
	// Takes returns the messages of v that the stage takes out where the budget
	// forces it to, in any order. It must not modify v, spends nothing, and may
	// be called concurrently.
	Takes(v *View) []int
}

// reach is what the stages of an engine can do to a view at most.
type reach struct {
	takers []Taker
	cuts   bool   // results are cut down to the marker where that must be
	keep   string // and that is the marker of it
	edits  bool   // some results may become as small, nobody knows yet which
	media  bool   // pictures and files are taken out where that must be
}

// reach looks at the steps from one on.
func (e *Engine) reach(from int) *reach {
	r := &reach{}
	for _, s := range e.Steps[from:] {
		if s.Goal == ToBytes || s.Goal == InBytes {
			continue // no budget of tokens makes them work
		}
		if t, ok := s.Stage.(Taker); ok {
			r.takers = append(r.takers, t)
		}
		switch stage := s.Stage.(type) {
		case Truncate, Mask:
			r.edits = true
		case Media:
			r.media = r.media || stage.Deep && len(stage.ExcludeTools) == 0
		}
		if squeeze, ok := s.Stage.(Squeeze); ok {
			r.cuts, r.keep = true, squeeze.Keep
		}
	}
	return r
}

// Smallest returns the keep counts to which those of the view may be shrunk.
func (v *View) Smallest() Keep {
	if v.Rigid {
		return v.Keep
	}
	return Keep{Turns: min(1, v.Keep.Turns), Pairs: min(1, v.Keep.Pairs)}
}

// Floor returns what the smallest view costs: without the messages that this
// stage and those behind it take out, without a summary, and with every result
// that may be cut down to its marker, or its media taken out. None of them gets below it. Of a view that no
// engine made, it is the floor of stages that summarise, shrink and squeeze.
func (v *View) Floor() int { return v.least(v.takes()) }

// Without returns what the view costs at least when these messages are gone,
// and the copies that the budget forces out.
func (v *View) Without(at []int) int {
	gone := make([]bool, len(v.Messages))
	for _, i := range append(v.spare(), at...) {
		gone[i] = true
	}
	return v.least(gone)
}

// takes marks what the stages take out at most.
func (v *View) takes() []bool {
	gone := make([]bool, len(v.Messages))
	mark := func(at []int) {
		for _, i := range at {
			gone[i] = true
		}
	}
	if v.reach == nil {
		mark(v.duplicates())
		mark(v.Partition(Keep{Turns: 1, Pairs: 1}).Remainder)
		return gone
	}
	for _, t := range v.reach.takers {
		mark(t.Takes(v))
	}
	return gone
}

// least returns what the view costs at least without these messages.
func (v *View) least(gone []bool) int {
	n, stays := v.Fixed, v.mediaBound()
	for i := range v.Messages {
		if !gone[i] {
			n += v.leastOf(i, stays)
		}
	}
	return n
}

// mediaBound returns what says whose media stay whatever the budget is; nil: all
// do.
func (v *View) mediaBound() func(i int) bool {
	if v.reach == nil || !v.reach.media {
		return nil
	}
	return v.mediaStays(v.Smallest())
}

// leastOf returns what message i costs when its results are cut to the marker,
// and its media are taken out unless they stay.
func (v *View) leastOf(i int, stays func(i int) bool) int {
	if v.reach != nil && !v.reach.cuts && !v.reach.edits && !v.reach.media {
		return v.Tokens[i]
	}
	return v.Tokens[i] - v.squeezable(i, stays)
}
