package ledger

import (
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/redact"
)

// formats are the wires whose messages the archive stores in their own format.
// Lines of the first wire have no mark.
var formats = []struct {
	wire.Format
	mark redact.Text
}{
	{openai.Wire, redact.Lit("openai")},
	{responses.Wire, redact.Lit("responses")},
	{anthropic.Wire, redact.Lit("anthropic")},
	{gemini.Wire, redact.Lit("gemini")},
}

// FormatOf returns the wire with this name, or the first wire for any other
// name.
func FormatOf(name string) wire.Format {
	for _, f := range formats[1:] {
		if f.Name() == name {
			return f.Format
		}
	}
	return formats[0].Format
}

// WireMark returns the mark of a wire in lines of the archive, and false if it
// has none.
func WireMark(name string) (redact.Text, bool) {
	for _, f := range formats[1:] {
		if f.Name() == name {
			return f.mark, true
		}
	}
	return redact.Text{}, false
}
