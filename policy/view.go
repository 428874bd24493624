package policy

import (
	"encoding/json"
	"slices"

	"github.com/agentcompact/compact/internal/running"
	"github.com/agentcompact/compact/internal/toolcall"
	"github.com/agentcompact/compact/message"
)

// A Coster returns the cost of messages and texts, in tokens or in the unit of the
// preset. It must be safe for concurrent use and return the same number for the same
// input.
type Coster interface {
	// Message returns the cost of a message in a request, including its format.
	Message(m message.Message) int
	// Text returns the cost of a text by itself.
	Text(s string) int
}

// Keep says how many turns and tool calls at the end of a conversation stay.
type Keep struct {
	Turns int `json:"turns"` // number of last turns
	Pairs int `json:"pairs"` // number of last tool calls with their results, in the whole history; rounded up to whole rounds
}

// An Origin holds the sizes and the reference of a part before its first edit, as
// recorded in the ledger.
type Origin struct {
	Chars  int
	Tokens int
	Ref    string
	Masked bool // the part is masked, not only truncated
	Media  bool // the part was an image, audio or a file; Chars is its size in bytes
}

// A View is the form of a conversation that stages read. They must not modify it.
type View struct {
	Messages []message.Message
	Tokens   []int // cost of each message
	Fixed    int   // cost of everything else in the request: tool schemas, system prompts outside the messages, the reply primer
	Outside  int   // size of everything else in bytes; negative if messages share bytes; see [View.Bytes]
	Rounds   []message.Round
	Turns    []message.Turn
	Pinned   []bool // the message must be sent unchanged, byte for byte
	Anchor   int    // index of the last user message, -1 = none
	Open     int    // start of the open round; len(Messages) = no open round

	Budget Budget
	Keep   Keep
	Goal   int  // the cost in tokens at which stages stop
	Manual bool // the compaction was requested: stages mask and summarize as much as allowed, for views of any size
	Rigid  bool // the keep counts must not be lowered
	Recall bool // the model can fetch the original by its reference
	Cost   Coster

	// Sent reports whether a message after the last answer was already sent in this
	// form, by a call that got no answer. It may be nil.
	Sent func(m *message.Message) bool

	// Ref returns the reference, 12 hex digits, of a part with this fingerprint. If
	// it is nil, [message.Fingerprint.Ref] is used.
	Ref func(fp message.Fingerprint) string

	// Origins returns the origin of part p of message i if the part was edited
	// before. It may be nil.
	Origins func(i, p int) (Origin, bool)
	Forms   Forms

	run     running.Run // zero = no engine made the view
	reach   *reach      // limits of the engine's stages; nil = no engine made the view
	rounder *message.Rounder
	calls   *toolcall.Growing
	traits  []trait // by message, for the messages read so far
	round   []int   // message → round
	turn    []int   // round → turn; len(Turns) for rounds after the last turn
}

// Pins are the roles whose messages are pinned.
type Pins []message.Role

// Pinned reports whether the message must stay unchanged, byte for byte, because of its
// role or because it is protected. A role does not pin a summary or notice made by a
// stage.
func (p Pins) Pinned(m *message.Message) bool {
	if m.Protected {
		return true
	}
	return slices.Contains(p, m.Role) && !hasStageForm(m)
}

// hasStageForm reports whether a message has the form of a summary or notice made by a
// stage. A user message never counts as one.
func hasStageForm(m *message.Message) bool {
	if _, notice := ParseNotice(*m); notice {
		return true
	}
	return m.Role != message.RoleUser && IsSummary(*m)
}

// NewView reads the structure of a conversation in one pass. The view shares the
// messages with msgs.
func NewView(msgs []message.Message, pins Pins, cost Coster) *View {
	v := &View{Cost: cost}
	v.Extend(msgs, pins, func(i int) int { return cost.Message(msgs[i]) })
	return v
}

// Extend extends the view to msgs, which must begin with the messages of the view.
// price returns the cost of message i; it is called only for new messages.
func (v *View) Extend(msgs []message.Message, pins Pins, price func(i int) int) {
	known := len(v.Messages)
	v.Messages, v.Anchor = msgs, message.Anchor(msgs)
	if v.calls == nil {
		v.rounder, v.calls = new(message.Rounder), new(toolcall.Growing)
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

// A trait is a property of a message. Every call of the hook needs the traits of all
// messages. Edits that keep the structure of a view do not change them.
type trait uint8

const (
	traitResult  trait = 1 << iota // the message holds a tool result
	traitSummary                   // the message has the form of a summary
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

// Summary reports whether message i has the form of a summary, see [IsSummary].
func (v *View) Summary(i int) bool { return v.trait(i)&traitSummary != 0 }

func (v *View) trait(i int) trait {
	if i < len(v.traits) {
		return v.traits[i]
	}
	return traitsOf(&v.Messages[i]) // a view made by a test
}

// tools returns the calls in the view by id. Edits never change a call.
func (v *View) tools() toolcall.Index {
	if v.calls == nil {
		return toolcall.Of(v.Messages)
	}
	return v.calls.UpTo(v.Messages)
}

// number computes the round of each message and the turn of each round.
func (v *View) number() {
	v.round = make([]int, len(v.Messages))
	for r, span := range v.Rounds {
		if span.Assistant && span.Len() == 1 && v.Summary(span.Start) {
			v.Rounds[r].Assistant = false // a summary does not begin a turn
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

// Bind ties a view to a run of the engine of this module.
func (v *View) Bind(run running.Run) { v.run = run }

// SetLater sets the stages that will still work on the view. Its floor depends on them;
// see [View.Floor].
func (v *View) SetLater(stages []Stage) { v.reach = reachOf(stages) }

// Total returns the cost of the view.
func (v *View) Total() int {
	n := v.Fixed
	for _, t := range v.Tokens {
		n += t
	}
	return n
}

// TurnOf returns the number of the turn of message i, from 1.
func (v *View) TurnOf(i int) int { return v.turn[v.round[i]] + 1 }

// RoundOf returns the index of the round of message i.
func (v *View) RoundOf(i int) int { return v.round[i] }

// Unedited returns message i as it was before the current run of the engine. A result
// that this run masked is returned in full; a result that an earlier run masked is
// returned as a placeholder.
func (v *View) Unedited(i int) message.Message {
	if v.run.Before == nil {
		return v.Messages[i]
	}
	return v.run.Before(i)
}

// Origin returns the origin of part p of message i. Without a recorded edit, it takes
// the sizes from a placeholder, and the tokens from the marker of a truncation. For any
// other part it returns the current size, with Tokens -1.
func (v *View) Origin(i, p int) Origin {
	if o, ok := v.Known(i, p); ok {
		return o
	}
	part := &v.Messages[i].Parts[p]
	if k, ok := v.parseMark(i, p); ok {
		return k.Origin(true)
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

// Known returns the recorded origin of part p of message i, and false if no edit is
// recorded. It ignores the text, because any tool can write a placeholder.
func (v *View) Known(i, p int) (Origin, bool) {
	if v.Origins == nil {
		return Origin{}, false
	}
	return v.Origins(i, p)
}

// RefOf returns the reference by which a part can be recalled.
func (v *View) RefOf(p *message.Part) string {
	if v.Ref == nil {
		return p.Fingerprint().Ref()
	}
	return v.Ref(p.Fingerprint())
}

// rendered returns the text of part p of message i after an edit.
func (v *View) rendered(i, p int, segments []Segment) (string, error) {
	part := &v.Messages[i].Parts[p]
	return v.Forms.Rewrite(part.Text, segments, func() (string, json.RawMessage) { return v.tools().Answered(i, part) })
}

// Masked reports whether part p of message i is already a placeholder.
func (v *View) Masked(i, p int) bool {
	switch {
	case v.run.Masks != nil:
		if masked, known := v.run.Masks(i, p); known {
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

// parseMark recognizes a placeholder by its text alone, although any tool could have
// written that text. A placeholder with dispatch blocks has no size limit, so that it
// counts only in results of dispatch tools.
func (v *View) parseMark(i, p int) (Mark, bool) {
	k, ok := v.Forms.ParseMark(v.Messages[i].Parts[p].Text)
	if ok && k.Form == formDispatch && !v.dispatches(i, p) {
		return Mark{}, false
	}
	return k, ok
}

// OriginTokens returns the cost of the part before its first edit.
func (v *View) OriginTokens(i, p int) int {
	if o := v.Origin(i, p); o.Tokens >= 0 {
		return o.Tokens
	}
	return v.Cost.Text(v.Messages[i].Parts[p].Text)
}
