package responses

import (
	"encoding/json"
	"fmt"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// ParseMessage reads one message in the form of [AppendMessage]: an item, or the
// items of a message as {"items":[…]}. raw is kept and must not be modified
// afterwards.
func ParseMessage(raw []byte) (message.Message, error) {
	doc, err := jsonscan.Split(raw, "items")
	if err != nil {
		return message.Message{}, err
	}
	if n := len(doc.List); n > 0 && !isItem(doc.Members) {
		raw = raw[doc.List[0].Start:doc.List[n-1].End]
	}
	return parseGroup(raw)
}

func isItem(members []jsonscan.Member) bool {
	for _, m := range members {
		if m.Key == "type" || m.Key == "role" {
			return true
		}
	}
	return false
}

// parseGroup reads the items of one message, with the bytes between them.
func parseGroup(raw []byte) (message.Message, error) {
	p := parser{data: raw}
	for at := 0; at < len(raw); {
		item, err := jsonscan.Value(raw, at)
		if err != nil {
			return message.Message{}, err
		}
		if err := p.item(item); err != nil {
			return message.Message{}, err
		}
		if at = jsonscan.Space(raw, item.End); at < len(raw) && raw[at] == ',' {
			at = jsonscan.Space(raw, at+1)
		}
	}
	return message.FromWire(p.m, Name, raw, p.spans).Slotted(p.slots), nil
}

// parser reads items into one message.
type parser struct {
	data  []byte
	m     message.Message
	spans []message.Span
	slots map[int]message.Slot // for the parts that a text may replace
}

// fields holds the members of an object.
type fields struct {
	at jsonscan.Span
	by map[string]jsonscan.Span
}

func (p *parser) fields(at jsonscan.Span) (fields, error) {
	f := fields{at: at, by: map[string]jsonscan.Span{}}
	if p.data[at.Start] != '{' {
		return f, &wire.FieldError{Reason: "an item is a JSON object"}
	}
	err := jsonscan.Object(p.data, at, func(m jsonscan.Member) error {
		f.by[m.Key] = m.Value
		return nil
	})
	return f, err
}

// raw returns the bytes of a member; nil = null or absent.
func (p *parser) raw(f fields, key string) json.RawMessage {
	raw := f.by[key].Of(p.data)
	if len(raw) == 0 || string(raw) == "null" {
		return nil
	}
	return raw
}

// text returns a member that is a string; "" = null or absent.
func (p *parser) text(f fields, key string) (string, error) {
	raw := p.raw(f, key)
	if raw == nil {
		return "", nil
	}
	s, err := jsonscan.Unquote(raw)
	if err != nil {
		return "", &wire.FieldError{Field: key, Reason: "must be a string"}
	}
	return s, nil
}

func (p *parser) item(at jsonscan.Span) error {
	f, err := p.fields(at)
	if err != nil {
		return err
	}
	kind, err := p.text(f, "type")
	if err != nil {
		return err
	}
	if kind == "" || kind == "message" {
		return p.message(f)
	}
	switch {
	case kind == "mcp_approval_response" || strings.HasSuffix(kind, "_call_output"):
		p.role(message.RoleTool)
		return p.output(kind, f)
	case lasting[kind]:
		p.m.Protected = true
		fallthrough
	default:
		if classes[kind].model() || strings.HasSuffix(kind, "_call") {
			p.role(message.RoleAssistant)
		}
		p.role(message.Role(kind))
	}
	switch kind {
	case "reasoning":
		return p.reasoning(f)
	case "image_generation_call":
		p.add(message.Part{Kind: message.KindImage, Args: at.Of(p.data), Media: &message.Media{Bytes: at.End - at.Start}, Sealed: true}, jsonscan.Span{})
		return nil
	case "function_call", "custom_tool_call", "local_shell_call", "shell_call", "apply_patch_call", "computer_call", "mcp_approval_request":
		return p.call(kind, f)
	}
	p.other(at)
	return nil
}

// role sets the role of the message; the first item determines it.
func (p *parser) role(r message.Role) {
	if p.m.Role == "" {
		p.m.Role = r
	}
}

func (p *parser) add(part message.Part, span jsonscan.Span) {
	p.m.Parts, p.spans = append(p.m.Parts, part), append(p.spans, span)
}

// other adds an item of unknown form, which is kept or removed as a whole.
func (p *parser) other(at jsonscan.Span) {
	p.add(message.Part{Kind: message.KindOther, Args: at.Of(p.data), Sealed: true}, jsonscan.Span{})
}

// message reads a message item of any role.
func (p *parser) message(f fields) error {
	role, err := p.text(f, "role")
	if err != nil {
		return err
	}
	if role == "" {
		if p.raw(f, "type") != nil {
			return &wire.FieldError{Field: "role", Reason: "is missing"}
		}
		p.role("item")
		p.other(f.at)
		return nil
	}
	p.role(message.Role(role))
	return p.content("content", f.by["content"], message.Part{Kind: message.KindText})
}

// reasoning reads an item that can't be edited. Its text is the readable part, and Args
// is the encrypted part.
func (p *parser) reasoning(f fields) error {
	part := message.Part{Kind: message.KindReasoning, Sealed: true, Args: p.raw(f, "encrypted_content")}
	var texts []string
	for _, key := range []string{"summary", "content"} {
		list := p.raw(f, key)
		if list == nil || list[0] != '[' {
			continue
		}
		err := jsonscan.Array(p.data, f.by[key], func(i int, e jsonscan.Span) error {
			if p.data[e.Start] != '{' {
				return nil
			}
			in, err := p.fields(e)
			if err != nil {
				return err
			}
			s, err := p.text(in, "text")
			if err != nil {
				return wire.In(key, i, err)
			}
			texts = append(texts, s)
			return nil
		})
		if err != nil {
			return err
		}
	}
	part.Text = strings.Join(texts, "\n")
	p.add(part, jsonscan.Span{})
	return nil
}

// call reads an item that the client answers.
func (p *parser) call(kind string, f fields) (err error) {
	part := message.Part{Kind: message.KindToolCall, Name: kind}
	id, args := "call_id", "action"
	switch kind {
	case "function_call":
		args = "arguments"
	case "custom_tool_call":
		args = "input"
	case "apply_patch_call":
		args = "operation"
	case "mcp_approval_request":
		id, args = "id", "arguments"
	}
	if part.CallID, err = p.text(f, id); err != nil {
		return err
	}
	if p.raw(f, "name") != nil {
		if part.Name, err = p.text(f, "name"); err != nil {
			return err
		}
	}
	if raw := p.raw(f, args); raw != nil && raw[0] == '"' {
		s, err := p.text(f, args)
		if err != nil {
			return err
		}
		part.Args = json.RawMessage(s)
	} else if raw != nil {
		part.Args = raw
	} else if raw := p.raw(f, "actions"); raw != nil {
		part.Args = raw
	}
	p.add(part, jsonscan.Span{})
	return nil
}

// output reads a tool result. It adds at least one result part, so that the item is
// paired with its call.
func (p *parser) output(kind string, f fields) (err error) {
	part := message.Part{Kind: message.KindToolResult}
	id := "call_id"
	switch {
	case kind == "mcp_approval_response":
		id = "approval_request_id"
	case kind == "local_shell_call_output" && p.raw(f, id) == nil:
		id = "id"
	}
	if part.CallID, err = p.text(f, id); err != nil {
		return err
	}
	had := len(p.m.Parts)
	if err := p.content("output", f.by["output"], part); err != nil {
		return err
	}
	for _, q := range p.m.Parts[had:] {
		if q.Kind == message.KindToolResult {
			return nil
		}
	}
	p.add(part, jsonscan.Span{})
	return nil
}

// content reads a string, or an array of parts. part is the template for a text.
func (p *parser) content(key string, at jsonscan.Span, part message.Part) error {
	raw := at.Of(p.data)
	switch {
	case len(raw) == 0 || string(raw) == "null":
		return nil
	case raw[0] == '"':
		return p.str(key, at, part)
	case raw[0] == '[':
		return jsonscan.Array(p.data, at, func(i int, e jsonscan.Span) error {
			if err := p.contentPart(e, part); err != nil {
				return wire.In(key, i, err)
			}
			p.slot(e)
			return nil
		})
	case raw[0] == '{' && part.Kind == message.KindToolResult: // a screenshot
		return p.contentPart(at, part)
	}
	return &wire.FieldError{Field: key, Reason: fmt.Sprintf("must be a string or an array of parts, not %.20s", raw)}
}

func (p *parser) str(key string, at jsonscan.Span, part message.Part) (err error) {
	if part.Text, err = jsonscan.Unquote(at.Of(p.data)); err != nil {
		return &wire.FieldError{Field: key, Reason: "must be a string"}
	}
	p.add(part, at)
	return nil
}

// typeOf returns the member "type" of an object, unchanged.
func typeOf(raw []byte) (found []byte) {
	_ = jsonscan.Object(raw, jsonscan.Span{End: len(raw)}, func(m jsonscan.Member) error {
		if m.Key == "type" {
			found = m.Value.Of(raw)
		}
		return nil
	})
	return found
}
