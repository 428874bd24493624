package reduce

import (
	"encoding/json"
	"fmt"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/toolcall"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// A Conversation is a history that edits turn into a view. It holds the current messages
// and the decision on each input message. It is never modified: [Conversation.Apply]
// returns a new one.
type Conversation struct {
	items list[item]
	fates list[fate] // index: input message
	pins  policy.Pins
	forms policy.Forms
}

type item struct {
	m       message.Message
	src     int       // index of the input message; -1 = made by a stage
	origins *origins  // nil = unknown
	mask    maskState // summarizes origins
	pinned  bool
}

// fate is the decision on an input message, and its reason.
type fate struct {
	decision policy.Decision
	reason   string
}

// NewConversation returns a conversation that holds the unedited history.
func NewConversation(history []message.Message, pins policy.Pins, forms policy.Forms) *Conversation {
	c := &Conversation{pins: pins, forms: forms}
	c.take(history)
	return c
}

// take appends input messages.
func (c *Conversation) take(history []message.Message) {
	for i := range history {
		c.items.add(item{m: history[i], src: c.fates.len(), pinned: c.pins.Pinned(&history[i])})
		c.fates.add(fate{})
	}
}

// Len returns the number of messages.
func (c *Conversation) Len() int { return c.items.len() }

// Messages returns the current messages in a new slice.
func (c *Conversation) Messages() []message.Message { return c.messages(nil) }

// messages returns the current messages, followed by more.
func (c *Conversation) messages(more []message.Message) []message.Message {
	out := make([]message.Message, c.items.len(), c.items.len()+len(more))
	for i := range out {
		out[i] = c.items.at(i).m
	}
	return append(out, more...)
}

// Source returns the index of the input message that message i came from, or -1
// if a stage made message i.
func (c *Conversation) Source(i int) int { return c.items.at(i).src }

// Sources returns [Conversation.Source] of each message.
func (c *Conversation) Sources() []int {
	out := make([]int, c.items.len())
	for i := range out {
		out[i] = c.items.at(i).src
	}
	return out
}

// Decision returns the decision on input message src, and the reason.
func (c *Conversation) Decision(src int) (policy.Decision, string) {
	f := c.fates.at(src)
	return f.decision, f.reason
}

// Redecided returns the input messages whose decision in after differs from the
// one in c. after must descend from c.
func (c *Conversation) Redecided(after *Conversation) []int {
	at := []int{}
	for i := 0; i < c.fates.len(); i++ {
		if i%pageLen == 0 && c.fates.shares(&after.fates, i) {
			i += pageLen - 1
			continue
		}
		if c.fates.at(i).decision != after.fates.at(i).decision {
			at = append(at, i)
		}
	}
	return at
}

// Inputs returns the number of input messages.
func (c *Conversation) Inputs() int { return c.fates.len() }

// Origin returns the origin of part p of message i: its sizes and its reference before
// the first edit. It returns false if the origin is unknown.
func (c *Conversation) Origin(i, p int) (policy.Origin, bool) {
	return c.items.at(i).origins.get(p)
}

// Shared returns a lower bound for the number of leading messages that c has in common
// with another conversation. It is fast because it compares only whole pages.
func (c *Conversation) Shared(with *Conversation) int {
	n := min(c.items.len(), with.items.len())
	for i := 0; i < n; i += pageLen {
		if !c.items.shares(&with.items, i) {
			return i
		}
	}
	return n
}

func (c *Conversation) clone() *Conversation {
	d := *c
	d.items, d.fates = c.items.clone(), c.fates.clone()
	return &d
}

// Apply returns the conversation after the edits: first the text edits, then the cut. The edits may
// hold at most one cut. The indexes in the edits refer to c. On an error, nothing is applied.
func (c *Conversation) Apply(edits []policy.Edit) (*Conversation, error) {
	d := c.clone()
	if err := d.edit(edits, 0, nil, nil); err != nil {
		return nil, err
	}
	return d, nil
}

// edit makes edits in place. On an error, it may have made some of them; u, which may
// be nil, can undo them. all returns the tool calls of the input; if it is nil, edit
// looks for calls in d.
//
// anchor is for a replay. It is the index, from 1, of the message that was the last user
// message at the time of the cut; -1 = there was none, 0 = this is not a replay.
func (d *Conversation) edit(edits []policy.Edit, anchor int, u *undo, all func() toolcall.Index) error {
	var cut *policy.Edit
	w := rewriter{d: d, u: u, all: all}
	for k := range edits {
		e := &edits[k]
		switch {
		case e.Text != nil && e.Cut == nil:
			if err := w.add(e); err != nil {
				return err
			}
		case e.Cut != nil && e.Text == nil && cut == nil:
			cut = e
		default:
			return fmt.Errorf("%w: edit %d wants one text edit or one cut", policy.ErrEdit, k)
		}
	}
	if err := w.flush(); err != nil || cut == nil {
		return err
	}
	return d.cut(cut, anchor, u)
}

// A rewriter makes the text edits of one message together, so that the raw form
// of the message is written only once.
type rewriter struct {
	d     *Conversation
	u     *undo
	all   func() toolcall.Index // tool calls of the input; nil: use the calls of d
	calls toolcall.Index
	at    int
	texts map[int]string        // new texts of message at, by part
	marks map[int]policy.Origin // origins to remember, by part
}

func (w *rewriter) add(e *policy.Edit) error {
	t := e.Text
	if t.Index < 0 || t.Index >= w.d.items.len() || t.Part < 0 || t.Part >= len(w.d.items.at(t.Index).m.Parts) {
		return fmt.Errorf("%w: no part %d of message %d", policy.ErrEdit, t.Part, t.Index)
	}
	if _, again := w.texts[t.Part]; again || t.Index != w.at {
		if err := w.flush(); err != nil {
			return err
		}
	}
	it := w.d.items.at(t.Index)
	text, err := w.d.forms.Rewrite(it.m.Parts[t.Part].Text, t.Segments, w.answered(t.Index, &it.m.Parts[t.Part]))
	if err != nil {
		return err
	}
	if w.at = t.Index; w.texts == nil {
		w.texts, w.marks = map[int]string{}, map[int]policy.Origin{}
	}
	w.texts[t.Part] = text
	for _, s := range t.Segments {
		if s.Mark != nil {
			w.marks[t.Part] = s.Mark.Origin(e.Decision == policy.Masked)
			break
		}
	}
	w.u.decided(w.d, it.src)
	w.d.decide(it.src, e)
	return nil
}

// answered returns a function that returns the tool that part p of message i
// answers, and the arguments of the call.
func (w *rewriter) answered(i int, p *message.Part) func() (string, json.RawMessage) {
	return func() (string, json.RawMessage) {
		if w.all != nil {
			return w.all().Answered(w.d.items.at(i).src, p)
		}
		if w.calls == nil {
			w.calls = toolcall.Of(w.d.Messages())
		}
		return w.calls.Answered(i, p)
	}
}

// flush makes the edits added since the last flush.
func (w *rewriter) flush() error {
	if len(w.texts) == 0 {
		return nil
	}
	m, err := w.d.items.at(w.at).m.WithPartTexts(w.texts)
	if err != nil {
		return fmt.Errorf("%w: message %d: %w", policy.ErrEdit, w.at, err)
	}
	w.u.edited(w.d, w.at)
	it := w.d.items.edit(w.at)
	if len(w.marks) > 0 {
		it.remember(it.origins.with(w.marks))
	}
	it.m, it.pinned, w.texts = m, w.d.pins.Pinned(&m), nil
	return nil
}

// decide records the decision on an input message. A masked message stays masked, even
// if another part of it is only truncated later.
func (d *Conversation) decide(src int, e *policy.Edit) {
	if src >= 0 && e.Decision >= d.fates.at(src).decision {
		*d.fates.edit(src) = fate{e.Decision, e.Reason}
	}
}

// cut removes rounds and arranges the remaining messages.
func (d *Conversation) cut(e *policy.Edit, was int, u *undo) error {
	gone := make([]bool, d.items.len())
	for _, i := range e.Cut.Removed {
		if i < 0 || i >= d.items.len() || gone[i] {
			return fmt.Errorf("%w: message %d can't be removed", policy.ErrEdit, i)
		}
		gone[i] = true
		u.decided(d, d.items.at(i).src)
		d.decide(d.items.at(i).src, e)
	}
	if e.Cut.Recent < 0 || e.Cut.Recent > d.items.len() {
		return fmt.Errorf("%w: recent span at %d of %d", policy.ErrEdit, e.Cut.Recent, d.items.len())
	}
	if e.Cut.New != nil && !utf8.ValidString(e.Cut.New.Text()) {
		return fmt.Errorf("%w: a ledger can't store the message in place of the removed ones: it is not valid UTF-8", policy.ErrEdit)
	}
	pinned, anchor := d.pinnedRounds(e.Cut, was)
	var out list[item]
	take := func(from, to int, want func(i int) bool) {
		for i := from; i < to; i++ {
			if !gone[i] && want(i) {
				out.add(*d.items.at(i))
			}
		}
	}
	if e.Cut.First {
		out.add(*d.items.at(0))
		gone[0] = true
	}
	front := e.Cut.Recent // pinned rounds up to here come first
	if e.Cut.Behind {
		front = min(front, d.opening(pinned))
	}
	front = min(front, anchor)
	take(0, front, func(i int) bool { return pinned[i] })
	if e.Cut.New != nil {
		out.add(item{m: *e.Cut.New, src: -1, pinned: d.pins.Pinned(e.Cut.New)})
	}
	take(0, e.Cut.Recent, func(i int) bool { return !pinned[i] })
	take(front, e.Cut.Recent, func(i int) bool { return pinned[i] })
	take(e.Cut.Recent, d.items.len(), func(int) bool { return true })
	u.cut(d)
	d.items = out
	return nil
}

// opening returns the number of messages that stay in front of every cut: the pinned
// messages at the start of the conversation. They end before an instruction that follows
// a message of another kind.
func (d *Conversation) opening(pinned []bool) int {
	said := false
	for i := range pinned {
		m := &d.items.at(i).m
		if !pinned[i] || said && instructing(m) {
			return i
		}
		said = said || !instructing(m)
	}
	return len(pinned)
}

// pinnedRounds marks the messages of rounds that hold a pinned message. at is the start of the
// anchor's round if that round is marked. The anchor's round then comes after the summary, and the
// later pinned rounds follow it. pinnedRounds reads only the prefix that the cut names, so that
// later messages do not change the meaning of an old cut. was is the anchor of a replay, see edit.
func (d *Conversation) pinnedRounds(c *policy.Cut, was int) (marked []bool, at int) {
	end := c.Recent
	for _, i := range c.Removed {
		end = max(end, i+1)
	}
	msgs := d.Messages()
	anchor := was - 1
	if was == 0 {
		anchor = message.Anchor(msgs)
	}
	marked, at = make([]bool, len(msgs)), len(msgs)
	for _, r := range message.Rounds(msgs[:end]) {
		for i := r.Start; i < r.End; i++ {
			if !d.pins.Pinned(&msgs[i]) {
				continue
			}
			for k := r.Start; k < r.End; k++ {
				marked[k] = true
			}
			if r.Start <= anchor && anchor < r.End {
				at = r.Start
			}
			break
		}
	}
	return marked, at
}

// WithForms returns the conversation with additional forms for rendering marks.
func (c *Conversation) WithForms(forms policy.Forms) *Conversation {
	d := *c
	d.forms = merged(c.forms, forms)
	return &d
}

// Append returns the conversation with more input messages at its end. c must
// not be appended to again.
func (c *Conversation) Append(more []message.Message) *Conversation {
	if len(more) == 0 {
		return c
	}
	d := *c
	d.take(more)
	return &d
}
