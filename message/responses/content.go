package responses

import (
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// contentPart reads one part of the content of a message or of a tool result. part is
// the template for a text.
func (p *parser) contentPart(at jsonscan.Span, part message.Part) error {
	if p.data[at.Start] == '"' {
		return p.str("text", at, part)
	}
	if p.data[at.Start] != '{' {
		return &wire.FieldError{Reason: "must be an object"}
	}
	f, err := p.fields(at)
	if err != nil {
		return err
	}
	kind, err := p.text(f, "type")
	if err != nil {
		return err
	}
	switch kind {
	case "input_text", "output_text", "text", "summary_text":
		if p.raw(f, "text") == nil {
			return &wire.FieldError{Field: "text", Reason: "is missing"}
		}
		return p.str("text", f.by["text"], part)
	case "refusal":
		if p.raw(f, "refusal") != nil {
			part.Sealed = true
			return p.str("refusal", f.by["refusal"], part)
		}
	case "input_image", "computer_screenshot":
		return p.image(f, part.CallID)
	case "input_file":
		return p.file(f, part.CallID)
	case "input_audio":
		p.add(message.Part{Kind: message.KindAudio, CallID: part.CallID, Args: at.Of(p.data), Media: &message.Media{Bytes: at.End - at.Start}}, jsonscan.Span{})
		return nil
	case "":
		if part.Kind == message.KindToolResult {
			return p.streams(f, part)
		}
	}
	p.add(message.Part{Kind: message.KindOther, Args: at.Of(p.data)}, jsonscan.Span{})
	return nil
}

// streams reads the output of a command: {"stdout":…,"stderr":…,"outcome":…}.
func (p *parser) streams(f fields, part message.Part) error {
	found := false
	for _, key := range []string{"stdout", "stderr"} {
		if raw := p.raw(f, key); raw != nil && raw[0] == '"' {
			found = true
			if err := p.str(key, f.by[key], part); err != nil {
				return err
			}
		}
	}
	if !found {
		p.add(message.Part{Kind: message.KindOther, Args: f.at.Of(p.data)}, jsonscan.Span{})
	}
	return nil
}

// slot lets a text replace the part that was read last, if it is a picture, a sound or a file. That
// part is the element at e of a list. Media of the model can't be replaced. The screenshot that
// answers a computer call can't be replaced either: it is in no list, and no text can answer such a
// call.
func (p *parser) slot(e jsonscan.Span) {
	last := len(p.m.Parts) - 1
	if last < 0 || p.m.Role == message.RoleAssistant || !p.m.Parts[last].Kind.IsMedia() || p.m.Parts[last].Sealed {
		return
	}
	if p.slots == nil {
		p.slots = map[int]message.Slot{}
	}
	p.spans[last], p.slots[last] = e, message.Slot{Before: `{"type":"input_text","text":`, After: "}"}
}

func (p *parser) image(f fields, callID string) (err error) {
	media := &message.Media{Bytes: f.at.End - f.at.Start}
	if media.URL, err = p.text(f, "image_url"); err != nil {
		return err
	}
	if media.URL == "" {
		if media.URL, err = p.text(f, "file_id"); err != nil {
			return err
		}
	}
	if media.Detail, err = p.text(f, "detail"); err != nil {
		return err
	}
	media.MIME = mimeOf(media.URL)
	p.add(message.Part{Kind: message.KindImage, CallID: callID, Media: media}, jsonscan.Span{})
	return nil
}

func (p *parser) file(f fields, callID string) (err error) {
	media := &message.Media{Bytes: f.at.End - f.at.Start}
	if media.Name, err = p.text(f, "filename"); err != nil {
		return err
	}
	for _, key := range []string{"file_data", "file_url", "file_id"} {
		if media.URL != "" {
			break
		}
		if media.URL, err = p.text(f, key); err != nil {
			return err
		}
	}
	media.MIME = mimeOf(media.URL)
	part := message.Part{Kind: message.KindFile, CallID: callID, Media: media}
	if media.URL == "" {
		part.Args = f.at.Of(p.data)
	}
	p.add(part, jsonscan.Span{})
	return nil
}

// mimeOf returns the type in a data URL.
func mimeOf(url string) string {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return ""
	}
	mime, _, _ := strings.Cut(rest, ";")
	return mime
}
