package invariant

import (
	"bytes"
	"fmt"

	"github.com/agentcompact/compact/message"
)

// A Step is one call of the hook in a session.
type Step struct {
	History   []message.Message
	View      []message.Message
	Decisions []string // by message of History; nil = rule 8 uses only the views

	Triggered bool // the call compacted because it was due
	Manual    bool // the call compacted on request
	Tidies    bool // results are reduced on arrival, so new messages may differ
	Waits     bool // a compaction was due, and the result states the reason why it was not possible
	Refused   bool // the call ended with an error

	Before  int // tokens before the compaction of this call
	After   int // tokens after it
	Budget  int
	Trigger int // the configured trigger, without hysteresis
	Target  int
}

func (s *Step) compacted() bool { return s.Triggered || s.Manual }

// Chain judges a session step by step: the same history gives the same view, edits
// persist, the prefix changes only at a compaction, and a compaction comes exactly
// when it is due.
func Chain(steps ...Step) []Violation {
	var found collector
	ended := 0
	for k := range steps {
		s := &steps[k]
		if s.Refused {
			continue
		}
		found.timing(k, s, ended)
		if s.compacted() {
			ended = s.After
		}
		if prev := before(steps[:k]); prev != nil {
			found.sticky(k, prev, s)
			found.prefix(k, prev, s)
		}
		found.again(k, steps)
	}
	return found
}

// before returns the last step with a view.
func before(steps []Step) *Step {
	for k := len(steps) - 1; k >= 0; k-- {
		if !steps[k].Refused {
			return &steps[k]
		}
	}
	return nil
}

// timing: the next compaction is due at the trigger, or, after one that ended at
// L, at min(B, max(trigger, L + (trigger - T))).
func (f *collector) timing(k int, s *Step, ended int) {
	due := s.Trigger
	if ended > 0 {
		due = min(s.Budget, max(s.Trigger, ended+s.Trigger-s.Target))
	}
	switch {
	case s.Manual:
	case s.Triggered && s.Before < due:
		f.fail(RuleHysteresis, "step %d compacted at %d tokens, but the last compaction ended at %[4]d, so the next is due at %[3]d", k, s.Before, due, ended)
	case !s.Triggered && !s.Waits && s.Before >= due:
		f.fail(RuleDue, "step %d compacted nothing at %d tokens, but a compaction was due at %d", k, s.Before, due)
	}
}

// again: the same history gives the same view, unless there was a compaction in
// between. A view that is passed in as the history gives the same view.
func (f *collector) again(k int, steps []Step) {
	s := &steps[k]
	if s.compacted() {
		return
	}
	for i := k - 1; i >= 0; i-- {
		earlier := &steps[i]
		if earlier.Refused {
			continue
		}
		for _, known := range [][]message.Message{earlier.History, earlier.View} {
			if identical(known, s.History) {
				for _, v := range Same(fmt.Sprintf("steps %d and %d", i, k), earlier.View, s.View) {
					f.fail(v.Rule, "%s", v.Detail)
				}
			}
		}
		if earlier.compacted() {
			return
		}
	}
}

var severity = map[string]int{kept: 0, truncated: 1, masked: 2, summarized: 3, dropped: 3}

// sticky: an edited message stays edited, and a removed one stays removed.
func (f *collector) sticky(k int, prev, s *Step) {
	if prev.Decisions == nil || s.Decisions == nil || !extends(prev.History, s.History) {
		return
	}
	for i, d := range prev.Decisions {
		if i < len(s.Decisions) && severity[s.Decisions[i]] < severity[d] {
			f.fail(RuleMonotone, "step %d: message %d was %s and is %s", k, i, d, s.Decisions[i])
		}
	}
}

// prefix: without a compaction, the view is the previous view and the new
// messages.
func (f *collector) prefix(k int, prev, s *Step) {
	grown := extends(prev.History, s.History)
	if s.compacted() || !grown && !extends(prev.View, s.History) {
		return
	}
	added := s.History[len(prev.View):]
	if grown {
		added = s.History[len(prev.History):]
	}
	want, got := append(append([]message.Message(nil), prev.View...), added...), s.View
	if s.Tidies && len(want) == len(got) {
		want, got = want[:len(prev.View)], got[:len(prev.View)]
	}
	for _, v := range Same(fmt.Sprintf("step %d", k), want, got) {
		f.fail(RulePrefix, "%s", v.Detail)
	}
}

func extends(short, long []message.Message) bool {
	return len(long) >= len(short) && identical(short, long[:len(short)])
}

func identical(a, b []message.Message) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if !same(a[i], b[i]) {
			return false
		}
	}
	return true
}

// Same reports the differences of two views, byte for byte. label names the views.
func Same(label string, a, b []message.Message) []Violation {
	var found collector
	for i := range min(len(a), len(b)) {
		if !same(a[i], b[i]) {
			found.fail(RuleSame, "%s: message %d differs", label, i)
			break
		}
	}
	if len(a) != len(b) {
		found.fail(RuleSame, "%s: one has %d messages, the other %d", label, len(a), len(b))
	}
	return found
}

// Freeze stores a history with its bytes. The returned function reports the
// modifications since then.
func Freeze(history []message.Message) func() []Violation {
	type frozen struct {
		raw  []byte
		copy message.Message
	}
	was := make([]frozen, len(history))
	for i, m := range history {
		c := m
		c.Parts = make([]message.Part, len(m.Parts))
		for p, part := range m.Parts {
			part.Args = bytes.Clone(part.Args)
			if part.Media != nil {
				media := *part.Media
				part.Media = &media
			}
			c.Parts[p] = part
		}
		was[i] = frozen{bytes.Clone(m.Raw()), c}
	}
	return func() []Violation {
		var found collector
		for i, m := range history {
			if !bytes.Equal(m.Raw(), was[i].raw) || !compare(m, was[i].copy, func(x, y message.Part) bool { return x.Text == y.Text }) {
				found.fail(RuleHistory, "message %d was changed in place", i)
			}
		}
		return found
	}
}
