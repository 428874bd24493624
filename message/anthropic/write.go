package anthropic

import (
	"encoding/json"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
)

// madeRole returns the role on the wire of a message that was made here.
func madeRole(m message.Message) message.Role {
	if m.Role == message.RoleAssistant && m.Has(message.KindToolCall) {
		return message.RoleAssistant
	}
	return message.RoleUser
}

// appendMessage writes a message that did not come from this wire.
func appendMessage(dst []byte, m message.Message, role message.Role) []byte {
	if role == message.RoleTool {
		role = message.RoleUser
	}
	dst = jsonscan.AppendQuote(append(dst, `{"role":`...), string(role))
	if m.Name != "" {
		dst = jsonscan.AppendQuote(append(dst, `,"name":`...), m.Name)
	}
	dst = append(dst, `,"content":`...)
	if len(m.Parts) == 1 && m.Parts[0].Kind == message.KindText {
		return append(jsonscan.AppendQuote(dst, m.Parts[0].Text), '}')
	}
	return append(splice.AppendBlocks(dst, m.Parts, appendBlock, appendResult), '}')
}

func appendResult(dst []byte, parts []message.Part) []byte {
	dst = jsonscan.AppendQuote(append(dst, `{"type":"tool_result","tool_use_id":`...), parts[0].CallID)
	dst = append(dst, `,"content":`...)
	if len(parts) == 1 {
		return append(jsonscan.AppendQuote(dst, parts[0].Text), '}')
	}
	dst = append(dst, '[')
	for i := range parts {
		if i > 0 {
			dst = append(dst, ',')
		}
		if parts[i].Kind == message.KindToolResult {
			dst = appendText(dst, parts[i].Text)
		} else {
			dst = appendBlock(dst, &parts[i])
		}
	}
	return append(dst, "]}"...)
}

func appendText(dst []byte, s string) []byte {
	return append(jsonscan.AppendQuote(append(dst, `{"type":"text","text":`...), s), '}')
}

func appendBlock(dst []byte, p *message.Part) []byte {
	switch p.Kind {
	case message.KindReasoning:
		dst = jsonscan.AppendQuote(append(dst, `{"type":"thinking","thinking":`...), p.Text)
		return append(dst, `,"signature":""}`...)
	case message.KindToolCall:
		dst = jsonscan.AppendQuote(append(dst, `{"type":"tool_use","id":`...), p.CallID)
		dst = jsonscan.AppendQuote(append(dst, `,"name":`...), p.Name)
		return append(splice.AppendArgs(append(dst, `,"input":`...), p.Args), '}')
	case message.KindImage, message.KindAudio, message.KindFile:
		return appendMedia(dst, p)
	case message.KindOther:
		if json.Valid(p.Args) {
			return append(dst, p.Args...)
		}
	}
	return appendText(dst, p.Text)
}

// appendMedia writes a picture or a document with its original source, or with a source
// made from its URL.
func appendMedia(dst []byte, p *message.Part) []byte {
	kind := "document"
	if p.Kind == message.KindImage {
		kind = "image"
	}
	dst = append(append(append(dst, `{"type":"`...), kind...), `","source":`...)
	var media message.Media
	if p.Media != nil {
		media = *p.Media
	}
	mime, data, inline := strings.Cut(strings.TrimPrefix(media.URL, "data:"), ";base64,")
	switch {
	case len(p.Args) > 0 && json.Valid(p.Args):
		dst = append(dst, p.Args...)
	case inline:
		dst = jsonscan.AppendQuote(append(dst, `{"type":"base64","media_type":`...), mime)
		dst = append(jsonscan.AppendQuote(append(dst, `,"data":`...), data), '}')
	default:
		dst = append(jsonscan.AppendQuote(append(dst, `{"type":"url","url":`...), media.URL), '}')
	}
	if media.Name != "" {
		dst = jsonscan.AppendQuote(append(dst, `,"title":`...), media.Name)
	}
	return append(dst, '}')
}
