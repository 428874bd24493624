package gemini

import (
	"encoding/base64"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// stub is the member that holds the text of a response that was edited as a
// whole.
const stub = "output"

// maxRest limits the bytes of a response other than the string that is its text. If there are more,
// the whole response is its text, so that all of it is shown, counted and removed, too.
const maxRest = 256

// response reads the response of a function: its text, and the media in it.
func (p *parser) response(b *part, signed bool) error {
	r := message.Part{Kind: message.KindToolResult, Sealed: signed}
	var id string
	var value, media jsonscan.Span
	err := members(p.Data, b.response, func(key string, v jsonscan.Span) {
		switch key {
		case "id":
			id = text(v.Of(p.Data))
		case "name":
			r.Name = text(v.Of(p.Data))
		case "response":
			value = v
		case "parts":
			media = v
		}
	})
	if err != nil {
		return err
	}
	r.CallID = p.id(id, r.Name, "response ")
	if err := p.result(r, value); err != nil {
		return err
	}
	return eachPart(p.Data, media, func(at jsonscan.Span) error { return p.inner(at, r.CallID) })
}

// result adds the text of a response.
func (p *parser) result(r message.Part, value jsonscan.Span) error {
	if value.End == 0 {
		p.Add(r, jsonscan.Span{})
		return nil
	}
	switch p.Data[value.Start] {
	case '"':
		return p.Text(r, value)
	case '{':
		if at, ok := p.answer(value); ok {
			return p.Text(r, at)
		}
		p.objects = append(p.objects, len(p.Message.Parts))
		r.Text = string(value.Of(p.Data))
		p.Add(r, value)
		return nil
	}
	r.Text = string(value.Of(p.Data)) // not an object: the provider refuses it
	p.Add(r, jsonscan.Span{})
	return nil
}

// answer returns the only string of a response. An edit of this string must not make another string
// the only one. So the length of the string does not matter, and a response with two strings that
// are not empty has no such string.
func (p *parser) answer(object jsonscan.Span) (jsonscan.Span, bool) {
	var found, empty jsonscan.Span
	full, blank := 0, 0
	err := members(p.Data, object, func(key string, v jsonscan.Span) {
		switch key {
		case "output", "result", "error", "content":
			switch {
			case v.End == 0 || p.Data[v.Start] != '"':
			case v.End-v.Start > len(`""`):
				found = v
				full++
			default:
				empty = v
				blank++
			}
		}
	})
	if full == 0 && blank == 1 {
		found, full = empty, 1
	}
	rest := (object.End - object.Start) - (found.End - found.Start)
	return found, err == nil && full == 1 && rest <= maxRest
}

// inner reads a part in a response: inline data, or a file.
func (p *parser) inner(at jsonscan.Span, id string) error {
	b := part{data: p.Data}
	if err := b.read(at); err != nil {
		return err
	}
	switch {
	case b.inline.End != 0:
		if text, ok := noted(p.Data, b.inline); ok {
			p.Add(message.Part{Kind: message.KindToolResult, CallID: id, Text: text}, jsonscan.Span{})
			return nil
		}
		return p.media(&b, b.inline, id)
	case b.file.End != 0:
		return p.media(&b, b.file, id)
	}
	p.Add(message.Part{Kind: message.KindOther, CallID: id, Args: at.Of(p.Data)}, jsonscan.Span{})
	return nil
}

// plainText is the type of the text that replaces media in a response. A response
// accepts only data and no texts, and text files are data
// (https://cloud.google.com/vertex-ai/generative-ai/docs/multimodal/function-calling).
const plainText = "text/plain"

// note returns the slot for the text that replaces media in a response. The response
// may refer to the media by their name.
func note(name string) message.Slot {
	before := `{"inlineData":{"mimeType":"` + plainText + `",`
	if name != "" {
		before = string(jsonscan.AppendQuote([]byte(before+`"displayName":`), name)) + ","
	}
	return message.Slot{Before: before + `"data":`, After: "}}", Base64: true}
}

// noted returns the text that replaced media in a response, if data is such a text.
func noted(raw []byte, inline jsonscan.Span) (string, bool) {
	var mime, data string
	err := members(raw, inline, func(key string, v jsonscan.Span) {
		const most = 512 // maximum length of the text in base64, in bytes
		switch {
		case key == "mimeType" || key == "mime_type":
			mime = text(v.Of(raw))
		case key == "data" && v.End-v.Start < most:
			data = text(v.Of(raw))
		}
	})
	if err != nil || mime != plainText || data == "" {
		return "", false
	}
	plain, err := base64.StdEncoding.DecodeString(strings.NewReplacer("-", "+", "_", "/").Replace(data)) // clients in Python write URL-safe base64
	if err != nil {
		return "", false
	}
	_, _, _, _, ok := message.ParseMediaText(string(plain))
	return string(plain), ok
}
