package otel

import (
	"bytes"
	"encoding/json"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agentcompact/compact/trace"
)

// Keys of the semantic conventions for generative AI.
const (
	conversationID = attribute.Key("gen_ai.conversation.id")
	agentName      = attribute.Key("gen_ai.agent.name")
	operationName  = attribute.Key("gen_ai.operation.name")
	providerName   = attribute.Key("gen_ai.provider.name")
	errorType      = attribute.Key("error.type")
)

// everywhere says which key of an event's data has a name in the conventions.
var everywhere = map[string]string{
	"model":      "gen_ai.request.model",
	"error_type": string(errorType),
}

// ofCall says the same of the event that is a call to a model.
var ofCall = map[string]string{
	"max_tokens":        "gen_ai.request.max_tokens",
	"temperature":       "gen_ai.request.temperature",
	"prompt_tokens":     "gen_ai.usage.input_tokens",
	"completion_tokens": "gen_ai.usage.output_tokens",
}

// facts is what an event says.
type facts struct {
	attributes []attribute.KeyValue
	kind       oteltrace.SpanKind // client for a call to a model
	message    string             // the text to show
}

func read(ev *trace.Event) facts {
	f := facts{kind: oteltrace.SpanKindInternal, attributes: []attribute.KeyValue{
		attribute.String("compact.kind", ev.Kind),
		attribute.String("compact.trace_id", ev.TraceID),
		attribute.String("compact.span_id", ev.SpanID),
	}}
	f.addText(string(conversationID), ev.Session.String())
	f.addText(string(agentName), ev.Agent.String())
	f.addText("compact.severity", ev.Severity)
	data := map[string]any{}
	dec := json.NewDecoder(strings.NewReader(ev.Data.String()))
	dec.UseNumber()
	if err := dec.Decode(&data); err != nil {
		data = map[string]any{"output_text": ev.Data.String()}
	}
	delete(data, "session_id") // gen_ai.conversation.id
	delete(data, "agent")
	delete(data, "severity")
	f.message, _ = data["message"].(string)
	if f.message == "" {
		f.message, _ = data["output_text"].(string)
	}
	f.message = strings.ToValidUTF8(f.message, "\uFFFD")
	if ev.Kind == trace.KindLLM {
		f.call(data)
	}
	f.rename(data, everywhere)
	f.flatten("compact.", data)
	return f
}

// call adds what the conventions want to know of a call to a model.
func (f *facts) call(data map[string]any) {
	if data["backend"] == "extractive" {
		return // nobody was called
	}
	f.kind = oteltrace.SpanKindClient
	f.attributes = append(f.attributes, operationName.String("chat"))
	if backend, _ := data["backend"].(string); backend != "" {
		f.addText(string(providerName), backend)
	}
	f.rename(data, ofCall)
}

// rename adds the values of the named keys and takes them out of data.
func (f *facts) rename(data map[string]any, names map[string]string) {
	for from, to := range names {
		if v, there := data[from]; there {
			f.add(to, v)
			delete(data, from)
		}
	}
}

func (f *facts) flatten(prefix string, data map[string]any) {
	for k, v := range data {
		if m, ok := v.(map[string]any); ok {
			f.flatten(prefix+k+".", m)
			continue
		}
		f.add(prefix+k, v)
	}
}

func (f *facts) add(key string, value any) {
	switch v := value.(type) {
	case string:
		f.addText(key, v)
	case bool:
		f.attributes = append(f.attributes, attribute.Bool(key, v))
	case json.Number:
		f.addNumber(key, v)
	case []any:
		f.addList(key, v)
	}
}

func (f *facts) addText(key, value string) {
	if value == "" {
		return
	}
	if !utf8.ValidString(value) { // protobuf takes none
		value = strings.ToValidUTF8(value, "\uFFFD")
	}
	f.attributes = append(f.attributes, attribute.String(key, value))
}

// isFloat reports whether a key's values are shares, money or times, whole or
// not: a key must not change its type from span to span.
func isFloat(key string) bool {
	last := key[strings.LastIndexByte(key, '.')+1:]
	switch last {
	case "calibration", "temperature", "entity_retention":
		return true
	}
	for _, unit := range []string{"_pct", "_ratio", "_usd", "_ms"} {
		if strings.HasSuffix(last, unit) {
			return true
		}
	}
	return strings.Contains(key, ".timings_ms.")
}

func (f *facts) addNumber(key string, n json.Number) {
	if i, err := n.Int64(); err == nil && !isFloat(key) {
		f.attributes = append(f.attributes, attribute.Int64(key, i))
	} else if x, err := n.Float64(); err == nil {
		f.attributes = append(f.attributes, attribute.Float64(key, x))
	}
}

// addList adds a list of strings as one, anything else as JSON: an attribute
// can't be a list of objects.
func (f *facts) addList(key string, list []any) {
	texts := make([]string, 0, len(list))
	for _, v := range list {
		s, ok := v.(string)
		if !ok {
			f.addText(key, encode(list))
			return
		}
		texts = append(texts, strings.ToValidUTF8(s, "\uFFFD"))
	}
	f.attributes = append(f.attributes, attribute.StringSlice(key, texts))
}

func encode(v any) string {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		return "" // decoded from JSON, so it can be encoded
	}
	return strings.TrimSuffix(b.String(), "\n")
}
