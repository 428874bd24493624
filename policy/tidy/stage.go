package tidy

import (
	"context"
	"slices"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// StageName is the name of the stage in results and events.
const StageName = "tidy"

// Reason is the start of the reason of the stage's edits. The name of the reducer that
// removed the most bytes follows it.
const Reason = "reduced at arrival by "

// Stage reduces the results after the last answer, which no call has sent yet. It changes
// no other message, so that no cached prefix changes.
type Stage struct {
	Options
	// ExcludeTools are tools whose results stay unchanged.
	ExcludeTools []string
}

// Name returns "tidy".
func (Stage) Name() string { return StageName }

// Propose offers one group for each result that can be reduced.
func (s Stage) Propose(_ context.Context, v *policy.View) (policy.Proposal, error) {
	var out policy.Proposal
	from := v.Arrived()
	var said []string // computed once, on demand
	for i := from; i < len(v.Messages); i++ {
		m := &v.Messages[i]
		if v.Pinned[i] || v.Sent != nil && v.Sent(m) {
			continue
		}
		for p := range m.Parts {
			if m.Parts[p].Kind != message.KindToolResult || len(m.Parts[p].Text) < least || !m.Editable(p) || v.Edited(i, p) {
				continue
			}
			if said == nil {
				said = users(v)
			}
			switch e, ok, err := s.edit(v, i, p, said); {
			case err != nil:
				out.Failed = append(out.Failed, err)
			case ok:
				out.Groups = append(out.Groups, []policy.Edit{e})
			}
		}
	}
	return out, nil
}

// edit returns the edit that reduces part p of message i. said are the texts of the user.
func (s Stage) edit(v *policy.View, i, p int, said []string) (policy.Edit, bool, error) {
	r := &Result{Text: v.Messages[i].Parts[p].Text, Tokens: v.Tokens[i]}
	if len(v.Messages[i].Parts) > 1 {
		r.Tokens = v.OriginTokens(i, p)
	}
	name, args, at, ok := v.Call(i, p)
	if slices.Contains(s.ExcludeTools, name) {
		return policy.Edit{}, false, nil
	}
	if ok {
		r.Call = Call{name, args}
		r.Said = append(slices.Clip(said), spoken(&v.Messages[at])...)
		if k, _ := Before(v, i, p); k >= 0 {
			return policy.Edit{}, false, nil // the reduced result was not enough, and the model asked again
		}
	}
	if len(r.Text) >= leastAgain {
		r.Earlier = earlier(v, i)
	}
	out, ok := Reduce(r, s.Options)
	if !ok {
		return policy.Edit{}, false, out.Err
	}
	e := policy.Edit{Decision: policy.Truncated, Reason: Reason + out.Main(), Text: &policy.TextEdit{Index: i, Part: p}}
	mark := policy.Mark{Form: formname.TidiedWhole, Tokens: v.OriginTokens(i, p)}
	o := v.Origin(i, p)
	mark.Chars, mark.Ref = o.Chars, o.Ref
	switch {
	case out.What != "" && v.Recall:
		mark.Form = formname.TidiedRecall
	case out.What != "":
		mark.Form = formname.Tidied
	}
	e.Text.Segments = out.withMark(mark)
	saved, ok := v.Saves(e.Text)
	if !ok {
		return policy.Edit{}, false, nil
	}
	mark.Kept = max(mark.Tokens-saved, 0)
	e.Text.Segments = out.withMark(mark)
	return e, true, nil
}

// withMark returns the segments with the first line in front.
func (r *Reduced) withMark(mark policy.Mark) []policy.Segment {
	var out []policy.Segment
	if r.What != "" {
		out = append(out, policy.Segment{Lit: head + " — " + r.What})
	}
	out = append(out, policy.Segment{Mark: &mark})
	return append(out, r.Segments...)
}

// users returns the texts of the last two user messages.
func users(v *policy.View) []string {
	const most = 2
	said := []string{}
	for i := len(v.Messages) - 1; i >= 0 && len(said) < most; i-- {
		if v.Messages[i].IsUser() && !policy.IsSummary(v.Messages[i]) {
			said = append(said, v.Messages[i].Text())
		}
	}
	return said
}

// spoken returns the text and the reasoning of a message, and the arguments of
// its calls.
func spoken(m *message.Message) (out []string) {
	for i := range m.Parts {
		switch p := &m.Parts[i]; p.Kind {
		case message.KindText, message.KindReasoning:
			out = append(out, p.Text)
		case message.KindToolCall:
			out = append(out, string(p.Args))
		}
	}
	return out
}

// Before finds an earlier result that was reduced, and that the model has requested again
// with the call of result p of message i. It returns the index of the earlier message, or
// -1. A call that reads the same file always counts as such a request. The same command
// counts only within one turn, or if it prints as much as before: tests that run again
// after an edit have a new result. first reports that this is the first repetition.
func Before(v *policy.View, i, p int) (k int, first bool) {
	name, args, _, ok := v.Call(i, p)
	if !ok {
		return -1, false
	}
	a := asker{call: Call{name, args}, size: utf8.RuneCountInString(v.Messages[i].Parts[p].Text)}
	a.file = a.call.asks().file
	for k = i - 1; k >= 0; k-- {
		if q := a.answered(v, k, true); q >= 0 {
			if a.file == "" && v.TurnOf(i)-v.TurnOf(k) > 1 && v.Origin(k, q).Chars != a.size {
				return -1, false
			}
			break
		}
	}
	for at := k + 1; k >= 0 && at < i; at++ {
		if a.answered(v, at, false) >= 0 {
			return k, false
		}
	}
	return k, k >= 0
}

// An asker is a call that may repeat an earlier one.
type asker struct {
	call Call
	file string // file that the call reads; "" = none
	size int    // size of its result, in characters
}

// answered returns the part of message k that is a result of the same call or file, or
// -1. If reduced is true, it looks only at reduced results, otherwise only at the others.
func (a *asker) answered(v *policy.View, k int, reduced bool) int {
	for q := range v.Messages[k].Parts {
		part := &v.Messages[k].Parts[q]
		if part.Kind != message.KindToolResult || IsReduced(part.Text) != reduced {
			continue
		}
		name, args, _, ok := v.Call(k, q)
		if ok && (sameCall(Call{name, args}, a.call) || a.file != "" && (Call{name, args}).asks().file == a.file) {
			return q
		}
	}
	return -1
}

// earlier returns the results before message i that the view shows in full.
func earlier(v *policy.View, i int) (out []Earlier) {
	for k := range i {
		m := &v.Messages[k]
		for p := range m.Parts {
			if part := &m.Parts[p]; part.Kind == message.KindToolResult && len(part.Text) >= leastAgain && !v.Edited(k, p) {
				name, args, _, _ := v.Call(k, p)
				out = append(out, Earlier{Text: part.Text, Call: Call{name, args}, view: v, part: part})
			}
		}
	}
	return out
}
