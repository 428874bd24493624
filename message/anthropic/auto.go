package anthropic

import (
	"bytes"
	"slices"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
	"github.com/agentcompact/compact/message/wire"
)

var _ wire.Marker = (*request)(nil)

// Marked is [wire.Marker.Marked].
func (r *request) Marked() []bool {
	r.look()
	return r.marked
}

// HasMarks is [wire.Marker.HasMarks].
func (r *request) HasMarks() bool {
	r.look()
	return r.hasMarks
}

// Room is [wire.Marker.Room].
func (r *request) Room() (tools bool, left int) {
	r.look()
	return r.toolMark, max(0, maxMarks-r.ownMarks)
}

// WriteMarked is [wire.Marker.WriteMarked].
func (r *request) WriteMarked(view []message.Message, sources []int, settled int) ([]byte, error) {
	s, err := r.settled(view, sources)
	if err != nil {
		return nil, err
	}
	left := maxMarks - len(r.marks) - len(s.all())
	// The parts that every call reads again come first. If the provider itself sets a mark
	// at a place, no mark is added there.
	for _, set := range []func() bool{s.markLast, func() bool { return s.markPrevious(view) }, s.markFront, func() bool { return s.markSettled(settled) }, s.markSummary} {
		if left > 0 && set() {
			left--
		}
	}
	return s.body(), nil
}

// all returns the marks of the body to be written, in order, without the mark of
// the body itself.
func (s *settling) all() []mark {
	all := slices.Concat(marksOf(s.tools), marksOf(s.prompt))
	for i := range s.draft.Units {
		all = append(all, itemMarks(s.draft.Raw(i))...)
	}
	return all
}

// hasHourMarkFrom reports whether this unit or a later one has a mark for an hour. A mark
// before it must then last an hour, too.
func (s *settling) hasHourMarkFrom(unit int) bool {
	for i := unit; i < len(s.draft.Units); i++ {
		if slices.ContainsFunc(itemMarks(s.draft.Raw(i)), func(m mark) bool { return m.hour }) {
			return true
		}
	}
	return slices.ContainsFunc(s.request.marks, func(m mark) bool { return m.hour })
}

// own returns the mark to set right before a unit. It lasts an hour if a later mark does, because
// such marks come first.
func (s *settling) own(unit int) mark {
	if s.hasHourMarkFrom(unit) {
		return hourMark
	}
	return plainMark
}

// markFront marks the end of the system prompt, or of the tools.
func (s *settling) markFront() bool {
	if content, ok := withMark(s.prompt, s.own(0)); ok {
		s.prompt = content
		return true
	}
	if len(s.prompt) > 0 && s.Prompted() {
		return false
	}
	tools, ok := withToolMark(s.tools, s.own(0))
	if ok {
		s.tools = tools
	}
	return ok
}

// markSettled marks the item that holds this message of the view.
func (s *settling) markSettled(message int) bool {
	i := slices.IndexFunc(s.draft.Units, func(u splice.Unit) bool { return u.From <= message && message < u.To })
	return message >= 0 && i >= 0 && s.markUnit(i)
}

// markSummary marks the summary: the messages before it do not change.
func (s *settling) markSummary() bool {
	for i := len(s.draft.Units) - 1; i >= 0; i-- {
		if summarizes(s.draft.Raw(i)) {
			return s.markUnit(i)
		}
	}
	return false
}

// markLast marks the last message, unless the provider itself sets a mark there.
func (s *settling) markLast() bool {
	n := len(s.draft.Units)
	return n > 0 && len(s.request.marks) == 0 && s.markUnit(n-1)
}

func (s *settling) markUnit(i int) bool {
	item, ok := markedItem(s.draft.Raw(i), s.own(i+1))
	if ok {
		s.draft.Set(i, item)
	}
	return ok
}

// summaryKey is in every summary.
var summaryKey = []byte("COMPACT-SUMMARY v")

// summarizes reports whether an item is a summary, made here or sent back.
func summarizes(item []byte) bool {
	if !bytes.Contains(item, summaryKey) {
		return false
	}
	m, _, err := grammar{}.Item(item)
	if err != nil || len(m.Parts) != 1 {
		return false
	}
	_, _, ok := message.ParseSummaryText(m.Parts[0].Text)
	return ok
}

// withToolMark returns the tools with a mark at the last that may carry one.
func withToolMark(tools []byte, m mark) ([]byte, bool) {
	if len(tools) == 0 || tools[0] != '[' {
		return nil, false
	}
	var last jsonscan.Span
	marked := false
	_ = jsonscan.Array(tools, jsonscan.Span{End: len(tools)}, func(_ int, at jsonscan.Span) error { // valid JSON
		if tools[at.Start] != '{' {
			return nil
		}
		has, later := false, false
		err := jsonscan.Object(tools, at, func(f jsonscan.Member) error {
			has = has || f.Key == "cache_control"
			later = later || f.Key == "defer_loading" && string(f.Value.Of(tools)) == "true" // not yet a part of the prompt
			return nil
		})
		if !later {
			last, marked = at, has
		}
		return err
	})
	if last.End == 0 || marked {
		return nil, false
	}
	return slices.Concat(tools[:last.End-1], []byte(`,"cache_control":`), m.value, tools[last.End-1:]), true
}
