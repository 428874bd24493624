// Package anthropic reads and writes the wire of Anthropic's Messages API: a
// body whose array "messages" holds the conversation, as strings and blocks,
// and whose field "system" holds the system prompt.
//
// A block of a message is a part. A result of a tool is a part for each of its
// texts, and for each picture in it, all with the id of the call. Thinking is
// sealed. What a server's tool did stands in the assistant's message and stays
// there. A message with results alone has the role tool. One with results and
// something else is two messages, the results first.
//
// System messages in mid-conversation that have become neighbors are written
// as one with the blocks of all, since the API refuses two in a row.
//
// What was made since (a summary, a notice) is written as the user's text, and
// read as what it was.
package anthropic

import (
	"fmt"
	"sync"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/body"
	"github.com/agentcompact/compact/message/internal/meta"
	"github.com/agentcompact/compact/message/internal/splice"
	"github.com/agentcompact/compact/message/wire"
)

// Name is the name of this wire.
const Name = "anthropic"

// Wire is the wire as the rest of the module sees it.
var Wire wire.Format = format{}

// A FieldError says which field is not what the wire wants.
type FieldError = splice.FieldError

type format struct{}

func (format) Name() string { return Name }

func (format) ParseRequest(data []byte, c *wire.Cache) (wire.Request, error) {
	doc, err := c.Split(data, grammar{}.Field())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	top := body.New(data, doc.Members)
	prompt := top.JSON("system")
	list, err := splice.Read(grammar{}, data, doc, prompt, c)
	if err != nil {
		return nil, err
	}
	r := &request{List: list, about: aboutOf(top), prompt: prompt}
	list.Behind(behind(list.Messages()))
	if m := top.JSON("cache_control"); m != nil && m[0] == '{' {
		r.marks = []mark{newMark(m)}
	}
	return r, nil
}

// ParseMessage reads one message. One with results and something else stays
// one, of the role user. raw is kept and must not be modified afterwards.
func (format) ParseMessage(raw []byte) (message.Message, error) {
	if err := jsonscan.Check(raw); err != nil {
		return message.Message{}, err
	}
	m, _, err := grammar{}.Item(raw)
	return m, err
}

func (format) AppendMessage(dst []byte, m message.Message) []byte {
	if m.Wire() == Name {
		return meta.AppendSent(dst, m.Raw())
	}
	return appendMessage(dst, m, m.Role)
}

// request is a body that was read.
type request struct {
	*splice.List
	about  wire.About
	prompt []byte
	marks  []mark // of the body itself: the provider sets it at the end

	once       sync.Once
	manyMarks  bool
	wrongOrder bool // shorter ones before longer ones
	marked     []bool
}

func (*request) Format() wire.Format { return Wire }
func (r *request) About() wire.About { return r.about }

// grammar is this wire as a list of items.
type grammar struct{}

func (grammar) Name() string    { return Name }
func (grammar) Field() string   { return "messages" }
func (grammar) Content() string { return "content" }

// Prompt takes a string or an array of blocks.
func (grammar) Prompt(raw []byte) ([]byte, error) {
	switch {
	case raw[0] != '"' && raw[0] != '[' && string(raw) != "null":
		return nil, &FieldError{Field: "system", Reason: "must be a string or an array of blocks"}
	case len(raw) == len(`""`) || string(raw) == "null":
		return nil, nil
	}
	return raw, nil
}

func (grammar) Blocks(item []byte) []splice.Block { return content(item) }

// AppendMade writes what was made since. Nothing but calls makes it the
// assistant's: a summary or a notice at the beginning, where the wire wants
// the user's message, is the user's.
func (grammar) AppendMade(dst []byte, m message.Message) []byte {
	return appendMessage(dst, m, madeRole(m))
}
