// Package openai reads messages and requests of the OpenAI chat-completions
// wire and writes them back: kept messages byte for byte, edited ones with
// exactly one JSON string replaced. [Wire] handles requests; the functions
// read and write single messages, and files of messages.
//
// The key "meta" of a message belongs to the codecs: {"meta":{"protected":true}}
// protects the message. It stays in files ([AppendJSONL]) and is removed from
// messages for a provider ([AppendMessage]).
package openai

import (
	"encoding/json"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/meta"
	"github.com/agentcompact/compact/message/wire"
)

// Name is the name of this wire.
const Name = "openai"

// A FieldError names the field of a message that violates the format of the
// wire.
type FieldError = wire.FieldError

// ParseMessage reads one message. raw is kept and must not be modified
// afterwards. Unknown fields are not an error and survive.
func ParseMessage(raw []byte) (message.Message, error) {
	if err := jsonscan.Check(raw); err != nil {
		return message.Message{}, err
	}
	return parse(raw)
}

// parse reads a message that is known to be valid JSON.
func parse(raw []byte) (message.Message, error) {
	p := parser{data: raw}
	if err := p.message(); err != nil {
		return message.Message{}, err
	}
	return message.FromWire(p.m, Name, raw, p.spans).Slotted(p.slots), nil
}

type parser struct {
	data   []byte
	m      message.Message
	spans  []message.Span
	slots  map[int]message.Slot // for the parts that a text may replace
	callID string               // id of the call that a tool message answers
}

// head holds the positions of the members of a message that this package reads.
// If a name occurs twice, the last one is used, as by the provider; null counts
// as absent.
type head struct {
	role, name, callID, content, calls, function, refusal, audio, meta jsonscan.Span
	reasoning                                                          [2]jsonscan.Span
}

func (p *parser) head() (h head, err error) {
	whole := jsonscan.Span{Start: jsonscan.Space(p.data, 0), End: len(p.data)}
	if p.data[whole.Start] != '{' {
		return h, &FieldError{Field: "", Reason: "a message is a JSON object"}
	}
	_ = jsonscan.Object(p.data, whole, func(mem jsonscan.Member) error { // the message is valid JSON
		if at := h.member(mem.Key); at != nil {
			if *at = mem.Value; string(at.Of(p.data)) == "null" {
				*at = jsonscan.Span{}
			}
		}
		return nil
	})
	return h, nil
}

// member returns the field of h for the span of a member; nil = the member is
// not used here.
func (h *head) member(key string) *jsonscan.Span {
	switch key {
	case "role":
		return &h.role
	case "name":
		return &h.name
	case "tool_call_id":
		return &h.callID
	case "content":
		return &h.content
	case "tool_calls":
		return &h.calls
	case "function_call":
		return &h.function
	case "refusal":
		return &h.refusal
	case "audio":
		return &h.audio
	case "reasoning_content":
		return &h.reasoning[0]
	case "reasoning":
		return &h.reasoning[1]
	case meta.Key:
		return &h.meta
	}
	return nil
}

// message reads the parts in the order in which the model made them: reasoning, text,
// calls. The order of the keys has no effect.
func (p *parser) message() error {
	h, err := p.head()
	if err != nil {
		return err
	}
	if err := p.names(h); err != nil {
		return err
	}
	for _, at := range h.reasoning {
		if p.data[at.Start] == '"' { // a message without this member begins with a brace, or with white space
			if err := p.add("reasoning", message.Part{Kind: message.KindReasoning}, at); err != nil {
				return err
			}
		}
	}
	if err := p.content(h.content); err != nil {
		return err
	}
	if h.refusal.End != 0 {
		if err := p.add("refusal", message.Part{Kind: message.KindText, Sealed: true}, h.refusal); err != nil {
			return err
		}
	}
	if h.audio.End != 0 {
		p.opaque(message.KindAudio, h.audio)
	}
	if h.calls.End != 0 {
		if err := p.calls(h.calls); err != nil {
			return err
		}
	}
	if h.function.End != 0 {
		return p.function("function_call", h.function, "")
	}
	return nil
}

// names reads the role and the name of a message, and the id of its call.
func (p *parser) names(h head) error {
	role, err := p.optional("role", h.role)
	if err == nil && role == "" {
		err = &FieldError{Field: "role", Reason: "is missing; a message has one of system, developer, user, assistant, tool"}
	}
	if err == nil {
		p.m.Name, err = p.optional("name", h.name)
	}
	if err == nil {
		p.callID, err = p.optional("tool_call_id", h.callID)
	}
	p.m.Role, p.m.Protected = message.Role(role), meta.Protected(p.data, h.meta)
	return err
}

// optional decodes a JSON string; "" = absent.
func (p *parser) optional(field string, at jsonscan.Span) (string, error) {
	if at.End == 0 {
		return "", nil
	}
	return p.text(field, at.Of(p.data))
}

// text decodes a JSON string. If the value is not a string, the error names the
// field.
func (p *parser) text(field string, raw []byte) (string, error) {
	s, err := jsonscan.Unquote(raw)
	if err != nil {
		return "", &FieldError{Field: field, Reason: "must be a string"}
	}
	return s, nil
}

// add appends a part whose text is the JSON string at span.
func (p *parser) add(field string, part message.Part, at jsonscan.Span) error {
	s, err := p.text(field, at.Of(p.data))
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

func (p *parser) calls(at jsonscan.Span) error {
	if p.data[at.Start] != '[' {
		return &FieldError{Field: "tool_calls", Reason: "must be an array"}
	}
	return jsonscan.Array(p.data, at, func(i int, elem jsonscan.Span) error {
		field := fmt.Sprintf("tool_calls[%d]", i)
		if p.data[elem.Start] != '{' {
			return &FieldError{Field: field, Reason: "must be an object"}
		}
		var call, function jsonscan.Span
		_ = jsonscan.Object(p.data, elem, func(mem jsonscan.Member) error {
			switch mem.Key {
			case "id":
				if call = mem.Value; string(call.Of(p.data)) == "null" {
					call = jsonscan.Span{}
				}
			case "function", "custom":
				function = mem.Value
			}
			return nil
		})
		id, err := p.optional(field+".id", call)
		if err != nil {
			return err
		}
		if function.End == 0 {
			return &FieldError{Field: field + ".function", Reason: "is missing"}
		}
		return p.function(field+".function", function, id)
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
