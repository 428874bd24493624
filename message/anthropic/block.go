package anthropic

import (
	"encoding/json"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// compaction is the type of the block that replaces messages that the provider
// compacted itself.
const compaction = "compaction"

// block holds the positions of a block's members that this package uses.
type block struct {
	data                                  []byte
	at                                    jsonscan.Span
	kind                                  string // "" if the block is not an object
	text, id, name, input, use, thinking  jsonscan.Span
	content, source, title, cites, marker jsonscan.Span // marker: all of the member cache_control
	mark                                  jsonscan.Span // value of that member
}

func (b *block) read(at jsonscan.Span) error {
	b.at = at
	if b.data[at.Start] != '{' {
		return nil
	}
	return jsonscan.Object(b.data, at, b.member)
}

func (b *block) member(m jsonscan.Member) (err error) {
	switch m.Key {
	case "type":
		b.kind, _ = jsonscan.Unquote(m.Value.Of(b.data)) // not a string: unknown kind
	case "text":
		b.text = b.string(m.Value)
	case "id":
		b.id = b.string(m.Value)
	case "name":
		b.name = b.string(m.Value)
	case "input":
		b.input = m.Value
	case "tool_use_id":
		b.use = b.string(m.Value)
	case "thinking":
		b.thinking = b.string(m.Value)
	case "content":
		b.content = m.Value
	case "source":
		b.source = m.Value
	case "title":
		b.title = b.string(m.Value)
	case "citations":
		b.cites = m.Value
	case "cache_control":
		b.marker, b.mark = m.Whole, m.Value
	}
	return nil
}

// string returns the span, or the zero Span if the value is not a string.
func (b *block) string(at jsonscan.Span) jsonscan.Span {
	if b.data[at.Start] != '"' {
		return jsonscan.Span{}
	}
	return at
}

func (b *block) decoded(at jsonscan.Span) string {
	if at.End == 0 {
		return ""
	}
	s, _ := jsonscan.Unquote(at.Of(b.data)) // the value is a string in valid JSON
	return s
}

// block reads one block of a message.
func (p *parser) block(at jsonscan.Span) error {
	b := block{data: p.Data}
	if err := b.read(at); err != nil {
		return err
	}
	result := b.kind == "tool_result"
	p.Results, p.Rest = p.Results || result, p.Rest || !result
	switch {
	case result:
		return p.result(&b)
	case b.kind == "text" && b.text.End != 0:
		return p.Text(message.Part{Kind: message.KindText, Sealed: b.hasCitations()}, b.text)
	case b.kind == "thinking" && b.thinking.End != 0:
		return p.Text(message.Part{Kind: message.KindReasoning, Sealed: true}, b.thinking)
	case b.kind == "redacted_thinking":
		p.Add(message.Part{Kind: message.KindReasoning, Args: b.verbatim(), Sealed: true}, jsonscan.Span{})
	case b.kind == "tool_use":
		p.Add(message.Part{Kind: message.KindToolCall, CallID: b.decoded(b.id), Name: b.decoded(b.name), Args: b.args()}, jsonscan.Span{})
	default:
		p.piece(&b, "")
	}
	return nil
}

// hasCitations reports whether a text has citations. Citations point into the text, and some
// are encrypted.
func (b *block) hasCitations() bool {
	return b.cites.End != 0 && b.data[b.cites.Start] == '[' && b.data[jsonscan.Space(b.data, b.cites.Start+1)] != ']'
}

// args returns the input of a call, decoded if a client wrote it as a string.
func (b *block) args() json.RawMessage {
	if b.isString(b.input) {
		return json.RawMessage(b.decoded(b.input))
	}
	return json.RawMessage(b.input.Of(b.data))
}

func (b *block) isString(at jsonscan.Span) bool { return at.End != 0 && b.data[at.Start] == '"' }

// result reads a tool result into a part for each text and each other block, all with
// the id of the call.
func (p *parser) result(b *block) error {
	id := b.decoded(b.use)
	part := message.Part{Kind: message.KindToolResult, CallID: id}
	if b.isString(b.content) {
		return p.Text(part, b.content)
	}
	inner, texts, err := b.inner()
	if err != nil {
		return err
	}
	if texts == 0 { // an empty text: it answers the call nevertheless
		p.Add(part, jsonscan.Span{})
	}
	for i := range inner {
		if in := &inner[i]; in.plain() {
			err = p.Text(part, in.text)
		} else {
			p.piece(in, id)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// inner returns the blocks in the result of a tool.
func (b *block) inner() (inner []block, texts int, err error) {
	if b.content.End == 0 || b.data[b.content.Start] != '[' {
		return nil, 0, nil
	}
	err = jsonscan.Array(b.data, b.content, func(_ int, at jsonscan.Span) error {
		in := block{data: b.data}
		err := in.read(at)
		if inner = append(inner, in); in.plain() {
			texts++
		}
		return err
	})
	return inner, texts, err
}

func (b *block) plain() bool { return b.kind == "text" && b.text.End != 0 }
