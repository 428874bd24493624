package openai

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

func (p *parser) textPart() message.Part {
	if p.m.Role == message.RoleTool || p.m.Role == "function" {
		return message.Part{Kind: message.KindToolResult, CallID: p.callID, Name: p.m.Name}
	}
	return message.Part{Kind: message.KindText}
}

// content reads a string, an array of parts, or nothing.
func (p *parser) content(at jsonscan.Span) error {
	if at.End == 0 {
		p.pair(len(p.m.Parts))
		return nil
	}
	switch p.data[at.Start] {
	case '"':
		return p.add("content", p.textPart(), at)
	case '[':
		had := len(p.m.Parts)
		if err := jsonscan.Array(p.data, at, p.contentPart); err != nil {
			return err
		}
		p.pair(had)
		return nil
	}
	return &FieldError{Field: "content", Reason: "must be a string, an array of parts, or null"}
}

// pair sets the call id of the parts of a tool result, from part had on. If none of them is a text,
// pair adds an empty text, which answers the call.
func (p *parser) pair(had int) {
	call := p.textPart()
	if call.Kind != message.KindToolResult {
		return
	}
	texts := false
	for i := range p.m.Parts[had:] {
		part := &p.m.Parts[had+i]
		part.CallID = call.CallID
		texts = texts || part.Kind == message.KindToolResult
	}
	if !texts {
		p.m.Parts, p.spans = slices.Insert(p.m.Parts, had, call), slices.Insert(p.spans, had, jsonscan.Span{})
		moved := make(map[int]message.Slot, len(p.slots))
		for i, slot := range p.slots {
			moved[i+1] = slot // all of these parts come after had
		}
		p.slots = moved
	}
}

func (p *parser) contentPart(i int, elem jsonscan.Span) error {
	field := fmt.Sprintf("content[%d]", i)
	if p.data[elem.Start] == '"' {
		return p.add(field, p.textPart(), elem)
	}
	if p.data[elem.Start] != '{' {
		return &FieldError{Field: field, Reason: "must be an object"}
	}
	members := map[string]jsonscan.Span{}
	_ = jsonscan.Object(p.data, elem, func(mem jsonscan.Member) error {
		members[mem.Key] = mem.Value
		return nil
	})
	kind, err := p.text(field+".type", members["type"].Of(p.data))
	if err != nil {
		return err
	}
	return p.typed(field, kind, elem, members)
}

func (p *parser) typed(field, kind string, elem jsonscan.Span, members map[string]jsonscan.Span) error {
	switch kind {
	case "text", "input_text", "output_text":
		at, ok := members["text"]
		if !ok {
			return &FieldError{Field: field + ".text", Reason: "is missing"}
		}
		return p.add(field+".text", p.textPart(), at)
	case "refusal":
		if at, ok := members["refusal"]; ok {
			return p.add(field+".refusal", message.Part{Kind: message.KindText, Sealed: true}, at)
		}
	case "image_url":
		if err := p.image(field, elem, members["image_url"]); err != nil {
			return err
		}
		p.slot(elem)
		return nil
	case "input_audio":
		p.opaque(message.KindAudio, elem)
		p.slot(elem)
		return nil
	case "file":
		p.opaque(message.KindFile, elem)
		p.slot(elem)
		return nil
	}
	p.opaque(message.KindOther, elem)
	return nil
}

// slot lets a text replace the part that was read last, which is the element at
// elem. Parts that the model made can't be replaced.
func (p *parser) slot(elem jsonscan.Span) {
	if p.m.Role == message.RoleAssistant {
		return
	}
	if p.slots == nil {
		p.slots = map[int]message.Slot{}
	}
	last := len(p.m.Parts) - 1
	p.spans[last], p.slots[last] = elem, message.Slot{Before: `{"type":"text","text":`, After: "}"}
}

// image reads {"url":…,"detail":…}, or a bare URL.
func (p *parser) image(field string, elem, at jsonscan.Span) error {
	media := &message.Media{Bytes: elem.End - elem.Start}
	if at.End == 0 {
		return &FieldError{Field: field + ".image_url", Reason: "is missing"}
	}
	read := func(name string, v jsonscan.Span, into *string) (err error) {
		*into, err = p.text(field+"."+name, v.Of(p.data))
		return err
	}
	var err error
	if p.data[at.Start] == '"' {
		err = read("image_url", at, &media.URL)
	} else {
		err = jsonscan.Object(p.data, at, func(mem jsonscan.Member) error {
			switch mem.Key {
			case "url":
				return read("image_url.url", mem.Value, &media.URL)
			case "detail":
				return read("image_url.detail", mem.Value, &media.Detail)
			}
			return nil
		})
	}
	if mime, ok := strings.CutPrefix(media.URL, "data:"); ok {
		media.MIME, _, _ = strings.Cut(mime, ";")
	}
	p.m.Parts = append(p.m.Parts, message.Part{Kind: message.KindImage, Media: media})
	p.spans = append(p.spans, jsonscan.Span{})
	return err
}
