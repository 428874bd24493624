package histgen

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

// finish returns a message made in Go, or the same message as read from JSON.
// Sounds and files only exist in JSON.
func (b *builder) finish(m message.Message) message.Message {
	needsWire := m.Has(message.KindAudio) || m.Has(message.KindFile)
	if !needsWire && !chance(b.rng, b.Wire) {
		return m
	}
	raw := encode(b.rng, m)
	out, err := openai.ParseMessage(raw)
	if err != nil {
		panic("histgen: wrote what can't be read: " + err.Error() + "\n" + string(raw))
	}
	return out
}

// encode writes a message like clients do: fields in any order, unknown fields,
// numbers beyond a float, and unnecessary escapes.
func encode(rng *rand.Rand, m message.Message) []byte {
	fields := []string{`"role":` + quote(rng, string(m.Role)), `"content":` + content(rng, m)}
	for _, p := range m.Parts {
		if p.Kind == message.KindReasoning {
			fields = append(fields, `"reasoning_content":`+quote(rng, p.Text))
		}
	}
	if calls := toolCalls(rng, m); calls != "" {
		fields = append(fields, `"tool_calls":`+calls)
	}
	if m.Has(message.KindToolResult) {
		fields = append(fields, `"tool_call_id":`+quote(rng, resultID(m)))
	}
	if m.Protected {
		fields = append(fields, `"meta":{"protected":true,"by":"somebody"}`)
	}
	if rng.IntN(4) == 0 {
		fields = append(fields, pick(rng, `"cache_control":{"type":"ephemeral"}`, `"x_id":12345678901234567890`, `"x":1.50e+03`, `"refusal":null`, `"annotations":[]`))
	}
	rng.Shuffle(len(fields), func(i, k int) { fields[i], fields[k] = fields[k], fields[i] })
	comma := pick(rng, ",", ", ", " ,\t")
	return []byte("{" + strings.Join(fields, comma) + "}")
}

func resultID(m message.Message) string {
	i := slices.IndexFunc(m.Parts, func(p message.Part) bool { return p.Kind == message.KindToolResult })
	return m.Parts[i].CallID
}

// content returns a string, a list of parts, or null for a message of calls alone.
func content(rng *rand.Rand, m message.Message) string {
	var parts, texts []string
	for _, p := range m.Parts {
		switch p.Kind {
		case message.KindText, message.KindToolResult:
			texts = append(texts, p.Text)
			parts = append(parts, `{"type":"text","text":`+quote(rng, p.Text)+pick(rng, "", "", `,"cache_control":{"type":"ephemeral"}`)+`}`)
		case message.KindImage:
			parts = append(parts, `{"type":"image_url","image_url":{"url":`+quote(rng, p.Media.URL)+`,"detail":`+quote(rng, p.Media.Detail)+`}}`)
		case message.KindAudio:
			parts = append(parts, `{"type":"input_audio","input_audio":{"data":"AAAA","format":"wav"}}`)
		case message.KindFile:
			parts = append(parts, `{"type":"file","file":{"file_id":"file-1"}}`)
		}
	}
	switch {
	case len(parts) == 0:
		return pick(rng, "null", `""`)
	case len(parts) == 1 && len(texts) == 1 && rng.IntN(4) > 0:
		return quote(rng, texts[0])
	}
	return "[" + strings.Join(parts, ",") + "]"
}

func toolCalls(rng *rand.Rand, m message.Message) string {
	var calls []string
	for _, p := range m.Parts {
		if p.Kind != message.KindToolCall {
			continue
		}
		calls = append(calls, `{"id":`+quote(rng, p.CallID)+`,"type":"function","function":{"name":`+quote(rng, p.Name)+`,"arguments":`+quote(rng, string(p.Args))+`}}`)
	}
	if calls == nil {
		return ""
	}
	return "[" + strings.Join(calls, ",") + "]"
}

// quote writes a JSON string in one of several equivalent ways.
func quote(rng *rand.Rand, s string) string {
	switch rng.IntN(6) {
	case 0:
		return `"` + escaped(s) + `"`
	case 1:
		return strings.ReplaceAll(marshal(s), "/", `\/`)
	}
	return marshal(s)
}

func marshal(s string) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(s); err != nil {
		panic("histgen: " + err.Error())
	}
	return strings.TrimSuffix(b.String(), "\n")
}

// escaped writes quotes and characters outside of ASCII as UTF-16 escapes.
func escaped(s string) string {
	var b strings.Builder
	for _, r := range s {
		switch {
		case r >= 0x10000:
			r -= 0x10000
			escape(&b, 0xd800+r>>10)
			escape(&b, 0xdc00+r&0x3ff)
		case r < 0x20 || r == '"' || r == '\\' || r > 0x7e:
			escape(&b, r)
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}

func escape(b *strings.Builder, r rune) {
	hex := strconv.FormatInt(int64(r), 16)
	b.WriteString(`\u` + strings.Repeat("0", 4-len(hex)) + hex)
}
