package strategy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// The user's words may take one part in userShare of the target. A target that was
// lowered, to save money or to make the next compaction later, counts as half of
// the trigger for this, so that what was asked for stays whole; but they take no
// more than one part in mostShare of it.
const (
	userShare = 10
	mostShare = 4
)

// userTokens is the most that the user's words may take in a view.
func (s *Stage) userTokens(v *policy.View) int {
	most := min(max(v.Budget.Target, v.Budget.Trigger/2)/userShare, v.Budget.Target/mostShare)
	return max(min(s.w.UserTokens, most), 1)
}

// spoken is what the messages in the user's role cost.
func spoken(v *policy.View) int {
	n := 0
	for i := range v.Messages {
		if v.Messages[i].IsUser() {
			n += v.Tokens[i]
		}
	}
	return n
}

// spoken is what the user's words cost that the summary of this cut will hold.
func (c *cut) spoken(of Strategy) int {
	words := append(ParseDocument(of, c.previous).Words, wordsOf(c.removed, 1, nil)...)
	n := 0
	for _, w := range fitWords(words, c.words, c.v.Budget.Cap/2, c.v.Cost.Text) {
		n += c.v.Cost.Text(renderWord(w))
	}
	return n
}

// refOf is the reference under which the text of a message can be had again.
func refOf(v *policy.View, i int) string {
	for p := range v.Messages[i].Parts {
		if part := &v.Messages[i].Parts[p]; part.Kind == message.KindText && !isMediaText(part.Text) {
			return v.Origin(i, p).Ref
		}
	}
	return ""
}

// restored is a message as it was: from before this run, or by its reference.
// Of what can't be had again nothing is left, so that nothing is said of it.
func restored(v *policy.View, i int, original func(ref string) (string, bool)) message.Message {
	m := v.Unedited(i)
	var parts []message.Part
	for p := range m.Parts {
		text, changed := restoredText(v, i, p, m.Parts[p], original)
		if !changed {
			continue
		}
		if parts == nil {
			parts = slices.Clone(m.Parts)
		}
		parts[p].Text = text
	}
	if parts == nil {
		return m
	}
	return message.Message{Role: m.Role, Name: m.Name, Parts: parts, Protected: m.Protected}
}

// restoredText is the text of a part that an earlier run masked or truncated. A
// reference counts only where it is known that we wrote it: any tool can return
// what looks like a placeholder, and would have another result stand for its own.
func restoredText(v *policy.View, i, p int, part message.Part, original func(ref string) (string, bool)) (text string, changed bool) {
	if part.Kind != message.KindToolResult {
		return "", false
	}
	mark, masked := v.Forms.ParseMark(part.Text)
	if !masked && !truncated(part.Text) {
		return "", false
	}
	ref := ""
	if o, ours := v.Known(i, p); ours {
		ref = cmp.Or(o.Ref, mark.Ref)
	}
	if original != nil && ref != "" {
		if text, ok := original(ref); ok {
			return text, true
		}
	}
	if masked {
		return "", true
	}
	return withoutOurs(part.Text), true
}

// truncated reports whether a text has the marker of a truncation in it.
func truncated(text string) bool { return strings.Contains(text, "[truncated: kept ") }

// typedThatStay are the messages of the remainder that a person typed, the
// newest first, as far as the user's words may take the room that there is:
// what people typed is not pruned with the rest.
func (c *cut) typedThatStay(room int) map[int]bool {
	out := map[int]bool{}
	left := min(c.words, room/2)
	for k := len(c.part.Remainder) - 1; k >= 0; k-- {
		i := c.part.Remainder[k]
		m := &c.v.Messages[i]
		if m.Role != message.RoleUser || c.v.Owned(i) || m.Has(message.KindToolResult) || c.v.Tokens[i] > left {
			continue
		}
		if c.v.Rounds[c.v.RoundOf(i)].Len() > 1 {
			continue // between a call and its result: a round goes whole
		}
		acted := i > 0 && c.v.Messages[i-1].Role == message.RoleAssistant && actsInText(c.v.Messages[i-1].Text())
		if classify(m, acted).speech == Typed {
			left -= c.v.Tokens[i]
			out[i] = true
		}
	}
	return out
}
