// Package openai reads messages and requests of the OpenAI chat-completions
// wire and writes them back: kept messages byte for byte, edited ones with
// exactly one JSON string replaced. [Wire] is the whole of it; the functions
// read and write single messages and files of them.
//
// The key "meta" of a message belongs to this package: {"meta":{"protected":true}}
// protects the message. It stays in files ([AppendJSONL]) and is cut out of
// what goes to a provider ([AppendMessage]).
package openai

import (
	"encoding/json"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// Name is the name of this wire.
const Name = "openai"

// A FieldError says which field of a message is not what the wire wants.
type FieldError = wire.FieldError

// ParseMessage reads one message. raw is kept and must not be modified
// afterwards. Unknown fields are no error and survive.
func ParseMessage(raw []byte) (message.Message, error) {
	if err := jsonscan.Check(raw); err != nil {
		return message.Message{}, err
	}
	return parse(raw)
}

// parse reads a message of which it is known that it is JSON.
func parse(raw []byte) (message.Message, error) {
	p := parser{data: raw}
	if err := p.message(); err != nil {
		return message.Message{}, err
	}
	return message.FromWire(p.m, Name, raw, p.spans), nil
}

type parser struct {
	data  []byte
	m     message.Message
	spans []message.Span
	// What depends on the role, which may come after the content.
	callID  string
	content *jsonscan.Span
}

func (p *parser) message() error {
	whole, err := p.object()
	if err != nil {
		return err
	}
	if err := jsonscan.Object(p.data, whole, p.member); err != nil {
		return err
	}
	if p.m.Role == "" {
		return &FieldError{Field: "role", Reason: "is missing; a message has one of system, developer, user, assistant, tool"}
	}
	return p.finish()
}

func (p *parser) object() (jsonscan.Span, error) {
	whole, err := jsonscan.Value(p.data, 0)
	if err != nil {
		return whole, err
	}
	if p.data[whole.Start] != '{' {
		return whole, &FieldError{Field: "", Reason: "a message is a JSON object"}
	}
	return whole, nil
}

func (p *parser) member(mem jsonscan.Member) error {
	raw := mem.Value.Of(p.data)
	null := string(raw) == "null"
	switch mem.Key {
	case "role":
		s, err := p.text("role", raw)
		p.m.Role = message.Role(s)
		return err
	case "name":
		if null {
			return nil
		}
		s, err := p.text("name", raw)
		p.m.Name = s
		return err
	case "tool_call_id":
		if null {
			return nil
		}
		s, err := p.text("tool_call_id", raw)
		p.callID = s
		return err
	case "reasoning_content", "reasoning":
		if null || raw[0] != '"' {
			return nil
		}
		return p.add(message.Part{Kind: message.KindReasoning}, mem.Value)
	case "content":
		p.content = &mem.Value
	case "tool_calls":
		if null {
			return nil
		}
		return p.calls(mem.Value)
	case "function_call":
		if null {
			return nil
		}
		return p.function("function_call", mem.Value, "")
	case "refusal":
		if !null {
			return p.add(message.Part{Kind: message.KindText, Sealed: true}, mem.Value)
		}
	case "audio":
		if !null {
			p.opaque(message.KindAudio, mem.Value)
		}
	case "meta":
		return p.meta(raw)
	}
	return nil
}

// text decodes a JSON string and names the field where it is none.
func (p *parser) text(field string, raw []byte) (string, error) {
	s, err := jsonscan.Unquote(raw)
	if err != nil {
		return "", &FieldError{Field: field, Reason: "must be a string"}
	}
	return s, nil
}

// add appends a part whose text is the JSON string at span.
func (p *parser) add(part message.Part, at jsonscan.Span) error {
	s, err := p.text(part.Kind.String(), at.Of(p.data))
	if err != nil {
		return err
	}
	part.Text = s
	p.m.Parts = append(p.m.Parts, part)
	p.spans = append(p.spans, at)
	return nil
}

func (p *parser) opaque(k message.Kind, at jsonscan.Span) {
	raw := at.Of(p.data)
	part := message.Part{Kind: k, Args: raw}
	if k != message.KindOther {
		part.Media = &message.Media{Bytes: len(raw)}
	}
	p.m.Parts = append(p.m.Parts, part)
	p.spans = append(p.spans, jsonscan.Span{})
}

// meta reads what the codec owns. Only the boolean true protects.
func (p *parser) meta(raw []byte) error {
	if raw[0] != '{' {
		return nil
	}
	return jsonscan.Object(raw, jsonscan.Span{Start: 0, End: len(raw)}, func(mem jsonscan.Member) error {
		if mem.Key == "protected" {
			p.m.Protected = string(mem.Value.Of(raw)) == "true"
		}
		return nil
	})
}

func (p *parser) calls(at jsonscan.Span) error {
	if p.data[at.Start] != '[' {
		return &FieldError{Field: "tool_calls", Reason: "must be an array"}
	}
	return jsonscan.Array(p.data, at, func(i int, elem jsonscan.Span) error {
		field := fmt.Sprintf("tool_calls[%d]", i)
		if p.data[elem.Start] != '{' {
			return &FieldError{Field: field, Reason: "must be an object"}
		}
		var id string
		var function *jsonscan.Span
		err := jsonscan.Object(p.data, elem, func(mem jsonscan.Member) (err error) {
			switch mem.Key {
			case "id":
				if string(mem.Value.Of(p.data)) != "null" {
					id, err = p.text(field+".id", mem.Value.Of(p.data))
				}
			case "function", "custom":
				function = &mem.Value
			}
			return err
		})
		if err != nil {
			return err
		}
		if function == nil {
			return &FieldError{Field: field + ".function", Reason: "is missing"}
		}
		return p.function(field+".function", *function, id)
	})
}

// function reads {"name":…,"arguments":…} (or "input" of custom tools).
func (p *parser) function(field string, at jsonscan.Span, id string) error {
	if p.data[at.Start] != '{' {
		return &FieldError{Field: field, Reason: "must be an object"}
	}
	part := message.Part{Kind: message.KindToolCall, CallID: id}
	err := jsonscan.Object(p.data, at, func(mem jsonscan.Member) (err error) {
		raw := mem.Value.Of(p.data)
		switch mem.Key {
		case "name":
			part.Name, err = p.text(field+".name", raw)
		case "arguments", "input":
			part.Args = raw
			if raw[0] == '"' {
				var s string
				s, err = p.text(field+"."+mem.Key, raw)
				part.Args = json.RawMessage(s)
			}
		}
		return err
	})
	p.m.Parts = append(p.m.Parts, part)
	p.spans = append(p.spans, jsonscan.Span{})
	return err
}
