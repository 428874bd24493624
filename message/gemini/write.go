package gemini

import (
	"encoding/json"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
)

// roleOnWire returns the name of a role on this wire.
func roleOnWire(role message.Role) string {
	switch role {
	case message.RoleAssistant:
		return "model"
	case message.RoleTool:
		return "user"
	}
	return string(role)
}

// madeRole returns the role on the wire of a message that was made here.
func madeRole(m message.Message) string {
	if m.Role == message.RoleAssistant && m.Has(message.KindToolCall) {
		return "model"
	}
	return "user"
}

// appendContent writes a message that did not come from this wire.
func appendContent(dst []byte, m message.Message, role string) []byte {
	dst = jsonscan.AppendQuote(append(dst, `{"role":`...), role)
	if m.Name != "" {
		dst = jsonscan.AppendQuote(append(dst, `,"name":`...), m.Name)
	}
	dst = append(dst, `,"parts":`...)
	return append(splice.AppendBlocks(dst, m.Parts, appendPart, appendResponse), '}')
}

// appendResponse writes the parts of one result as one response, because there must
// be as many responses as calls.
func appendResponse(dst []byte, parts []message.Part) []byte {
	var texts []string
	var inner []message.Part
	for _, p := range parts {
		if p.Kind == message.KindToolResult {
			texts = append(texts, p.Text)
		} else {
			inner = append(inner, p)
		}
	}
	dst = append(dst, `{"functionResponse":{`...)
	if id := parts[0].CallID; id != "" {
		dst = append(jsonscan.AppendQuote(append(dst, `"id":`...), id), ',')
	}
	dst = jsonscan.AppendQuote(append(dst, `"name":`...), parts[0].Name)
	dst = jsonscan.AppendQuote(append(dst, `,"response":{"`+stub+`":`...), strings.Join(texts, "\n"))
	dst = append(dst, '}')
	for i := range inner {
		dst = append(dst, pick(i == 0, `,"parts":[`, `,`)...)
		dst = appendPart(dst, &inner[i])
	}
	return append(dst, pick(len(inner) > 0, `]}}`, `}}`)...)
}

func pick(first bool, a, b string) string {
	if first {
		return a
	}
	return b
}

func appendPart(dst []byte, p *message.Part) []byte {
	switch p.Kind {
	case message.KindReasoning:
		return append(jsonscan.AppendQuote(append(dst, `{"text":`...), p.Text), `,"thought":true}`...)
	case message.KindToolCall:
		return appendCall(dst, p)
	case message.KindImage, message.KindAudio, message.KindFile:
		return appendMedia(dst, p)
	case message.KindOther:
		if json.Valid(p.Args) {
			return append(dst, p.Args...)
		}
	}
	return append(jsonscan.AppendQuote(append(dst, `{"text":`...), p.Text), '}')
}

func appendCall(dst []byte, p *message.Part) []byte {
	dst = append(dst, `{"functionCall":{`...)
	if p.CallID != "" {
		dst = append(jsonscan.AppendQuote(append(dst, `"id":`...), p.CallID), ',')
	}
	dst = append(jsonscan.AppendQuote(append(dst, `"name":`...), p.Name), `,"args":`...)
	return append(splice.AppendArgs(dst, p.Args), "}}"...)
}

// appendMedia writes a picture, a sound or a file as inline data, or by its
// URL.
func appendMedia(dst []byte, p *message.Part) []byte {
	var media message.Media
	if p.Media != nil {
		media = *p.Media
	}
	mime, data, inline := strings.Cut(strings.TrimPrefix(media.URL, "data:"), ";base64,")
	switch {
	case len(p.Args) > 0 && json.Valid(p.Args):
		return append(append(append(dst, `{"inlineData":`...), p.Args...), '}')
	case inline:
		dst = jsonscan.AppendQuote(append(dst, `{"inlineData":{"mimeType":`...), mime)
		dst = jsonscan.AppendQuote(append(dst, `,"data":`...), data)
	default:
		dst = jsonscan.AppendQuote(append(dst, `{"fileData":{"mimeType":`...), media.MIME)
		dst = jsonscan.AppendQuote(append(dst, `,"fileUri":`...), media.URL)
	}
	if media.Name != "" {
		dst = jsonscan.AppendQuote(append(dst, `,"displayName":`...), media.Name)
	}
	return append(dst, "}}"...)
}
