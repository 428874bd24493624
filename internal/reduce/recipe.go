package reduce

import (
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// A Recipe describes the edits of a stage so that a ledger can store them and
// another process can apply them to the same history again. It holds positions
// among the unpinned messages, fingerprints, byte ranges, marks and the text of
// the summary, but no other text.
type Recipe struct {
	Stage string       `json:"stage"`
	Texts []TextRecipe `json:"texts,omitempty"`
	Cut   *CutRecipe   `json:"cut,omitempty"`
	// Copies describes removed copies of pinned messages.
	Copies []CopyRecipe `json:"copies,omitempty"`
}

// A TextRecipe rewrites the text of one part.
type TextRecipe struct {
	At       int                 `json:"at"` // ordinal among the unpinned messages
	Part     int                 `json:"part,omitempty"`
	Was      message.Fingerprint `json:"was"` // the message before the edit
	Is       message.Fingerprint `json:"is"`  // the message after the edit
	Decision string              `json:"decision"`
	Reason   string              `json:"reason,omitempty"`
	Segments []policy.Segment    `json:"segments"`
}

// A CutRecipe removes rounds.
type CutRecipe struct {
	Removed  [][2]int            `json:"removed"`        // ranges [from, to) of ordinals
	Recent   int                 `json:"recent"`         // ordinal at which the recent span begins
	Pins     int                 `json:"pins,omitempty"` // number of pinned messages right before the recent span
	Decision string              `json:"decision"`
	Reason   string              `json:"reason,omitempty"`
	Summary  *policy.SummaryInfo `json:"summary,omitempty"`
	// SummaryIn names the file that holds the summary if this ledger does not.
	// [record.Session.Ledgers] fills it in when it reads ledgers.
	SummaryIn string `json:"summary_in,omitempty"`
	Notice    int    `json:"notice,omitempty"` // the number in the notice; 0 = no notice
	Behind    bool   `json:"behind,omitempty"` // see [policy.Cut]
	First     bool   `json:"first,omitempty"`  // see [policy.Cut]
	// Anchor is the last user message at the time of the cut, if it stood before
	// the recent span.
	Anchor *message.Fingerprint `json:"anchor,omitempty"`
}

// ordinals returns, for each message, the number of unpinned messages before it.
func (c *Conversation) ordinals() []int {
	out := make([]int, c.items.len()+1)
	n := 0
	for i := range c.items.len() {
		out[i] = n
		if !c.items.at(i).pinned {
			n++
		}
	}
	out[c.items.len()] = n
	return out
}

// Record returns the recipe of edits that turned c into after.
func (c *Conversation) Record(stage string, edits []policy.Edit, after *Conversation) Recipe {
	r := Recipe{Stage: stage}
	ord := c.ordinals()
	at := places(after)
	for _, e := range edits {
		if t := e.Text; t != nil {
			rec := TextRecipe{
				At: ord[t.Index], Part: t.Part, Was: c.items.at(t.Index).m.Fingerprint(),
				Decision: e.Decision.String(), Reason: e.Reason, Segments: t.Segments,
			}
			if k, ok := at.index(c.items.at(t.Index).src); ok {
				rec.Is = after.items.at(k).m.Fingerprint()
			}
			r.Texts = append(r.Texts, rec)
		}
		switch {
		case e.Cut != nil && e.Cut.Copies:
			r.Copies = c.recordCopies(e.Cut.Removed, ord)
		case e.Cut != nil:
			r.Cut = c.recordCut(e, ord)
		}
	}
	return r
}

func (c *Conversation) recordCut(e policy.Edit, ord []int) *CutRecipe {
	rec := &CutRecipe{Recent: ord[e.Cut.Recent], Decision: e.Decision.String(), Reason: e.Reason, Summary: e.Cut.Summary, Behind: e.Cut.Behind, First: e.Cut.First}
	for i := e.Cut.Recent - 1; i >= 0 && c.items.at(i).pinned; i-- {
		rec.Pins++
	}
	if e.Cut.New != nil {
		rec.Notice, _ = policy.ParseNotice(*e.Cut.New)
	}
	if a := message.Anchor(c.Messages()); a >= 0 && a < e.Cut.Recent {
		fp := c.items.at(a).m.Fingerprint()
		rec.Anchor = &fp
	}
	for _, i := range e.Cut.Removed {
		if n := len(rec.Removed); n > 0 && rec.Removed[n-1][1] == ord[i] {
			rec.Removed[n-1][1]++
		} else {
			rec.Removed = append(rec.Removed, [2]int{ord[i], ord[i] + 1})
		}
	}
	return rec
}

// Replay applies a recipe to a conversation with the same messages at the same
// ordinals. If an edited message has changed, Replay returns an error and applies
// nothing.
func (c *Conversation) Replay(r Recipe) (*Conversation, error) {
	edits, anchor, err := c.edits(&r, c.byOrdinal())
	if err != nil {
		return nil, err
	}
	d := c.clone()
	if err := d.edit(edits, anchor, nil, nil); err != nil {
		return nil, err
	}
	return d, nil
}

// edits returns the edits that a recipe describes, and the anchor of its cut, see
// [Conversation.edit]. index holds the positions of the unpinned messages.
func (c *Conversation) edits(r *Recipe, index []int) (edits []policy.Edit, anchor int, err error) {
	edits = make([]policy.Edit, 0, len(r.Texts)+1)
	for k := range r.Texts {
		t := &r.Texts[k]
		if t.At < 0 || t.At >= len(index) || c.items.at(index[t.At]).m.Fingerprint() != t.Was {
			return nil, 0, fmt.Errorf("%w: message %d is not the one that was edited", policy.ErrEdit, t.At)
		}
		edits = append(edits, policy.Edit{Decision: parseDecision(t.Decision), Reason: t.Reason,
			Text: &policy.TextEdit{Index: index[t.At], Part: t.Part, Segments: t.Segments}})
	}
	if r.Cut != nil {
		e, at, err := c.replayCut(r.Cut, index)
		if err != nil {
			return nil, 0, err
		}
		edits, anchor = append(edits, e), at
	}
	if len(r.Copies) > 0 {
		e, ok, err := c.replayCopies(r.Copies, index)
		if err != nil {
			return nil, 0, err
		}
		if ok {
			edits = append(edits, e)
		}
	}
	return edits, anchor, nil
}

// Lasting returns the recipe of a pass without the edits of messages that a later pass of the same
// step removed: no view showed those edits, and a replay of the removal does not need them. If that
// is true of all edits of the pass, the recipe has only the name of the stage.
func (o *Outcome) Lasting(p *Pass) Recipe {
	r := p.Recipe
	r.Texts = nil
	for k := range p.Recipe.Texts {
		if src := p.Sources[k]; src < 0 || o.Conversation.Holds(src) {
			r.Texts = append(r.Texts, p.Recipe.Texts[k])
		}
	}
	return r
}

// Removes reports whether the recipe removes messages.
func (r *Recipe) Removes() bool { return r.Cut != nil || len(r.Copies) > 0 }

func (c *Conversation) replayCut(r *CutRecipe, index []int) (e policy.Edit, anchor int, err error) {
	e = policy.Edit{Decision: parseDecision(r.Decision), Reason: r.Reason, Cut: &policy.Cut{Summary: r.Summary, Behind: r.Behind, First: r.First && c.items.len() > 0}}
	for _, span := range r.Removed {
		if span[0] < 0 || span[1] > len(index) || span[0] > span[1] {
			return e, 0, fmt.Errorf("%w: messages [%d:%d) of %d", policy.ErrEdit, span[0], span[1], len(index))
		}
		e.Cut.Removed = append(e.Cut.Removed, index[span[0]:span[1]]...)
	}
	if r.Recent < 0 || r.Recent > len(index) {
		return e, 0, fmt.Errorf("%w: recent span at %d of %d", policy.ErrEdit, r.Recent, len(index))
	}
	if r.Recent > 0 {
		e.Cut.Recent = index[r.Recent-1] + 1
	}
	for n := 0; n < r.Pins && e.Cut.Recent < c.items.len() && c.items.at(e.Cut.Recent).pinned; n++ {
		e.Cut.Recent++
	}
	anchor = -1
	for i := e.Cut.Recent - 1; i >= 0 && r.Anchor != nil; i-- {
		if c.items.at(i).m.IsUser() && c.items.at(i).m.Fingerprint() == *r.Anchor {
			anchor = i + 1
			break
		}
	}
	switch {
	case r.Summary != nil && r.Notice == 0:
		m := message.Assistant(r.Summary.Text)
		e.Cut.New = &m
	case r.Notice > 0:
		m := policy.NewNotice(r.Notice)
		e.Cut.New = &m
	}
	return e, anchor, nil
}

// byOrdinal returns the indexes of the unpinned messages.
func (c *Conversation) byOrdinal() []int {
	out := make([]int, 0, c.items.len())
	for i := range c.items.len() {
		if !c.items.at(i).pinned {
			out = append(out, i)
		}
	}
	return out
}

// parseDecision parses a decision in a ledger. It accepts the spelling of
// versions before 0.1.
func parseDecision(s string) policy.Decision {
	if s == "summarised" {
		return policy.Summarized
	}
	for d := policy.Kept; d <= policy.Dropped; d++ {
		if d.String() == s {
			return d
		}
	}
	return policy.Kept
}

// A Link identifies a prefix of a conversation by the number of its unpinned
// messages and a hash over them.
type Link struct {
	N    int                 `json:"n"`
	Hash message.Fingerprint `json:"hash"`
}

// Chain returns a new chain for the conversation. Chains leave out pinned
// messages, so that a date in the system prompt does not change every link.
func (c *Conversation) Chain() *Chain {
	k := newChain()
	return &k
}

// Unpinned returns the number of unpinned messages.
func (c *Conversation) Unpinned() (n int) {
	for i := range c.items.len() {
		if !c.items.at(i).pinned {
			n++
		}
	}
	return n
}

// Recognize sets the origins of parts that an earlier call edited, in the messages from
// index from on. known maps the fingerprint of an edited message to the origins of its
// parts in the ledger.
func (c *Conversation) Recognize(from int, known func(message.Fingerprint) map[int]policy.Origin) {
	for i := from; i < c.items.len(); i++ {
		it := c.items.at(i)
		if it.src < 0 || it.origins != nil {
			continue
		}
		if o := known(it.m.Fingerprint()); len(o) > 0 {
			c.items.edit(i).remember(originsOf(o))
		}
	}
}

// OriginOf returns the origin of the part according to the recipe, and false if the
// recipe has none.
func (t *TextRecipe) OriginOf() (policy.Origin, bool) {
	for _, s := range t.Segments {
		if s.Mark != nil {
			return s.Mark.Origin(t.Decision == policy.Masked.String()), true
		}
	}
	return policy.Origin{}, false
}

// Coverage returns the length of the prefix that the recipes refer to, in unpinned
// messages. in is the length before the edits, out the length after them.
func Coverage(recipes []Recipe) (in, out int) {
	for _, r := range recipes {
		need := 0
		for _, t := range r.Texts {
			need = max(need, t.At+1)
		}
		removed := 0
		for _, k := range r.Copies {
			need = max(need, k.At+1, k.Stay)
		}
		if r.Cut != nil {
			need = max(need, r.Cut.Recent)
			for _, span := range r.Cut.Removed {
				need = max(need, span[1])
				removed += span[1] - span[0]
			}
		}
		if need > out {
			in, out = in+need-out, need
		}
		if r.Cut != nil {
			out -= removed
			if r.Cut.Summary != nil || r.Cut.Notice > 0 {
				out++
			}
		}
	}
	return in, out
}

// Holds reports whether input message src is still in the conversation.
func (c *Conversation) Holds(src int) bool {
	return src >= 0 && src < c.fates.len() && c.fates.at(src).decision != policy.Summarized && c.fates.at(src).decision != policy.Dropped
}
