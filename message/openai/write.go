package openai

import (
	"bytes"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/meta"
)

// AppendMessage appends the message in the form for a provider: verbatim,
// without the key "meta". A message that was made in Go, or that came from
// another wire, is converted.
func AppendMessage(dst []byte, m message.Message) []byte {
	if m.Wire() != Name {
		return appendMade(dst, m, false)
	}
	return meta.AppendSent(dst, m.Raw())
}

// AppendJSONL appends the message in the form for a file, "meta" included, and
// a newline.
func AppendJSONL(dst []byte, m message.Message) []byte {
	raw := m.Raw()
	switch {
	case m.Wire() != Name:
		dst = appendMade(dst, m, true)
	case bytes.ContainsRune(raw, '\n') || bytes.ContainsRune(raw, '\r'):
		dst = appendOneLine(dst, raw)
	default:
		dst = append(dst, raw...)
	}
	return append(dst, '\n')
}

// appendOneLine removes the line breaks of pretty-printed JSON, which can only
// occur between tokens.
func appendOneLine(dst, raw []byte) []byte {
	for _, c := range raw {
		if c != '\n' && c != '\r' {
			dst = append(dst, c)
		}
	}
	return dst
}

// member returns the value of a member of a JSON object; nil = absent.
func member(raw []byte, key string) (value []byte) {
	if !bytes.Contains(raw, []byte(`"`+key+`"`)) {
		return nil
	}
	whole := jsonscan.Span{Start: jsonscan.Space(raw, 0), End: len(raw)}
	_ = jsonscan.Object(raw, whole, func(mem jsonscan.Member) error { // raw is valid JSON
		if mem.Key == key {
			value = mem.Value.Of(raw)
		}
		return nil
	})
	return value
}

func appendMade(dst []byte, m message.Message, file bool) []byte {
	dst = append(dst, `{"role":`...)
	dst = jsonscan.AppendQuote(dst, string(m.Role))
	if m.Name != "" {
		dst = jsonscan.AppendQuote(append(dst, `,"name":`...), m.Name)
	}
	dst = appendReasoning(dst, m)
	dst = append(dst, `,"content":`...)
	dst = appendContent(dst, m)
	if m.Has(message.KindToolCall) {
		dst = appendCalls(dst, m)
	}
	if id, ok := resultID(m); ok {
		dst = jsonscan.AppendQuote(append(dst, `,"tool_call_id":`...), id)
	}
	if m.Protected && file {
		dst = append(dst, `,"meta":{"protected":true}`...)
	}
	return append(dst, '}')
}

func resultID(m message.Message) (string, bool) {
	for _, p := range m.Parts {
		if p.Kind == message.KindToolResult {
			return p.CallID, true
		}
	}
	return "", false
}

func appendReasoning(dst []byte, m message.Message) []byte {
	for _, p := range m.Parts {
		if p.Kind == message.KindReasoning {
			return jsonscan.AppendQuote(append(dst, `,"reasoning_content":`...), p.Text)
		}
	}
	return dst
}

func appendContent(dst []byte, m message.Message) []byte {
	var texts []string
	media := false
	for _, p := range m.Parts {
		switch p.Kind {
		case message.KindText, message.KindToolResult:
			texts = append(texts, p.Text)
		case message.KindImage, message.KindAudio, message.KindFile, message.KindOther:
			media = true
		}
	}
	switch {
	case media || len(texts) > 1:
		return appendParts(dst, m)
	case len(texts) == 1:
		return jsonscan.AppendQuote(dst, texts[0])
	}
	return append(dst, "null"...)
}

func appendParts(dst []byte, m message.Message) []byte {
	dst = append(dst, '[')
	n := 0
	for _, p := range m.Parts {
		if p.Kind == message.KindToolCall || p.Kind == message.KindReasoning {
			continue
		}
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		switch {
		case p.Kind == message.KindImage && p.Media != nil:
			dst = jsonscan.AppendQuote(append(dst, `{"type":"image_url","image_url":{"url":`...), p.Media.URL)
			if p.Media.Detail != "" {
				dst = jsonscan.AppendQuote(append(dst, `,"detail":`...), p.Media.Detail)
			}
			dst = append(dst, "}}"...)
		case p.Kind == message.KindAudio, p.Kind == message.KindFile:
			dst = appendFile(dst, &p)
		case p.Kind == message.KindOther && jsonscan.Check(p.Args) == nil:
			dst = append(dst, p.Args...)
		default:
			dst = append(jsonscan.AppendQuote(append(dst, `{"type":"text","text":`...), p.Text), '}')
		}
	}
	return append(dst, ']')
}

// appendFile writes a sound or a file: unchanged if it came from this wire, otherwise
// with its URL or with the JSON of the other wire.
func appendFile(dst []byte, p *message.Part) []byte {
	kind := "file"
	if p.Kind == message.KindAudio {
		kind = "input_audio"
	}
	var media message.Media
	if p.Media != nil {
		media = *p.Media
	}
	valid := jsonscan.Check(p.Args) == nil
	if valid && string(member(p.Args, "type")) == `"`+kind+`"` {
		return append(dst, p.Args...)
	}
	dst = append(append(append(append(append(dst, `{"type":"`...), kind...), `","`...), kind...), `":`...)
	switch {
	case media.URL == "" && valid:
		return append(append(dst, p.Args...), '}')
	case p.Kind == message.KindAudio:
		mime, data, _ := strings.Cut(strings.TrimPrefix(media.URL, "data:"), ";base64,")
		if data == "" {
			mime, data = media.MIME, media.URL
		}
		dst = jsonscan.AppendQuote(append(dst, `{"data":`...), data)
		dst = jsonscan.AppendQuote(append(dst, `,"format":`...), strings.TrimPrefix(mime, "audio/"))
	default:
		dst = jsonscan.AppendQuote(append(dst, `{"filename":`...), media.Name)
		dst = jsonscan.AppendQuote(append(dst, `,"file_data":`...), media.URL)
	}
	return append(dst, "}}"...)
}

func appendCalls(dst []byte, m message.Message) []byte {
	dst = append(dst, `,"tool_calls":[`...)
	n := 0
	for _, p := range m.Parts {
		if p.Kind != message.KindToolCall {
			continue
		}
		if n++; n > 1 {
			dst = append(dst, ',')
		}
		dst = jsonscan.AppendQuote(append(dst, `{"id":`...), p.CallID)
		dst = jsonscan.AppendQuote(append(dst, `,"type":"function","function":{"name":`...), p.Name)
		dst = jsonscan.AppendQuote(append(dst, `,"arguments":`...), string(p.Args))
		dst = append(dst, "}}"...)
	}
	return append(dst, ']')
}
