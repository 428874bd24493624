package summarize

import (
	"bytes"
	"cmp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/material"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

// The user's words may take 1/userShare of the target. A target that was lowered, to
// save money or to delay the next compaction, counts here as at least half of the
// trigger, so that requests of the user stay whole. Even then, the words take at most 1/mostShare of
// the target.
const (
	userShare = 10
	mostShare = 4
)

// userTokens returns the maximum tokens of the user's words in a view.
func (s *Stage) userTokens(v *policy.View) int {
	most := min(max(v.Budget.Target, v.Budget.Trigger/2)/userShare, v.Budget.Target/mostShare)
	return max(min(s.w.UserTokens, most), 1)
}

// spoken returns the tokens of the messages in the user's role.
func spoken(v *policy.View) int {
	n := 0
	for i := range v.Messages {
		if v.Messages[i].IsUser() {
			n += v.Tokens[i]
		}
	}
	return n
}

// spoken returns the tokens of the user's words in the summary of this cut.
func (c *cut) spoken(of strategy.Strategy) int {
	task := of.Task(Input{Previous: c.previous, Messages: c.removed, Count: c.v.Cost.Text}, material.Terms{})
	return task.WordTokens(c.words, c.v.Budget.Cap/2)
}

// refOf returns the reference by which the text of a message can be recalled.
func refOf(v *policy.View, i int) string {
	for p := range v.Messages[i].Parts {
		if part := &v.Messages[i].Parts[p]; part.Kind == message.KindText && !material.IsMedia(part.Text) {
			return v.Origin(i, p).Ref
		}
	}
	return ""
}

// restored returns a message as it was before this run, with the originals of masked and
// truncated results. If a masked result can't be restored, only the outcome in its
// placeholder stays.
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

// restoredText returns the original text of a part that an earlier run masked or
// truncated. It uses a reference only if this program is known to have written the
// reference: a tool could return a forged placeholder and so pass off another result as
// its own.
func restoredText(v *policy.View, i, p int, part message.Part, original func(ref string) (string, bool)) (text string, changed bool) {
	if part.Kind != message.KindToolResult {
		return "", false
	}
	mark, masked := v.Forms.ParseMark(part.Text)
	if !masked && !truncated(part.Text) {
		return "", false
	}
	ref := ""
	o, ours := v.Known(i, p)
	if ours {
		ref = cmp.Or(o.Ref, mark.Ref)
	}
	if original != nil && ref != "" {
		if text, ok := original(ref); ok {
			return text, true
		}
	}
	switch {
	case !masked:
		return material.WithoutPlaceholders(part.Text), true
	case ours:
		return outcomeIn(&mark, part.Text), true
	}
	return "", true
}

// legible returns a message in which U+FFFD replaces invalid UTF-8, as in a message sent
// over a wire. A summary that quotes invalid bytes could not be stored unchanged.
func legible(m message.Message) message.Message {
	valid := func(p message.Part) bool {
		return utf8.ValidString(p.Text) && utf8.ValidString(p.Name) && utf8.Valid(p.Args)
	}
	if !slices.ContainsFunc(m.Parts, func(p message.Part) bool { return !valid(p) }) {
		return m
	}
	parts := slices.Clone(m.Parts)
	for i := range parts {
		p := &parts[i]
		p.Text, p.Name, p.Args = strings.ToValidUTF8(p.Text, "\uFFFD"), strings.ToValidUTF8(p.Name, "\uFFFD"), bytes.ToValidUTF8(p.Args, []byte("\uFFFD"))
	}
	return message.Message{Role: m.Role, Name: m.Name, Parts: parts, Protected: m.Protected}
}

// truncated reports whether a text contains the marker of a truncation.
func truncated(text string) bool { return strings.Contains(text, "[truncated: kept ") }

// typedThatStay returns the indexes of typed messages that pruning keeps: the
// newest first, up to the limit of the user's words and half of room.
func (c *cut) typedThatStay(room int) map[int]bool {
	out := map[int]bool{}
	left, task := min(c.words, room/2), strategy.Task{}
	for k := len(c.part.Remainder) - 1; k >= 0; k-- {
		i := c.part.Remainder[k]
		m := &c.v.Messages[i]
		if m.Role != message.RoleUser || c.v.Owned(i) || m.Has(message.KindToolResult) || c.v.Tokens[i] > left {
			continue
		}
		if c.v.Rounds[c.v.RoundOf(i)].Len() > 1 {
			continue // between a call and its result: a round is removed whole
		}
		if task.Typed(c.v.Messages, i) {
			left -= c.v.Tokens[i]
			out[i] = true
		}
	}
	return out
}

// outcomeIn returns the outcome of a command that a placeholder states, in the form of a
// result: only the quoted line and the exit status.
func outcomeIn(mark *policy.Mark, placeholder string) string {
	_, rest, _ := strings.Cut(placeholder, `" · says "`)
	says, _, _ := strings.Cut(rest, " · ")
	says = strings.TrimSuffix(strings.TrimSuffix(says, "]"), `"`)
	if !mark.Ended {
		return says
	}
	return strings.TrimLeft(says+"\n[exit code: "+strconv.Itoa(mark.Exit)+"]", "\n")
}
