package gemini

import (
	"encoding/json"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// part holds the positions of a part's members that this package uses. A member
// that is null counts as absent.
type part struct {
	data                                                []byte
	at                                                  jsonscan.Span
	text, call, response, inline, file, thought, signed jsonscan.Span
}

func (b *part) read(at jsonscan.Span) error {
	b.at = at
	return members(b.data, at, func(key string, v jsonscan.Span) {
		switch key {
		case "text":
			b.text = v
		case "functionCall", "function_call":
			b.call = b.object(v)
		case "functionResponse", "function_response":
			b.response = b.object(v)
		case "inlineData", "inline_data":
			b.inline = b.object(v)
		case "fileData", "file_data":
			b.file = b.object(v)
		case "thought":
			b.thought = v
		case "thoughtSignature", "thought_signature":
			b.signed = v
		}
	})
}

// object returns the span, or the zero Span if the value is not an object.
func (b *part) object(at jsonscan.Span) jsonscan.Span {
	if at.End == 0 || b.data[at.Start] != '{' {
		return jsonscan.Span{}
	}
	return at
}

// members calls f for the members of an object, with the zero Span for null. Any
// other value has no members.
func members(data []byte, at jsonscan.Span, f func(key string, v jsonscan.Span)) error {
	if at.End == 0 || data[at.Start] != '{' {
		return nil
	}
	return jsonscan.Object(data, at, func(m jsonscan.Member) error {
		if data[m.Value.Start] == 'n' {
			m.Value = jsonscan.Span{}
		}
		f(m.Key, m.Value)
		return nil
	})
}

// text decodes a string; any other value is "".
func text(raw []byte) string {
	s, err := jsonscan.Unquote(raw)
	if err != nil {
		return ""
	}
	return s
}

// part reads one part of a content.
func (p *parser) part(at jsonscan.Span) error {
	b := part{data: p.Data}
	if err := b.read(at); err != nil {
		return err
	}
	response := b.response.End != 0
	p.Results, p.Rest = p.Results || response, p.Rest || !response
	thought := string(b.thought.Of(p.Data)) == "true"
	signed := b.signed.End != 0
	switch {
	case response:
		return p.response(&b, signed)
	case b.call.End != 0:
		return p.call(&b, signed)
	case b.text.End != 0 && p.Data[b.text.Start] == '"':
		part := message.Part{Kind: message.KindText, Sealed: signed}
		if thought {
			part = message.Part{Kind: message.KindReasoning, Sealed: true}
		}
		return p.Text(part, b.text)
	case b.inline.End != 0:
		return p.media(&b, b.inline, "")
	case b.file.End != 0:
		return p.media(&b, b.file, "")
	}
	p.Add(message.Part{Kind: message.KindOther, Args: json.RawMessage(at.Of(p.Data)), Sealed: signed}, jsonscan.Span{})
	return nil
}

func (p *parser) call(b *part, signed bool) error {
	c := message.Part{Kind: message.KindToolCall, Sealed: signed}
	err := members(p.Data, b.call, func(key string, v jsonscan.Span) {
		switch key {
		case "id":
			c.CallID = text(v.Of(p.Data))
		case "name":
			c.Name = text(v.Of(p.Data))
		case "args":
			c.Args = p.args(v)
		}
	})
	c.CallID = p.id(c.CallID, c.Name, "call ")
	p.Add(c, jsonscan.Span{})
	return err
}

// args returns the arguments of a call, decoded if a client wrote them as a
// string; nil = none.
func (p *parser) args(at jsonscan.Span) json.RawMessage {
	switch {
	case at.End == 0:
		return nil
	case p.Data[at.Start] == '"':
		return json.RawMessage(text(at.Of(p.Data)))
	}
	return json.RawMessage(at.Of(p.Data))
}

// media reads inline data or a reference to a file. id is the id of the call if the
// media are in a response.
func (p *parser) media(b *part, at jsonscan.Span, id string) error {
	media := &message.Media{Bytes: at.End - at.Start}
	var data jsonscan.Span
	err := members(p.Data, at, func(key string, v jsonscan.Span) {
		switch key {
		case "mimeType", "mime_type":
			media.MIME = text(v.Of(p.Data))
		case "displayName", "display_name":
			media.Name = text(v.Of(p.Data))
		case "fileUri", "file_uri":
			media.URL = text(v.Of(p.Data))
		case "data":
			data = v
		}
	})
	part := message.Part{Kind: kindOf(media.MIME), CallID: id, Media: media}
	switch {
	case part.Kind == message.KindImage && data.End != 0 && p.Data[data.Start] == '"':
		media.URL = "data:" + media.MIME + ";base64," + text(data.Of(p.Data))
	case media.URL == "":
		part.Args = json.RawMessage(at.Of(p.Data))
	}
	switch {
	case !p.user || b.signed.End != 0:
		p.Add(part, jsonscan.Span{})
	case id != "":
		p.AddSlot(part, b.at, note(media.Name))
	default:
		p.AddSlot(part, b.at, message.Slot{Before: `{"text":`, After: "}"})
	}
	return err
}

func kindOf(mime string) message.Kind {
	switch {
	case strings.HasPrefix(mime, "image/"):
		return message.KindImage
	case strings.HasPrefix(mime, "audio/"):
		return message.KindAudio
	}
	return message.KindFile
}
