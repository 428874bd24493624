package policy

import (
	"context"
	"sort"

	"github.com/agentcompact/compact/message"
)

// The part of a tool result that a truncation keeps.
const (
	keepHead = "head" // default
	keepTail = "tail"
	keepBoth = "both" // half of each
	keepAuto = "auto" // both for the output of a command, otherwise head
)

// Truncate cuts single tool results that are larger than min(MaxTokens, B/4) down
// to that size, the largest first. B is [Budget.Most].
type Truncate struct {
	MaxTokens int // the limit for one result
	// Keep is the part of a result that stays: "head" (the default), "tail", "both" (half
	// of each), or "auto" (both for the output of a command, otherwise head).
	Keep string
	// Newest is like Keep, for results after the last answer, which the model has
	// not read yet; "" = Keep.
	Newest string
	// MarkerOnTop adds the marker to the limit instead of counting it within the
	// limit.
	MarkerOnTop bool
	// NoShare uses only MaxTokens as the limit. The budget has no effect on the limit
	// then.
	NoShare bool
	// BytesPerToken, if not 0, cuts a text to that many bytes for each token of the limit.
	// It is for estimators that count bytes. With 0, the cost of the text decides.
	BytesPerToken int
}

// Name returns "truncate".
func (Truncate) Name() string { return "truncate" }

// Propose offers one group for each result that is too large.
func (t Truncate) Propose(_ context.Context, v *View) (Proposal, error) {
	limit := t.MaxTokens
	if share := v.Budget.Most() / 4; !t.NoShare && share < limit {
		limit = share
	}
	type oversize struct{ i, p, tokens int }
	var found []oversize
	for i := range v.Messages {
		if v.Pinned[i] || v.Tokens[i] <= limit {
			continue
		}
		for p := range v.Messages[i].Parts {
			part := &v.Messages[i].Parts[p]
			if part.Kind != message.KindToolResult || !v.Messages[i].Editable(p) || v.Masked(i, p) {
				continue
			}
			if n := v.Cost.Text(part.Text); n > limit {
				found = append(found, oversize{i, p, n})
			}
		}
	}
	sort.SliceStable(found, func(a, b int) bool { return found[a].tokens > found[b].tokens })
	var out Proposal
	for _, f := range found {
		if e, ok := t.edit(v, f.i, f.p, f.tokens, limit); ok {
			out.Groups = append(out.Groups, []Edit{e})
		}
	}
	return out, nil
}

// edit returns the edit that cuts part p of message i to limit tokens. tokens is the
// cost of the part. A part that was already cut to limit or less stays unchanged.
func (t Truncate) edit(v *View, i, p, tokens, limit int) (Edit, bool) {
	text := v.Messages[i].Parts[p].Text
	before, cut := parseTruncation(text, v.Cost)
	if cut && before.Kept <= limit {
		return Edit{}, false
	}
	o := v.Origin(i, p)
	if o.Tokens < 0 {
		o.Tokens = tokens
	}
	form := formOf(t.keepOf(v, i, p, limit))
	if cut {
		form = before.Form // the other end is already gone
	}
	mark := Mark{Form: form, Chars: o.Chars, Tokens: o.Tokens, Kept: limit, Ref: o.Ref}
	segments, ok := t.fit(v, text, tokens, limit, mark)
	if !ok {
		return Edit{}, false
	}
	return Edit{
		Decision: Truncated,
		Reason:   "result above the limit for a single tool result",
		Text:     &TextEdit{Index: i, Part: p, Segments: segments},
	}, true
}

func formOf(keep string) string {
	switch keep {
	case keepTail:
		return formTail
	case keepBoth:
		return formBoth
	}
	return formHead
}

// fit cuts text to limit tokens. old is the cost of text. The marker counts within the
// limit, unless MarkerOnTop is set. fit returns false if the text would not become
// smaller.
func (t Truncate) fit(v *View, text string, old, limit int, mark Mark) ([]Segment, bool) {
	marker, err := v.Forms.Text(mark)
	if err != nil {
		return nil, false
	}
	if t.BytesPerToken > 0 {
		segments, out := sliceBytes(text, t.BytesPerToken*limit, mark, marker)
		return segments, v.Cost.Text(out) < old && isAtMostAsLong(out, text)
	}
	room := limit
	if !t.MarkerOnTop {
		room -= v.Cost.Text(marker)
	}
	for try := 0; ; try++ {
		segments, out := slice(v.Cost, text, max(room, 0), mark, marker)
		n := v.Cost.Text(out)
		// The pieces may cost slightly more together than separately.
		if (t.MarkerOnTop || n <= limit || room <= 0) || try > 20 {
			return segments, n < old && isAtMostAsLong(out, text)
		}
		room -= max(n-limit, 1)
	}
}

func slice(cost Coster, text string, room int, mark Mark, marker string) ([]Segment, string) {
	switch mark.Form {
	case formTail:
		at := suffix(cost, text, room)
		return []Segment{{Mark: &mark}, {From: at, To: len(text)}}, marker + text[at:]
	case formBoth:
		head := prefix(cost, text, room/2)
		tail := max(suffix(cost, text, room-room/2), head)
		return []Segment{{To: head}, {Mark: &mark}, {From: tail, To: len(text)}}, text[:head] + marker + text[tail:]
	}
	at := prefix(cost, text, room)
	return []Segment{{To: at}, {Mark: &mark}}, text[:at] + marker
}
