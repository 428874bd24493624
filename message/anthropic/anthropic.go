// Package anthropic reads and writes the wire of Anthropic's Messages API: a
// body whose array "messages" holds the conversation, as strings and blocks,
// and whose field "system" holds the system prompt.
//
// Each block of a message is a part. A tool result becomes a part for each of
// its texts and pictures, all with the id of the call. Thinking is sealed. The
// blocks of a server's tool stay in the assistant's message. A message with
// only results has the role tool. A message of results and other blocks becomes
// two messages, the results first.
//
// System messages in mid-conversation that have become neighbors are written as one
// message with all blocks, because the API refuses two in a row.
//
// A message that a compaction made (a summary, a notice) is written as a user's text,
// and gets its original role back when it is read.
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

// Wire is the wire in the form that the rest of the module uses.
var Wire wire.Format = format{}

// A FieldError names the field that violates the format of the wire.
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

// ParseMessage reads one message. A message with results and something else
// stays one message, with the role user. raw is kept and must not be modified
// afterwards.
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
	marks  []mark // marks of the body itself: the provider sets such a mark at the end

	once                sync.Once
	hasMarks, manyMarks bool
	wrongOrder          bool // shorter-lived marks come before longer-lived ones
	marked              []bool
	toolMark            bool // the tools have a mark
	ownMarks            int  // marks of the request
}

func (*request) Format() wire.Format { return Wire }
func (r *request) About() wire.About { return r.about }

// grammar is this wire as a list of items.
type grammar struct{}

func (grammar) Name() string    { return Name }
func (grammar) Field() string   { return "messages" }
func (grammar) Content() string { return "content" }

// Prompt accepts a string or an array of blocks.
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

// AppendMade writes a message that a compaction made. Only a message with calls
// is written in the assistant's role. A summary or a notice is written in the
// user's role, because the wire requires a user message at the beginning.
func (grammar) AppendMade(dst []byte, m message.Message) []byte {
	return appendMessage(dst, m, madeRole(m))
}
