package token

import "github.com/agentcompact/compact/message"

// gateway is the format that counts bytes divided by four, each part rounded down
// by itself.
type gateway struct{}

const gatewayPerMessage = 4

func (gateway) text(s string) int { return len(s) / 4 }

func (gateway) reply() int { return 0 }

func (gateway) tools(schemas []byte) int { return len(schemas) / 4 }

func (g gateway) message(m *message.Message) priced {
	p := priced{Mix: Mix{Fixed: gatewayPerMessage}}
	calls, size, apart := 0, len("[]"), 0
	for i := range m.Parts {
		part := &m.Parts[i]
		mix := g.part(part)
		p.add(part, mix)
		if part.Kind == message.KindToolCall {
			calls++
			size += callSize(part)
			apart += mix.Code
		}
	}
	if calls > 0 { // count all calls together, with commas between them, instead of one by one
		p.Code += (size+calls-1)/4 - apart
	}
	return p
}

func (g gateway) part(p *message.Part) Mix {
	switch p.Kind {
	case message.KindToolCall:
		return Mix{Code: (callSize(p) + len("[]")) / 4}
	case message.KindImage, message.KindAudio, message.KindFile:
		return Mix{Fixed: mediaFor("").cost(p)}
	case message.KindToolResult: // the id of the call is a separate field
		return Mix{Code: g.text(p.Text) + g.text(p.CallID)}
	case message.KindOther:
		return Mix{Code: (len(p.Text) + len(p.Args)) / 4}
	}
	return Mix{Prose: g.text(p.Text)}
}

// callSize returns the length of a tool call as compact JSON:
// {"id":…,"type":"function","function":{"name":…,"arguments":…}}.
func callSize(p *message.Part) int {
	const frame = `{"id":,"type":"function","function":{"name":,"arguments":}}`
	return len(frame) + quoted(p.CallID) + quoted(p.Name) + quoted(string(p.Args))
}

// quoted returns the length of s as a JSON string with the fewest possible
// escapes.
func quoted(s string) int {
	n := len(s) + len(`""`)
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c == '"', c == '\\', c == '\n', c == '\r', c == '\t', c == '\b', c == '\f':
			n += len(`\n`) - 1
		case c < 0x20:
			n += len(`\u0000`) - 1
		}
	}
	return n
}

// charsFormat counts the UTF-16 code units of text and tool results.
type charsFormat struct{}

func (charsFormat) text(s string) int { return UTF16.Count(s) }

func (charsFormat) reply() int { return 0 }

func (charsFormat) tools([]byte) int { return 0 }

func (c charsFormat) message(m *message.Message) priced {
	var p priced
	for i := range m.Parts {
		p.add(&m.Parts[i], c.part(&m.Parts[i]))
	}
	return p
}

func (c charsFormat) part(p *message.Part) Mix {
	switch p.Kind {
	case message.KindText:
		return Mix{Prose: c.text(p.Text)}
	case message.KindToolResult:
		return Mix{Code: c.text(p.Text)}
	}
	return Mix{}
}
