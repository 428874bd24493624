package gemini

import (
	"strconv"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
)

// parser reads one content.
type parser struct {
	splice.Parser
	user    bool           // the content is the user's, so a text may replace its media
	objects []int          // parts whose span is an object
	nth     map[string]int // number of calls, and of responses, without an id, by name
}

func (grammar) Item(raw []byte) (m message.Message, mixed bool, err error) {
	h, err := readHead(raw)
	if err != nil {
		return m, false, err
	}
	role := "user" // the default
	if h.Role.End != 0 && string(h.Role.Of(raw)) != "null" {
		if role, err = jsonscan.Unquote(h.Role.Of(raw)); err != nil {
			return m, false, &FieldError{Field: "role", Reason: "must be a string: user or model"}
		}
	}
	p := parser{Parser: splice.NewParser(raw, h), user: role != "model"}
	if err := eachPart(raw, h.Content, p.part); err != nil {
		return m, false, err
	}
	p.Message.Role = p.role(role)
	m = message.FromWire(p.Message, Name, raw, p.Spans).Wrapped(stub, p.objects...).Slotted(p.Slots)
	return m, role != "model" && p.Results && p.Rest, nil
}

func readHead(raw []byte) (splice.Head, error) { return splice.ReadHead(raw, grammar{}.Content()) }

// eachPart calls f for each part. A single part may also be given without an array.
func eachPart(raw []byte, at jsonscan.Span, f func(at jsonscan.Span) error) error {
	if at.End == 0 {
		return nil
	}
	switch raw[at.Start] {
	case '{':
		return f(at)
	case '[':
		return jsonscan.Array(raw, at, func(_ int, elem jsonscan.Span) error { return f(elem) })
	case 'n':
		return nil
	}
	return &FieldError{Field: "parts", Reason: "must be an array of parts"}
}

// parts returns the parts of an item.
func parts(raw []byte) []splice.Block {
	h, err := readHead(raw)
	if err != nil {
		return nil
	}
	var blocks []splice.Block
	err = eachPart(raw, h.Content, func(at jsonscan.Span) error {
		b := part{data: raw}
		err := b.read(at)
		blocks = append(blocks, splice.Block{At: at, Result: b.response.End != 0})
		return err
	})
	if err != nil {
		return nil
	}
	return blocks
}

// role returns the neutral role. A message with only responses gets the role tool. A
// summary or notice that was written as a user's text gets its original role back.
func (p *parser) role(wire string) message.Role {
	switch {
	case wire == "model":
		return message.RoleAssistant
	case wire != "user" && wire != "function":
		return message.Role(wire)
	case len(p.Message.Parts) == 0:
		return message.RoleUser
	case !p.Rest:
		return message.RoleTool
	case len(p.Message.Parts) == 1 && p.Message.Parts[0].Kind == message.KindText && !p.Message.Parts[0].Sealed:
		return message.FrameRole(p.Message.Parts[0].Text)
	}
	return message.RoleUser
}

// id returns the id of a call or a response. A call without an id gets one, made from
// the name and the number among the calls with this name.
func (p *parser) id(id, name, side string) string {
	if id != "" {
		return id
	}
	if p.nth == nil {
		p.nth = map[string]int{}
	}
	p.nth[side+name]++
	return name + "#" + strconv.Itoa(p.nth[side+name])
}
