package anthropic

import (
	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
)

// parser reads one message.
type parser struct {
	splice.Parser
	user bool // the item is the user's, so a text may replace its media
}

func (grammar) Item(raw []byte) (m message.Message, mixed bool, err error) {
	h, err := readHead(raw)
	if err != nil {
		return m, false, err
	}
	role, err := jsonscan.Unquote(h.Role.Of(raw))
	if err != nil || role == "" {
		return m, false, &FieldError{Field: "role", Reason: "must be a string: user or assistant"}
	}
	p := parser{Parser: splice.NewParser(raw, h), user: role == "user"}
	if err := p.content(h.Content); err != nil {
		return m, false, err
	}
	p.Message.Role = p.role(role)
	p.protect()
	return message.FromWire(p.Message, Name, raw, p.Spans).Slotted(p.Slots), role == "user" && p.Results && p.Rest, nil
}

func readHead(raw []byte) (splice.Head, error) { return splice.ReadHead(raw, grammar{}.Content()) }

// content returns the blocks of an item, or none for a string.
func content(raw []byte) []splice.Block {
	h, err := readHead(raw)
	if err != nil || h.Content.End == 0 || raw[h.Content.Start] != '[' {
		return nil
	}
	var blocks []splice.Block
	err = jsonscan.Array(raw, h.Content, func(_ int, at jsonscan.Span) error {
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
	switch c := p.Data[at.Start]; {
	case c == '"':
		p.Rest = true
		return p.Text(message.Part{Kind: message.KindText}, at)
	case c == '[':
		return jsonscan.Array(p.Data, at, func(_ int, elem jsonscan.Span) error { return p.block(elem) })
	case c == 'n':
		return nil
	}
	return &FieldError{Field: "content", Reason: "must be a string or an array of blocks"}
}

// role returns the neutral role. A message with only results gets the role tool. A
// summary or notice that was written as a user's text gets its original role back.
func (p *parser) role(wire string) message.Role {
	if wire != "user" || len(p.Message.Parts) == 0 {
		return message.Role(wire)
	}
	if len(p.Message.Parts) == 1 && p.Message.Parts[0].Kind == message.KindText {
		return message.FrameRole(p.Message.Parts[0].Text)
	}
	if p.Rest {
		return message.RoleUser
	}
	return message.RoleTool
}

// protect protects the messages that the provider needs: its compaction, and changes
// of the tools in a system message.
func (p *parser) protect() {
	for i := range p.Message.Parts {
		if p.Message.Parts[i].Kind != message.KindOther {
			continue
		}
		if p.Message.Role == message.RoleSystem || p.Message.Parts[i].Name == compaction {
			p.Message.Protected = true
		}
	}
}
