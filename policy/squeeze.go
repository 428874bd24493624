package policy

import (
	"context"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/message"
)

// Squeeze is the last resort before a [BudgetError]. It truncates the remaining results
// to equal shares of the room in the budget. It never changes calls or pinned messages.
type Squeeze struct {
	Keep string // see [Truncate]; default "head"
}

// Name returns "squeeze".
func (Squeeze) Name() string { return "squeeze" }

type result struct{ i, p, tokens int }

// Propose offers one group that fits the budget. If no size is sufficient, it offers
// the smallest results that it can make.
func (s Squeeze) Propose(_ context.Context, v *View) (Proposal, error) {
	total := v.Total()
	if total <= v.Budget.Cap {
		return Proposal{}, nil
	}
	var results []result
	for i := range v.Messages {
		if v.Pinned[i] {
			continue
		}
		for p := range v.Messages[i].Parts {
			if part := &v.Messages[i].Parts[p]; part.Kind == message.KindToolResult && v.Messages[i].Editable(p) && !v.Masked(i, p) {
				results = append(results, result{i, p, v.Cost.Text(part.Text)})
			}
		}
	}
	over := total - v.Budget.Cap
	share := fairShare(results, over)
	for {
		group, freed := s.cut(v, results, share)
		if freed < over && share == 0 {
			group = append(group, v.plainPlaceholders()...)
		}
		if freed >= over || share == 0 {
			if len(group) == 0 {
				return Proposal{}, nil
			}
			return Proposal{Groups: [][]Edit{group}}, nil
		}
		share -= max(1, min(share/10, (over-freed)/max(len(group), 1)+1)) // it ends at 0
	}
}

// fairShare returns the largest size to which results can be cut so that the number of
// freed tokens is at least over.
func fairShare(results []result, over int) int {
	lo, hi := 0, 0
	for _, r := range results {
		hi = max(hi, r.tokens)
	}
	for lo < hi {
		mid := (lo + hi + 1) / 2
		freed := 0
		for _, r := range results {
			freed += max(0, r.tokens-mid)
		}
		if freed >= over {
			lo = mid
		} else {
			hi = mid - 1
		}
	}
	return lo
}

// cut truncates every result larger than share to share. It returns the edits and
// the tokens they free.
func (s Squeeze) cut(v *View, results []result, share int) (group []Edit, freed int) {
	t := Truncate{Keep: s.Keep}
	for _, r := range results {
		if r.tokens <= share {
			continue
		}
		e, ok := t.edit(v, r.i, r.p, r.tokens, share)
		if !ok {
			continue
		}
		e.Reason = "equal share of the remaining budget"
		group = append(group, e)
	}
	return group, v.freed(group)
}

// freed returns the number of tokens that text edits save.
func (v *View) freed(group []Edit) int {
	after := map[int]map[int]string{} // message → part → text
	for _, e := range group {
		text, err := v.rendered(e.Text.Index, e.Text.Part, e.Text.Segments)
		if err != nil {
			continue
		}
		if after[e.Text.Index] == nil {
			after[e.Text.Index] = map[int]string{}
		}
		after[e.Text.Index][e.Text.Part] = text
	}
	n := 0
	for i, texts := range after {
		if m, err := v.Messages[i].WithPartTexts(texts); err == nil {
			n += v.Tokens[i] - v.Cost.Message(m)
		}
	}
	return n
}

// plainPlaceholder shortens a placeholder as far as possible, for a view that exceeds
// the budget by a few tokens. The placeholder loses its reference, the name of the call,
// the beginning of the result and the dispatch blocks. The archive still has the text.
func (v *View) plainPlaceholder(i, p int) (Edit, bool) {
	if v.Origins == nil {
		return Edit{}, false
	}
	o, ours := v.Origins(i, p)
	if !ours || !o.Masked {
		return Edit{}, false // a text that only looks like a placeholder
	}
	text := v.Messages[i].Parts[p].Text
	k, ok := v.Forms.ParseMark(text)
	if ok && k.Form == formname.Media {
		return Edit{}, false // the result can't be shorter
	}
	if ok = ok && (k.Form == formRecall || namesCall(k.Form)); !ok {
		blocks := v.survivors(i, p, k, text)
		if v.run.Before == nil || v.run.Before(i).Parts[p].Text != text { // masked in this run: leave it unchanged
			return Edit{}, false
		}
		k = Mark{Chars: o.Chars + v.blockChars(o, text, blocks), Tokens: o.Tokens, Ref: o.Ref}
	}
	k = k.without(formObservation)
	segments := []Segment{{Mark: &k}}
	e := Edit{Decision: Masked, Reason: "no room for more than the size in the placeholder", Text: &TextEdit{Index: i, Part: p, Segments: segments}}
	return e, shrinks(v, i, p, segments)
}

// survivors returns the dispatch blocks in a masked text. For a dispatch
// placeholder it ignores the current setting of dispatch tools.
func (v *View) survivors(i, p int, k Mark, text string) []Segment {
	if k.Form == formDispatch {
		return dispatchBlocks(text)
	}
	return v.blocks(i, p, text)
}

// blockChars returns the size of dispatch blocks, in the unit in which the origin
// states the size outside of them.
func (v *View) blockChars(o Origin, text string, blocks []Segment) int {
	chars, cost := 0, 0
	for _, b := range blocks {
		chars += runes(text[b.From:b.To])
		cost += v.Cost.Text(text[b.From:b.To])
	}
	if o.Tokens == o.Chars+cost { // a preset that counts characters in its own unit
		return cost
	}
	return chars
}

func (v *View) plainPlaceholders() (group []Edit) {
	for i := range v.Messages {
		for p := range v.Messages[i].Parts {
			if v.Messages[i].Parts[p].Kind != message.KindToolResult || v.Pinned[i] || !v.Messages[i].Editable(p) {
				continue
			}
			if e, ok := v.plainPlaceholder(i, p); ok {
				group = append(group, e)
			}
		}
	}
	return group
}

// squeezable returns the number of tokens that message i loses when its results
// are cut to the marker and its media are replaced, unless stays says that the
// media stay.
func (v *View) squeezable(i int, stays func(i int) bool) int {
	m, cut := v.Messages[i], Truncate{}
	if v.reach != nil {
		cut.Keep = v.reach.keep
	}
	results := countResults(v.Messages[i : i+1])
	media := stays != nil && bearsMedia(&m) && !stays(i)
	if v.Pinned[i] || results == 0 && !media {
		return 0
	}
	var group []Edit
	if media {
		group = v.maskMedia(i, 0)
	}
	for p := range m.Parts {
		if m.Parts[p].Kind != message.KindToolResult || !m.Editable(p) || len(m.Parts[p].Text) < 40 {
			continue
		}
		if v.Masked(i, p) {
			if e, ok := v.plainPlaceholder(i, p); ok {
				group = append(group, e)
			}
			continue
		}
		if e, ok := cut.edit(v, i, p, v.partTokens(i, p, results), 0); ok {
			group = append(group, e)
		}
	}
	return max(0, v.freed(group))
}

// partTokens returns the size of a part. If the part is the whole message, it
// uses the known size of the message, which is larger by the overhead of a
// message.
func (v *View) partTokens(i, p, results int) int {
	if results == 1 && len(v.Messages[i].Parts) == 1 {
		return v.Tokens[i]
	}
	return v.Cost.Text(v.Messages[i].Parts[p].Text)
}
