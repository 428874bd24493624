// Package splice is the common part of the wires that list the conversation in one
// array of the request body and have a separate field for the system prompt. The
// items of the array become messages, and the edited messages are written back
// between the unchanged bytes.
//
// An item that holds tool results and something else becomes two messages, the
// results and the rest, so that one can be removed without the other. If both are
// still there, side by side, they become one item again.
package splice

import (
	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/meta"
	"github.com/agentcompact/compact/message/wire"
)

// A Grammar holds the differences between the wires. Its input is always valid JSON.
type Grammar interface {
	// Name is the wire's name, Field the name of the list in a body, Content the
	// name of the blocks in an item.
	Name() string
	Field() string
	Content() string

	// Item reads one item of the list as one message, and reports whether it is a user's
	// item that mixes tool results with other blocks. It keeps raw.
	Item(raw []byte) (m message.Message, mixed bool, err error)

	// Prompt returns the value of the field of the system prompt as the content of an
	// item; nil = empty.
	Prompt(raw []byte) (content []byte, err error)

	// Blocks returns the positions of the blocks of an item, in order.
	Blocks(item []byte) []Block

	// AppendMade writes a message that was made in Go as an item.
	AppendMade(dst []byte, m message.Message) []byte
}

// A FieldError names the field of a body or a message that violates the format of
// the wire.
type FieldError = wire.FieldError

// A List is a parsed body. It is immutable.
type List struct {
	grammar Grammar
	data    []byte
	at      jsonscan.Span
	items   []jsonscan.Element
	msgs    []message.Message
	of      []int // the item of each message; prompt = the system prompt
	first   []int // first message of each item, and the number of messages at the end
	meta    bool  // some item may have the field meta
}

// prompt is the item index of the system prompt's message.
const prompt = -1

// Read reads the items of a split body. system is the field of the system prompt;
// nil = none.
func Read(g Grammar, body []byte, doc jsonscan.Document, system []byte, c *wire.Cache) (*List, error) {
	if err := checkField(g.Field(), doc); err != nil {
		return nil, err
	}
	n := len(doc.List)
	l := &List{grammar: g, data: body, at: doc.At, items: doc.List}
	l.msgs, l.of, l.first = make([]message.Message, 0, n+1), make([]int, 0, n+1), make([]int, 0, n+1)
	if system != nil {
		msgs, err := c.Messages(g.Name()+" system", system, func(raw []byte) ([]message.Message, error) { return readPrompt(g, raw) })
		if err != nil {
			return nil, err
		}
		l.add(prompt, msgs)
	}
	name, parse := g.Name(), meta.Without(func(raw []byte) ([]message.Message, error) { return messages(g, raw) })
	for i := range l.items {
		msgs, err := c.Messages(name, l.items[i].Of(body), parse)
		if err != nil {
			return nil, wire.In(g.Field(), i, err)
		}
		l.first = append(l.first, len(l.msgs))
		l.add(i, msgs)
		l.meta = l.meta || len(msgs) == 1 && len(msgs[0].Raw()) != l.items[i].End-l.items[i].Start || len(msgs) > 1 && meta.In(l.items[i].Of(body))
	}
	l.first = append(l.first, len(l.msgs))
	return l, nil
}

// checkField requires exactly one list: if there are two, it is unknown which one the
// provider reads.
func checkField(field string, doc jsonscan.Document) error {
	n := 0
	for i := range doc.Members {
		if doc.Members[i].Key == field {
			n++
		}
	}
	switch {
	case n > 1:
		return &FieldError{Field: field, Reason: "occurs twice"}
	case doc.At.End == 0:
		return &FieldError{Field: field, Reason: "is missing, or is not an array"}
	}
	return nil
}

func (l *List) add(item int, msgs []message.Message) {
	for i := range msgs {
		l.msgs, l.of = append(l.msgs, msgs[i]), append(l.of, item)
	}
}

// Behind records that the provider itself has compacted the messages before message s.
// The provider no longer reads them, so they stay unchanged and cost nothing.
func (l *List) Behind(s int) {
	for i := range l.msgs[:s] {
		if l.of[i] != prompt {
			l.msgs[i].Protected, l.msgs[i].Unread = true, true
		}
	}
}

// Messages returns the system prompt, if any, and the messages of the items. The
// slice is shared.
func (l *List) Messages() []message.Message { return l.msgs }

// Prompted reports whether the first message is the system prompt.
func (l *List) Prompted() bool { return len(l.of) > 0 && l.of[0] == prompt }

// Body returns the original body.
func (l *List) Body() []byte { return l.data }

// Items returns the number of items.
func (l *List) Items() int { return len(l.items) }

// Item returns the item with this index in the form in which it is sent: as in the
// body, without the field meta.
func (l *List) Item(i int) []byte {
	item := l.items[i].Of(l.data)
	if !l.meta {
		return item
	}
	item, _ = meta.Strip(item)
	return item
}

// First reports whether message s of the request is in the first item.
func (l *List) First(s int) bool { return l.of[s] == 0 }

// Role returns the role of an item on the wire, or "" if it has none.
func (l *List) Role(i int) string {
	switch raw := l.items[i].Role.Of(l.data); string(raw) {
	case `"user"`:
		return "user"
	case `"assistant"`:
		return "assistant"
	case `"model"`:
		return "model"
	default:
		role, _ := jsonscan.Unquote(raw) // not a string: no role
		return role
	}
}
