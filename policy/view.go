package policy

import (
	"slices"

	"github.com/agentcompact/compact/message"
)

// A Coster says what messages and texts cost, in tokens (or in another unit
// that a preset counts in). It must be safe for concurrent use and give the
// same number for the same input.
type Coster interface {
	// Message is what a message costs in a request, its format included.
	Message(m message.Message) int
	// Text is what a text costs by itself.
	Text(s string) int
}

// Keep says how much of the end of a conversation is kept.
type Keep struct {
	Turns int `json:"turns"` // the last turns
	Pairs int `json:"pairs"` // the last tool calls with their results, in the whole history; rounded up to rounds
}

// Origin is what the ledger remembers of a part that was edited before: the
// sizes and the reference of the original.
type Origin struct {
	Chars  int
	Tokens int
	Ref    string
	Masked bool // masked already, not only truncated
	Media  bool // a picture, a sound or a file: Chars are its bytes
}

// A View is a conversation as a stage sees it. It is read-only, all of it.
type View struct {
	Messages []message.Message
	Tokens   []int // what each message costs
	Fixed    int   // what else is sent: tool schemas, system prompts outside of the messages, the reply primer
	Outside  int   // the same in bytes, less than 0 where messages have bytes in common; see [View.Bytes]
	Rounds   []message.Round
	Turns    []message.Turn
	Pinned   []bool // the message's own bytes must come out as they came in
	Anchor   int    // the last user message, -1 = none
	Open     int    // the open round begins here; len(Messages) = nothing is open

	Budget Budget
	Keep   Keep
	Goal   int  // stages go on until the view costs no more
	Manual bool // asked for: mask and summarize all that may be, whatever the size
	Rigid  bool // the keep counts are not shrunk
	Recall bool // the model can ask for what a reference names
	Cost   Coster

	// Sent says of a message behind the last answer that it went out already, as
	// it is: the call before this one got no answer. May be nil.
	Sent func(m *message.Message) bool

	// Ref returns the reference of a part with this fingerprint, 12 hex digits; nil:
	// the fingerprint's own ([message.Fingerprint.Ref]).
	Ref func(of message.Fingerprint) string

	// Origins says what is known of part p of message i, if it was edited
	// before. May be nil.
	Origins func(i, p int) (Origin, bool)
	Forms   Forms

	// before is what message i was when this run of the engine began; nil = as
	// it is.
	before func(i int) message.Message

	masks func(i, p int) (masked, known bool) // what Origins says of masks; nil = ask that

	dispatch DispatchTools

	reach   *reach // of the engine that made the view; nil = none did
	rounder *message.Rounder
	calls   *callIndex
	traits  []trait // of each message, as far as the view was read
	round   []int   // message → round
	turn    []int   // round → turn; len(Turns) for those in no turn
}

// Pins says which messages are pinned.
type Pins []message.Role

// Pinned reports whether the message must come out byte for byte: its role is
// never pruned, or it is protected. No role pins a summary or a notice of our
// own.
func (p Pins) Pinned(m *message.Message) bool {
	if m.Protected {
		return true
	}
	return slices.Contains(p, m.Role) && !made(m)
}

// made reports whether a message has the form of a summary or a notice that
// was put in the place of others. What a user wrote is the user's.
func made(m *message.Message) bool {
	if _, notice := ParseNotice(*m); notice {
		return true
	}
	return m.Role != message.RoleUser && IsSummary(*m)
}

// NewView reads the structure of a conversation in one pass. The messages are
// shared with msgs.
func NewView(msgs []message.Message, pins Pins, cost Coster) *View {
	v := &View{Cost: cost, rounder: new(message.Rounder)}
	v.read(msgs, pins, func(i int) int { return cost.Message(msgs[i]) })
	return v
}

// read takes in messages that begin with those of the view. price says what
// message i of them costs; it is asked of the new ones alone.
func (v *View) read(msgs []message.Message, pins Pins, price func(i int) int) {
	known := len(v.Messages)
	v.Messages, v.Anchor = msgs, message.Anchor(msgs)
	if v.calls == nil {
		v.calls = new(callIndex)
	}
	v.Rounds = v.rounder.Rounds(msgs)
	v.Open = message.Open(v.Rounds)
	v.Pinned, v.Tokens = slices.Grow(v.Pinned, len(msgs)-known), slices.Grow(v.Tokens, len(msgs)-known)
	for i := known; i < len(msgs); i++ {
		v.Pinned = append(v.Pinned, pins.Pinned(&msgs[i]))
		v.Tokens = append(v.Tokens, price(i))
		v.traits = append(v.traits, traitsOf(&msgs[i]))
	}
	v.number()
}

// trait is what is asked of every message at every call of the hook. No edit that
// leaves the structure of a view as it is changes it.
type trait uint8

const (
	traitResult  trait = 1 << iota // it holds a tool result
	traitSummary                   // it is a summary of ours
)

func traitsOf(m *message.Message) (t trait) {
	if m.Has(message.KindToolResult) {
		t |= traitResult
	}
	if IsSummary(*m) {
		t |= traitSummary
	}
	return t
}

// HasResult reports whether message i holds a tool result.
func (v *View) HasResult(i int) bool { return v.trait(i)&traitResult != 0 }

// Summary reports whether message i is a summary of ours.
func (v *View) Summary(i int) bool { return v.trait(i)&traitSummary != 0 }

func (v *View) trait(i int) trait {
	if i < len(v.traits) {
		return v.traits[i]
	}
	return traitsOf(&v.Messages[i]) // a view that a test has made
}

// tools returns who is called by which id in the view. Edits change no call.
func (v *View) tools() tools {
	if v.calls == nil {
		return toolsOf(v.Messages)
	}
	return v.calls.upTo(v.Messages)
}

// number gives messages their rounds, and rounds their turns.
func (v *View) number() {
	v.round = make([]int, len(v.Messages))
	for r, span := range v.Rounds {
		if span.Assistant && span.Len() == 1 && v.Summary(span.Start) {
			v.Rounds[r].Assistant = false // our own summary is nobody's turn
		}
		for i := span.Start; i < span.End; i++ {
			v.round[i] = r
		}
	}
	v.Turns = message.Turns(v.Rounds)
	v.turn = make([]int, len(v.Rounds))
	t := 0
	for r := range v.Rounds {
		for t < len(v.Turns) && v.Turns[t].Last < r {
			t++
		}
		v.turn[r] = t
	}
}

// rewritten returns the view with other texts in tool results, which changes
// nothing else of its structure: after is what the edits made of its messages.
func (v *View) rewritten(after *Conversation, edits []Edit) *View {
	w := *v
	w.Messages, w.Tokens = roomy(v.Messages), roomy(v.Tokens)
	for k := range edits {
		i := edits[k].Text.Index
		w.Messages[i] = after.items.at(i).m
		w.Tokens[i] = v.Cost.Message(w.Messages[i])
	}
	return &w
}

// roomy returns a copy with room for what the next calls append.
func roomy[T any](s []T) []T {
	return append(make([]T, 0, len(s)+pageLen), s...)
}

// onlyResults reports whether edits change the texts of tool results, and
// nothing else.
func (v *View) onlyResults(edits []Edit) bool {
	for k := range edits {
		t := edits[k].Text
		if t == nil || edits[k].Cut != nil || v.Messages[t.Index].Parts[t.Part].Kind != message.KindToolResult {
			return false
		}
	}
	return true
}

// Total returns what the view costs.
func (v *View) Total() int {
	n := v.Fixed
	for _, t := range v.Tokens {
		n += t
	}
	return n
}

// TurnOf returns the number of the turn that message i belongs to, from 1.
func (v *View) TurnOf(i int) int { return v.turn[v.round[i]] + 1 }

// RoundOf returns the index of the round that message i belongs to.
func (v *View) RoundOf(i int) int { return v.round[i] }

// Unedited returns message i as it was before the run of the engine that made
// this view: with the results that its earlier stages masked. What an earlier
// run masked is a placeholder there, too.
func (v *View) Unedited(i int) message.Message {
	if v.before == nil {
		return v.Messages[i]
	}
	return v.before(i)
}

// Origin returns what is known of part p of message i before it was edited;
// for a part that never was, its own sizes. Tokens is -1 where nobody counted.
func (v *View) Origin(i, p int) Origin {
	if o, ok := v.Known(i, p); ok {
		return o
	}
	part := &v.Messages[i].Parts[p]
	if k, ok := v.parseMark(i, p); ok {
		return k.origin(true)
	}
	o := Origin{Chars: runes(part.Text), Tokens: -1, Ref: v.RefOf(part)}
	if part.Kind.IsMedia() {
		o.Chars, o.Media = mediaSize(part), true
	}
	if k, ok := parseTruncation(part.Text, v.Cost); ok {
		o.Tokens = k.Tokens
	}
	return o
}

// Known returns what an earlier edit of part p of message i is known to have left
// out; false where nothing but the text says so, which any tool can write.
func (v *View) Known(i, p int) (Origin, bool) {
	if v.Origins == nil {
		return Origin{}, false
	}
	return v.Origins(i, p)
}

// RefOf returns what a part is had back by.
func (v *View) RefOf(p *message.Part) string {
	if v.Ref == nil {
		return p.Fingerprint().Ref()
	}
	return v.Ref(p.Fingerprint())
}

// rendered is the text of part p of message i after an edit.
func (v *View) rendered(i, p int, segments []Segment) (string, error) {
	part := &v.Messages[i].Parts[p]
	return (&Conversation{forms: v.Forms}).render(part.Text, segments, func() Answered { return v.tools().answered(i, part) })
}

// Masked reports whether part p of message i is a placeholder already.
func (v *View) Masked(i, p int) bool {
	switch {
	case v.masks != nil:
		if masked, known := v.masks(i, p); known {
			return masked
		}
	case v.Origins != nil:
		if o, ok := v.Origins(i, p); ok {
			return o.Masked
		}
	}
	_, ok := v.parseMark(i, p)
	return ok
}

// parseMark recognizes a placeholder of which nothing is known but its text, as
// any tool can write it. One with dispatch blocks has no bound, so that only
// those of dispatch tools count.
func (v *View) parseMark(i, p int) (Mark, bool) {
	k, ok := v.Forms.ParseMark(v.Messages[i].Parts[p].Text)
	if ok && k.Form == FormDispatch && !v.dispatches(i, p) {
		return Mark{}, false
	}
	return k, ok
}

// OriginTokens returns what the part cost before it was ever edited.
func (v *View) OriginTokens(i, p int) int {
	if o := v.Origin(i, p); o.Tokens >= 0 {
		return o.Tokens
	}
	return v.Cost.Text(v.Messages[i].Parts[p].Text)
}
