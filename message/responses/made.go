package responses

import (
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
)

// maker writes the items of a message that did not come from this wire.
type maker struct {
	m       message.Message
	out     []byte
	content []*message.Part // content of the item that is being written
	result  bool            // that item is a tool result
}

// begin begins an item; kind is the value of "type", as JSON.
func (w *maker) begin(kind string) {
	if len(w.out) > 0 {
		w.out = append(w.out, ',')
	}
	w.out = append(append(w.out, `{"type":`...), kind...)
}

// role returns the role of a message item. The wire has no role for tools, so
// their texts become the user's.
func (w *maker) role() message.Role {
	if w.m.Role == message.RoleTool || w.m.Role == "" {
		return message.RoleUser
	}
	return w.m.Role
}

func (w *maker) part(p *message.Part) {
	switch p.Kind {
	case message.KindToolCall:
		w.flush()
		w.call(p)
	case message.KindReasoning:
		w.flush()
		w.begin(`"reasoning","summary":[],"content":[{"type":"reasoning_text","text":`)
		w.out = append(jsonscan.AppendQuote(w.out, p.Text), `}]}`...)
	default:
		result := p.Kind == message.KindToolResult || w.result && p.Kind != message.KindText
		if len(w.content) > 0 && (result != w.result || result && p.CallID != w.content[0].CallID && p.Kind == message.KindToolResult) {
			w.flush()
		}
		w.content, w.result = append(w.content, p), result
	}
}

func (w *maker) call(p *message.Part) {
	w.begin(`"function_call","call_id":`)
	w.out = jsonscan.AppendQuote(w.out, p.CallID)
	w.out = jsonscan.AppendQuote(append(w.out, `,"name":`...), p.Name)
	w.out = jsonscan.AppendQuote(append(w.out, `,"arguments":`...), string(p.Args))
	w.out = append(w.out, '}')
}

// flush ends the item whose content was collected.
func (w *maker) flush() {
	if len(w.content) == 0 {
		return
	}
	if w.result {
		w.begin(`"function_call_output","call_id":`)
		w.out = jsonscan.AppendQuote(w.out, w.content[0].CallID)
		w.out = append(w.out, `,"output":`...)
	} else {
		w.begin(`"message","role":`)
		w.out = jsonscan.AppendQuote(w.out, string(w.role()))
		w.out = append(w.out, `,"content":`...)
	}
	if len(w.content) == 1 && textual(w.content[0]) {
		w.out = jsonscan.AppendQuote(w.out, w.content[0].Text)
	} else {
		w.parts()
	}
	w.out = append(w.out, '}')
	w.content, w.result = nil, false
}

func textual(p *message.Part) bool {
	return p.Kind == message.KindText || p.Kind == message.KindToolResult && p.Media == nil
}

func (w *maker) parts() {
	w.out = append(w.out, '[')
	for i, p := range w.content {
		if i > 0 {
			w.out = append(w.out, ',')
		}
		w.contentPart(p)
	}
	w.out = append(w.out, ']')
}

func (w *maker) contentPart(p *message.Part) {
	switch {
	case textual(p):
		kind := `{"type":"input_text","text":`
		if w.m.Role == message.RoleAssistant {
			kind = `{"type":"output_text","text":`
		}
		w.out = append(jsonscan.AppendQuote(append(w.out, kind...), p.Text), '}')
	case p.Kind == message.KindFile && p.Media != nil && strings.HasPrefix(p.Media.URL, "http"):
		w.media(`{"type":"input_file","file_url":`, p.Media) // the provider takes no address as data
	case p.Kind == message.KindFile && p.Media != nil && p.Media.URL != "":
		w.media(`{"type":"input_file","file_data":`, p.Media)
	case p.Media != nil && p.Media.URL != "":
		w.media(`{"type":"input_image","image_url":`, p.Media)
	case len(p.Args) > 0:
		w.out = append(w.out, p.Args...)
	default:
		w.out = append(jsonscan.AppendQuote(append(w.out, `{"type":"input_text","text":`...), "["+p.Kind.String()+"]"), '}')
	}
}

func (w *maker) media(head string, m *message.Media) {
	w.out = jsonscan.AppendQuote(append(w.out, head...), m.URL)
	if m.Name != "" {
		w.out = jsonscan.AppendQuote(append(w.out, `,"filename":`...), m.Name)
	}
	if m.Detail != "" {
		w.out = jsonscan.AppendQuote(append(w.out, `,"detail":`...), m.Detail)
	}
	w.out = append(w.out, '}')
}
