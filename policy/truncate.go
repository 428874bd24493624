package policy

import (
	"context"
	"sort"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// Part of a tool result that a truncation keeps.
const (
	Head = "head" // default
	Tail = "tail"
	Both = "both" // half of each
)

// Truncate cuts single tool results that are larger than
// min(MaxTokens, B/4) down to that size, largest first.
type Truncate struct {
	MaxTokens int    // default 8000
	Keep      string // Head, Tail or Both; default Head
	// MarkerOnTop adds the marker to the limit instead of counting it in.
	MarkerOnTop bool
	// NoShare takes MaxTokens alone as the limit, whatever the budget.
	NoShare bool
}

// Name returns "truncate".
func (Truncate) Name() string { return "truncate" }

// Propose offers one group for each result that is too large.
func (t Truncate) Propose(_ context.Context, v *View) (Proposal, error) {
	limit := t.MaxTokens
	if share := v.Budget.Cap / 4; !t.NoShare && share < limit {
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

// edit cuts part p of message i, of size tokens, to limit tokens.
func (t Truncate) edit(v *View, i, p, tokens, limit int) (Edit, bool) {
	text := v.Messages[i].Parts[p].Text
	o := v.Origin(i, p)
	if o.Tokens < 0 {
		o.Tokens = tokens
	}
	mark := Mark{Form: formOf(t.Keep), Chars: o.Chars, Tokens: o.Tokens, Kept: limit, Ref: o.Ref}
	segments, ok := fit(v, text, tokens, limit, mark, t.MarkerOnTop)
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
	case Tail:
		return FormTail
	case Both:
		return FormBoth
	}
	return FormHead
}

// fit cuts text, which costs old, to limit tokens, marker included (or on
// top). It reports false when that would not make it smaller.
func fit(v *View, text string, old, limit int, mark Mark, onTop bool) ([]Segment, bool) {
	marker, err := v.Forms.Render(mark, "", "")
	if err != nil {
		return nil, false
	}
	room := limit
	if !onTop {
		room -= v.Cost.Text(marker)
	}
	for try := 0; ; try++ {
		segments, out := slice(v.Cost, text, max(room, 0), mark, marker)
		n := v.Cost.Text(out)
		// Pieces may cost a little more together than apart.
		if (onTop || n <= limit || room <= 0) || try > 20 {
			return segments, n < old && runes(out) <= runes(text)
		}
		room -= max(n-limit, 1)
	}
}

func slice(cost Coster, text string, room int, mark Mark, marker string) ([]Segment, string) {
	switch mark.Form {
	case FormTail:
		at := suffix(cost, text, room)
		return []Segment{{Mark: &mark}, {From: at, To: len(text)}}, marker + text[at:]
	case FormBoth:
		head := prefix(cost, text, room/2)
		tail := max(suffix(cost, text, room-room/2), head)
		return []Segment{{To: head}, {Mark: &mark}, {From: tail, To: len(text)}}, text[:head] + marker + text[tail:]
	}
	at := prefix(cost, text, room)
	return []Segment{{To: at}, {Mark: &mark}}, text[:at] + marker
}

const step = 2048 // bytes that are counted at once on the way to a cut

// prefix returns the length of the longest prefix, on a rune boundary, that
// costs about room. Only the prefix is counted, not the text.
func prefix(cost Coster, text string, room int) int {
	at, used := 0, 0
	for at < len(text) {
		next := boundary(text, min(at+step, len(text)))
		n := cost.Text(text[at:next])
		if used+n > room {
			width := sort.Search(next-at, func(w int) bool {
				return used+cost.Text(text[at:boundary(text, at+w+1)]) > room
			})
			return boundary(text, at+width)
		}
		at, used = next, used+n
	}
	return at
}

// suffix returns where the longest suffix that costs about room begins.
func suffix(cost Coster, text string, room int) int {
	at, used := len(text), 0
	for at > 0 {
		next := boundary(text, max(at-step, 0))
		n := cost.Text(text[next:at])
		if used+n > room {
			width := sort.Search(at-next, func(w int) bool {
				return used+cost.Text(text[boundary(text, at-w-1):at]) > room
			})
			for at -= width; at < len(text) && !utf8.RuneStart(text[at]); {
				at++
			}
			return at
		}
		at, used = next, used+n
	}
	return at
}

// boundary returns the start of the rune that holds byte i.
func boundary(text string, i int) int {
	for i > 0 && i < len(text) && !utf8.RuneStart(text[i]) {
		i--
	}
	return i
}
