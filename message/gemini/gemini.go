// Package gemini reads and writes the wire of Gemini's generateContent: a body whose
// array "contents" holds the conversation, as contents of parts, and whose field
// "systemInstruction" holds the system prompt. Names are read in the spelling of JSON
// and in the spelling of protocol buffers (function_call).
//
// Each part of a content becomes a part. The pictures in a function response become
// separate parts, with the id of the call. Thoughts, and parts with a thought
// signature, are sealed. A content with only responses has the role tool. A content of
// responses and other parts becomes two messages, the responses first.
//
// Calls and responses without ids get ids such as "read_file#2": the second
// response of this name in a content answers the second call of this name.
// These ids are not sent.
//
// The text of a response is its string output, result, error or content, if there is one such
// string and the rest of the response is short. For any other response the text is its JSON, and an
// edit replaces the response by {"output": text}.
//
// A message that a compaction made (a summary, a notice) is written as a content of
// the user, and gets its original role back when it is read.
package gemini

import (
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/body"
	"github.com/agentcompact/compact/message/internal/meta"
	"github.com/agentcompact/compact/message/internal/splice"
	"github.com/agentcompact/compact/message/wire"
)

// Name is the name of this wire.
const Name = "gemini"

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
	list, err := splice.Read(grammar{}, data, doc, top.JSON("systemInstruction", "system_instruction"), c)
	if err != nil {
		return nil, err
	}
	return &request{List: list, about: aboutOf(top)}, nil
}

// ParseMessage reads one content. A content with responses and something else
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
	return appendContent(dst, m, roleOnWire(m.Role))
}

// request is a body that was read.
type request struct {
	*splice.List
	about wire.About
}

func (*request) Format() wire.Format { return Wire }
func (r *request) About() wire.About { return r.about }

func aboutOf(b body.Body) wire.About {
	a := b.About()
	a.Tools = b.JSON("tools")
	for _, key := range []string{"generationConfig", "generation_config"} {
		a.MaxOutput = max(a.MaxOutput, maxOutput(b.JSON(key)))
	}
	if a.Metadata == nil {
		a.Metadata = b.Texts("labels")
	}
	a.Cached = b.Text("cachedContent", "cached_content") // the cached content is the beginning of the prompt
	return a
}

func maxOutput(config []byte) int {
	doc, err := jsonscan.Split(config, "")
	if err != nil {
		return 0
	}
	return body.New(config, doc.Members).Int("maxOutputTokens", "max_output_tokens")
}

// grammar is this wire as a list of contents.
type grammar struct{}

func (grammar) Name() string    { return Name }
func (grammar) Field() string   { return "contents" }
func (grammar) Content() string { return "parts" }

// Prompt accepts a content of any role.
func (grammar) Prompt(raw []byte) ([]byte, error) {
	h, err := readHead(raw)
	if err != nil {
		return nil, &FieldError{Field: "systemInstruction", Reason: "must be a content, an object with parts"}
	}
	if h.Content.End == 0 {
		return nil, nil
	}
	return h.Content.Of(raw), nil
}

func (grammar) Blocks(item []byte) []splice.Block { return parts(item) }

// AppendMade writes a message that a compaction made. Only a message with calls
// is written in the model's role. A summary or a notice is written in the
// user's role, because the wire requires a user's content at the beginning.
func (grammar) AppendMade(dst []byte, m message.Message) []byte {
	return appendContent(dst, m, madeRole(m))
}
