package gemini

import (
	"strconv"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
)

// parser reads one content; data is valid JSON.
type parser struct {
	data    []byte
	m       message.Message
	spans   []message.Span
	objects []int          // parts whose span is that of an object
	nth     map[string]int // of the calls, and of the responses, of a name that have no id

	// What the parts are.
	responses, rest bool
}

// head is what a content has besides its parts.
type head struct {
	role, parts, name, meta jsonscan.Span
}

// parse reads an item as one message.
func parse(raw []byte) (message.Message, error) {
	m, _, err := read(raw)
	return m, err
}

// read reads an item as one message and says whether it is the user's with
// responses and something else.
func read(raw []byte) (m message.Message, mixed bool, err error) {
	h, err := readHead(raw)
	if err != nil {
		return m, false, err
	}
	role := "user" // the default
	if h.role.End != 0 && string(h.role.Of(raw)) != "null" {
		if role, err = jsonscan.Unquote(h.role.Of(raw)); err != nil {
			return m, false, &FieldError{Field: "role", Reason: "must be a string: user or model"}
		}
	}
	p := parser{data: raw}
	p.m.Name, _ = jsonscan.Unquote(h.name.Of(raw)) // no field of the wire: what AppendMessage writes
	p.m.Protected = splice.Protected(raw, h.meta)
	if err := eachPart(raw, h.parts, p.part); err != nil {
		return m, false, err
	}
	p.m.Role = p.role(role)
	m = message.FromWire(p.m, Name, raw, p.spans).Wrapped(stub, p.objects...)
	return m, role != "model" && p.responses && p.rest, nil
}

func readHead(raw []byte) (h head, err error) {
	whole, err := jsonscan.Value(raw, 0)
	if err != nil {
		return h, err
	}
	if raw[whole.Start] != '{' {
		return h, &FieldError{Reason: "a content is a JSON object"}
	}
	err = jsonscan.Object(raw, whole, func(m jsonscan.Member) error {
		switch m.Key {
		case "role":
			h.role = m.Value
		case "parts":
			h.parts = m.Value
		case "name":
			h.name = m.Value
		case "meta":
			h.meta = m.Value
		}
		return nil
	})
	return h, err
}

// eachPart calls f for each part. One part may stand without an array.
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
	err = eachPart(raw, h.parts, func(at jsonscan.Span) error {
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

// role is the neutral role: responses alone are the tool's, and what we wrote
// as the user's text is what it was.
func (p *parser) role(wire string) message.Role {
	switch {
	case wire == "model":
		return message.RoleAssistant
	case wire != "user" && wire != "function":
		return message.Role(wire)
	case len(p.m.Parts) == 0:
		return message.RoleUser
	case !p.rest:
		return message.RoleTool
	case len(p.m.Parts) == 1 && p.m.Parts[0].Kind == message.KindText && !p.m.Parts[0].Sealed:
		return message.FrameRole(p.m.Parts[0].Text)
	}
	return message.RoleUser
}

// id returns the id of a call or a response, and makes one where there is
// none: by the name, and which of this name it is.
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
