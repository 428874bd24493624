package policy

// A Taker is a stage that removes messages from a view. An engine computes the
// smallest possible view from the messages that its Takers can remove.
type Taker interface {
	Stage
	// Takes returns the indexes of the messages that the stage removes if the
	// budget forces it to, in any order. It must not modify v or call a model,
	// and may be called concurrently.
	Takes(v *View) []int
}

// reach describes the limits of the changes that the stages of an engine can make to a
// view.
type reach struct {
	takers []Taker
	cuts   bool   // results can be cut down to a marker
	keep   string // Keep of the [Squeeze] that cuts them
	edits  bool   // a stage edits results; some may become as small as a marker
	media  bool   // media can be replaced
}

// reachOf returns the reach of the stages.
func reachOf(stages []Stage) *reach {
	r := &reach{}
	for _, s := range stages {
		if t, ok := s.(Taker); ok {
			r.takers = append(r.takers, t)
		}
		switch stage := s.(type) {
		case Truncate, Mask:
			r.edits = true
		case Media:
			r.media = r.media || stage.Deep && len(stage.ExcludeTools) == 0
		case Squeeze:
			r.cuts, r.keep = true, stage.Keep
		}
	}
	return r
}

// Smallest returns the smallest keep counts to which a shrink may go.
func (v *View) Smallest() Keep {
	if v.Rigid {
		return v.Keep
	}
	return Keep{Turns: min(1, v.Keep.Turns), Pairs: min(1, v.Keep.Pairs)}
}

// Floor returns the tokens of the smallest possible view. This view lacks all messages
// that the current and the later stages can remove, has no summary, has every result
// cut to its marker if a stage edits messages, and lacks the media that a stage may
// replace. No stage returns a smaller view. For a view that no engine made, Floor assumes
// stages that summarize, shrink and squeeze.
func (v *View) Floor() int { return v.least(v.takes()) }

// Without returns the least number of tokens of the view after the messages in at are
// removed, and after them the duplicates that can still be removed.
func (v *View) Without(at []int) int {
	gone := make([]bool, len(v.Messages))
	for _, i := range at {
		gone[i] = true
	}
	for _, i := range v.spareBeside(gone) {
		gone[i] = true
	}
	return v.least(gone)
}

// takes marks all messages that the stages can remove.
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

// least returns the least number of tokens of the view without the marked
// messages.
func (v *View) least(gone []bool) int {
	n, stays := v.Fixed, v.mediaBound()
	for i := range v.Messages {
		if !gone[i] {
			n += v.leastOf(i, stays)
		}
	}
	return n
}

// mediaBound returns a function that reports whether the media of message i stay
// at any budget. It returns nil if all media stay.
func (v *View) mediaBound() func(i int) bool {
	if v.reach == nil || !v.reach.media {
		return nil
	}
	return v.mediaStays(v.Smallest())
}

// leastOf returns the tokens of message i with its results cut to the marker, and
// with its media replaced unless stays(i).
func (v *View) leastOf(i int, stays func(i int) bool) int {
	if v.reach != nil && !v.reach.cuts && !v.reach.edits && !v.reach.media {
		return v.Tokens[i]
	}
	return v.Tokens[i] - v.squeezable(i, stays)
}
