package reduce

import (
	"bytes"
	"fmt"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// A BrokenError says which promise the edits of a stage would have broken. The
// engine discards such edits.
type BrokenError struct {
	Stage  string
	Rule   string
	Detail string
}

func (e *BrokenError) Error() string {
	return fmt.Sprintf("policy: stage %s: %s: %s", e.Stage, e.Rule, e.Detail)
}

// check compares the conversation before and after a stage. It checks the outcome
// instead of the edits, so that it also covers stages written by users.
func check(stage string, before, after *policy.View, b, a *Conversation) error {
	at := places(a)
	for _, rule := range []struct {
		name string
		f    func(before, after *policy.View, b, a *Conversation, at indexMap) string
	}{
		{"pinned messages come out byte for byte", checkPinned},
		{"no edit pins a message", checkUnpinned},
		{"no orphan: calls and results stay together", checkPairs},
		{"no edit makes a message larger", checkGrowth},
		{"the anchor stays, behind the summary", checkAnchor},
		{"the open round stays", checkOpen},
		{"every message is accounted for once", checkAccount},
	} {
		if detail := rule.f(before, after, b, a, at); detail != "" {
			return &BrokenError{Stage: stage, Rule: rule.name, Detail: detail}
		}
	}
	return nil
}

func checkPinned(before, after *policy.View, b, a *Conversation, at indexMap) string {
	last := -1
	for i, pinned := range before.Pinned {
		if !pinned || b.items.at(i).src < 0 {
			continue
		}
		k, ok := at.index(b.items.at(i).src)
		if !ok && isCopy(before, i, b, at) {
			continue
		}
		if !ok {
			return fmt.Sprintf("message %d is gone", i+1)
		}
		if !identical(before.Messages[i], after.Messages[k]) {
			return fmt.Sprintf("message %d was changed", i+1)
		}
		if k < last {
			return fmt.Sprintf("message %d changed its place among the pinned", i+1)
		}
		last = k
	}
	return ""
}

// checkUnpinned reports a message that an edit pinned, such as a notice that became an
// instruction. A ledger counts the unpinned messages, and could not replay a step that
// changes their number.
func checkUnpinned(before, after *policy.View, b, _ *Conversation, at indexMap) string {
	uncut := len(before.Messages) == len(after.Messages) // messages made by stages then keep their indexes
	for i, pinned := range before.Pinned {
		src := b.items.at(i).src
		k, ok := at.index(src)
		if src < 0 && uncut {
			k, ok = i, true
		}
		if ok && !pinned && after.Pinned[k] {
			return fmt.Sprintf("message %d became pinned", i+1)
		}
	}
	return ""
}

func identical(x, y message.Message) bool {
	if x.Raw() != nil || y.Raw() != nil {
		return bytes.Equal(x.Raw(), y.Raw())
	}
	return x.Fingerprint() == y.Fingerprint() && x.Protected == y.Protected
}

// checkPairs reports a round that is kept only in part, or that has other messages
// between its messages. A round must be kept whole or removed whole.
func checkPairs(before, _ *policy.View, b, a *Conversation, at indexMap) string {
	for r, span := range before.Rounds {
		kept, all, last := 0, 0, -1
		for i := span.Start; i < span.End; i++ {
			src := b.items.at(i).src
			if src < 0 { // a summary or notice; a late result made it part of the round
				if kept > 0 && last+1 < a.items.len() && a.items.at(last+1).src < 0 {
					last++
				}
				continue
			}
			all++
			k, ok := at.index(src)
			if !ok {
				continue
			}
			if kept > 0 && k != last+1 {
				return fmt.Sprintf("round %d is torn apart", r+1)
			}
			kept, last = kept+1, k
		}
		if kept != 0 && kept != all {
			return fmt.Sprintf("round %d keeps %d of %d messages", r+1, kept, all)
		}
	}
	return ""
}

func checkGrowth(before, after *policy.View, b, a *Conversation, at indexMap) string {
	for i := range before.Messages {
		k, ok := at.index(b.items.at(i).src)
		if !ok || message.Same(before.Messages[i], after.Messages[k]) {
			continue
		}
		if after.Tokens[k] > before.Tokens[i] {
			return fmt.Sprintf("message %d went from %d to %d tokens", i+1, before.Tokens[i], after.Tokens[k])
		}
		if x, y := charsBeside(&before.Messages[i], &after.Messages[k]); y > x {
			return fmt.Sprintf("message %d went from %d to %d characters", i+1, x, y)
		}
	}
	if after.Total() > before.Total() {
		return fmt.Sprintf("the view went from %d to %d tokens", before.Total(), after.Total())
	}
	return ""
}

// charsBeside counts the characters of a message before and after an edit. It leaves out
// parts that were media before the edit: for such parts, only tokens count.
func charsBeside(was, is *message.Message) (before, after int) {
	for p := range is.Parts {
		if p < len(was.Parts) && was.Parts[p].Kind.IsMedia() {
			continue
		}
		after += utf8.RuneCountInString(is.Parts[p].Text)
	}
	for p := range was.Parts {
		if !was.Parts[p].Kind.IsMedia() {
			before += utf8.RuneCountInString(was.Parts[p].Text)
		}
	}
	return before, after
}

func checkAnchor(before, after *policy.View, b, _ *Conversation, at indexMap) string {
	summary, many := newSummary(before, after)
	if many {
		return "there are two summaries"
	}
	if before.Anchor < 0 {
		return ""
	}
	k, ok := at.index(b.items.at(before.Anchor).src)
	switch {
	case !ok:
		return "the last user message is gone"
	case !identical(before.Messages[before.Anchor], after.Messages[k]):
		return "the last user message was changed"
	case k < summary:
		return "the last user message stands before the summary"
	}
	return ""
}

// newSummary returns the index of the new summary, and whether the view has other
// summaries as well. Texts of the history that only look like a summary belong to the
// remainder, so that a cut removes them too.
func newSummary(before, after *policy.View) (at int, many bool) {
	known := map[message.Fingerprint]bool{}
	for i := range before.Messages {
		if before.Summary(i) {
			known[before.Messages[i].Fingerprint()] = true
		}
	}
	at, all := -1, 0
	for i := range after.Messages {
		if after.Summary(i) && !after.Pinned[i] && after.Owned(i) {
			all++
			if !known[after.Messages[i].Fingerprint()] {
				at = i
			}
		}
	}
	return at, at >= 0 && all > 1
}

func checkOpen(before, _ *policy.View, b, a *Conversation, at indexMap) string {
	for i := before.Open; i < len(before.Messages); i++ {
		src := b.items.at(i).src
		if _, ok := at.index(src); src >= 0 && !ok && !isCopy(before, i, b, at) {
			return fmt.Sprintf("message %d is gone", i+1)
		}
		if d, _ := a.Decision(max(src, 0)); src >= 0 && d == policy.Masked && before.Messages[i].Has(message.KindToolResult) {
			if was, _ := b.Decision(src); was != policy.Masked {
				return fmt.Sprintf("message %d was masked", i+1)
			}
		}
	}
	return ""
}

func checkAccount(_, _ *policy.View, _, a *Conversation, at indexMap) string {
	for src := range a.fates.len() {
		d := a.fates.at(src).decision
		_, there := at.index(src)
		if gone := d == policy.Summarized || d == policy.Dropped; gone == there {
			return fmt.Sprintf("message %d is %s, and in the view: %v", src+1, d, there)
		}
	}
	return ""
}

// isCopy reports whether pinned message i may be missing from the new view
// because an identical later message is still there.
func isCopy(v *policy.View, i int, b *Conversation, at indexMap) bool {
	m := &v.Messages[i]
	if m.Protected || !instructing(m) {
		return false
	}
	for k := i + 1; k < len(v.Messages); k++ {
		if _, there := at.index(b.items.at(k).src); there && message.Identical(*m, v.Messages[k]) {
			return true
		}
	}
	return false
}
