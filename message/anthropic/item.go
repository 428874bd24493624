package anthropic

import (
	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
)

// parser reads one message; data is valid JSON.
type parser struct {
	data  []byte
	m     message.Message
	spans []message.Span
	// What the blocks are.
	results, rest bool
}

// head is what a message has besides its blocks.
type head struct {
	role, content, name, meta jsonscan.Span
}

// parse reads an item as one message.
func parse(raw []byte) (message.Message, error) {
	m, _, err := read(raw)
	return m, err
}

// read reads an item as one message and says whether it is the user's with
// results and something else.
func read(raw []byte) (m message.Message, mixed bool, err error) {
	h, err := readHead(raw)
	if err != nil {
		return m, false, err
	}
	p := parser{data: raw}
	role, err := jsonscan.Unquote(h.role.Of(raw))
	if err != nil || role == "" {
		return m, false, &FieldError{Field: "role", Reason: "must be a string: user or assistant"}
	}
	p.m.Name, _ = jsonscan.Unquote(h.name.Of(raw)) // no field of the wire: what AppendMessage writes
	p.m.Protected = splice.Protected(raw, h.meta)
	if err := p.content(h.content); err != nil {
		return m, false, err
	}
	p.m.Role = p.role(role)
	p.protect()
	return message.FromWire(p.m, Name, raw, p.spans), role == "user" && p.results && p.rest, nil
}

func readHead(raw []byte) (h head, err error) {
	whole, err := jsonscan.Value(raw, 0)
	if err != nil {
		return h, err
	}
	if raw[whole.Start] != '{' {
		return h, &FieldError{Reason: "a message is a JSON object"}
	}
	err = jsonscan.Object(raw, whole, func(m jsonscan.Member) error {
		switch m.Key {
		case "role":
			h.role = m.Value
		case "content":
			h.content = m.Value
		case "name":
			h.name = m.Value
		case "meta":
			h.meta = m.Value
		}
		return nil
	})
	return h, err
}

// content returns the blocks of an item; none where it is a string.
func content(raw []byte) []splice.Block {
	h, err := readHead(raw)
	if err != nil || h.content.End == 0 || raw[h.content.Start] != '[' {
		return nil
	}
	var blocks []splice.Block
	err = jsonscan.Array(raw, h.content, func(_ int, at jsonscan.Span) error {
		b := block{data: raw}
		if err := b.read(at); err != nil {
			return err
		}
		blocks = append(blocks, splice.Block{At: at, Result: b.kind == "tool_result"})
		return nil
	})
	if err != nil {
		return nil
	}
	return blocks
}

// content reads a string, an array of blocks, or nothing.
func (p *parser) content(at jsonscan.Span) error {
	if at.End == 0 {
		return nil
	}
	switch c := p.data[at.Start]; {
	case c == '"':
		p.rest = true
		return p.text(message.Part{Kind: message.KindText}, at)
	case c == '[':
		return jsonscan.Array(p.data, at, func(_ int, elem jsonscan.Span) error { return p.block(elem) })
	case c == 'n':
		return nil
	}
	return &FieldError{Field: "content", Reason: "must be a string or an array of blocks"}
}

// role is the neutral role: results alone are the tool's, and what we wrote as
// the user's text is what it was.
func (p *parser) role(wire string) message.Role {
	if wire != "user" || len(p.m.Parts) == 0 {
		return message.Role(wire)
	}
	if len(p.m.Parts) == 1 && p.m.Parts[0].Kind == message.KindText {
		return message.FrameRole(p.m.Parts[0].Text)
	}
	if p.rest {
		return message.RoleUser
	}
	return message.RoleTool
}

// protect keeps what the provider's own machinery needs: its compaction, and
// changes of the tools in a system message.
func (p *parser) protect() {
	for i := range p.m.Parts {
		if p.m.Parts[i].Kind != message.KindOther {
			continue
		}
		if p.m.Role == message.RoleSystem || p.m.Parts[i].Name == compaction {
			p.m.Protected = true
		}
	}
}

// text adds a part whose text is the JSON string at a span.
func (p *parser) text(part message.Part, at jsonscan.Span) error {
	s, err := jsonscan.Unquote(at.Of(p.data))
	if err != nil {
		return err
	}
	part.Text = s
	p.add(part, at)
	return nil
}

func (p *parser) add(part message.Part, at jsonscan.Span) {
	p.m.Parts, p.spans = append(p.m.Parts, part), append(p.spans, at)
}
