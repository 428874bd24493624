package otel

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"unicode/utf8"

	"go.opentelemetry.io/otel/attribute"
	oteltrace "go.opentelemetry.io/otel/trace"

	"github.com/agentcompact/compact/trace"
)

// Keys of the semantic conventions for generative AI.
const (
	conversationID = attribute.Key("gen_ai.conversation.id")
	compacted      = attribute.Key("gen_ai.conversation.compacted")
	agentName      = attribute.Key("gen_ai.agent.name")
	operationName  = attribute.Key("gen_ai.operation.name")
	providerName   = attribute.Key("gen_ai.provider.name")
	requestModel   = "gen_ai.request.model"
	outputMessages = attribute.Key("gen_ai.output.messages")
	errorType      = attribute.Key("error.type")
)

// chat is the operation name of a call to a summarizing model.
const chat = "chat"

// unnamed is the prefix of the ids of sessions without a name, which are not
// conversation ids.
const unnamed = "unnamed:"

// name maps a key of an event's data to its name in the conventions.
type name struct{ from, to string }

// ofCall lists the names for the event of a model call, in order.
var ofCall = []name{
	{"model", requestModel},
	{"max_tokens", "gen_ai.request.max_tokens"},
	{"temperature", "gen_ai.request.temperature"},
	{"seed", "gen_ai.request.seed"},
	{"response_model", "gen_ai.response.model"},
	{"response_id", "gen_ai.response.id"},
	{"finish_reasons", "gen_ai.response.finish_reasons"},
	{"prompt_tokens", "gen_ai.usage.input_tokens"},
	{"cached_tokens", "gen_ai.usage.cache_read.input_tokens"},
	{"written_tokens", "gen_ai.usage.cache_write.input_tokens"},
	{"completion_tokens", "gen_ai.usage.output_tokens"},
	{"server_address", "server.address"},
	{"server_port", "server.port"},
}

// facts holds the contents of a span.
type facts struct {
	name       string
	attributes []attribute.KeyValue
	kind       oteltrace.SpanKind // client for a call to a model
	message    string             // the text to show
	compacted  bool               // the conversation now has a summary
}

// read returns the contents of an event's span, always in the same order. It
// leaves out texts of the conversation unless content is set.
func read(ev *trace.Event, content bool) facts {
	f := facts{name: ev.Name, kind: oteltrace.SpanKindInternal, attributes: []attribute.KeyValue{
		attribute.String("compact.event", ev.Name),
		attribute.String("compact.kind", ev.Kind),
		attribute.String("compact.trace_id", ev.TraceID),
		attribute.String("compact.span_id", ev.SpanID),
	}}
	if id := ev.Session.String(); strings.HasPrefix(id, unnamed) {
		f.addText("compact.session_id", id)
	} else {
		f.addText(string(conversationID), id)
	}
	f.addText(string(agentName), ev.Agent.String())
	f.addText("compact.severity", ev.Severity)
	data := dataOf(ev)
	f.fail(data)
	if ev.Kind == trace.KindLLM {
		f.call(data, content)
	}
	if ev.Kind == trace.KindSummary {
		f.compacted = true
		f.attributes = append(f.attributes, compacted.Bool(true))
	}
	if !content {
		f.withhold(ev, data)
	}
	f.message = messageOf(data)
	f.flatten("compact.", data)
	return f
}

// messageOf returns the text to show. data no longer has withheld texts.
func messageOf(data map[string]any) string {
	for _, key := range []string{"message", "output_text", "error_type"} {
		if text, _ := data[key].(string); text != "" {
			return strings.ToValidUTF8(text, "\uFFFD")
		}
	}
	return ""
}

func dataOf(ev *trace.Event) map[string]any {
	data := map[string]any{}
	dec := json.NewDecoder(strings.NewReader(ev.Data.String()))
	dec.UseNumber()
	if err := dec.Decode(&data); err != nil {
		data = map[string]any{"output_text": ev.Data.String()}
	}
	delete(data, "session_id") // gen_ai.conversation.id
	delete(data, "agent")
	delete(data, "severity")
	return data
}

// fail adds error.type for a failure: its cause if known, else its type.
func (f *facts) fail(data map[string]any) {
	cause, _ := data["cause"].(string)
	kind, _ := data["error_type"].(string)
	if kind == "" {
		return
	}
	f.addText(string(errorType), cmp.Or(cause, kind))
	delete(data, "cause")
}

// withhold removes the texts of the conversation. Numbers, and this program's
// own words, stay.
func (f *facts) withhold(ev *trace.Event, data map[string]any) {
	switch ev.Kind {
	case trace.KindSummary:
		delete(data, "output_text")
		delete(data, "payload")
	case trace.KindLLM:
		delete(data, "payload")
		if !ev.Failed() {
			delete(data, "output_text")
		}
	case trace.KindRecall:
		delete(data, "pattern")
		delete(data, "output_text") // output_text contains the pattern
	}
}

// call sets the name, kind and attributes that the conventions define for a model
// call.
func (f *facts) call(data map[string]any, content bool) {
	if data["backend"] == "extractive" {
		return // no model call was made
	}
	f.kind = oteltrace.SpanKindClient
	f.attributes = append(f.attributes, operationName.String(chat))
	if backend, _ := data["backend"].(string); backend != "" {
		f.addText(string(providerName), backend)
	}
	if model, _ := data["model"].(string); model != "" {
		f.name = chat + " " + strings.ToValidUTF8(model, "\uFFFD")
	} else {
		f.name = chat
	}
	if text, _ := data["output_text"].(string); content && text != "" && data["error_type"] == nil {
		f.addText(string(outputMessages), encode([]any{map[string]any{
			"role": "assistant", "parts": []any{map[string]any{"type": "text", "content": text}}, "finish_reason": finish(data),
		}}))
	}
	f.rename(data, ofCall)
}

func finish(data map[string]any) string {
	if all, _ := data["finish_reasons"].([]any); len(all) > 0 {
		s, _ := all[0].(string)
		return s
	}
	return "stop"
}

// rename adds the values of the named keys and removes them from data.
func (f *facts) rename(data map[string]any, names []name) {
	for _, n := range names {
		if v, there := data[n.from]; there {
			f.add(n.to, v)
			delete(data, n.from)
		}
	}
}

func (f *facts) flatten(prefix string, data map[string]any) {
	for _, k := range slices.Sorted(maps.Keys(data)) {
		if m, ok := data[k].(map[string]any); ok {
			f.flatten(prefix+k+".", m)
			continue
		}
		f.add(prefix+k, data[k])
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
	if !utf8.ValidString(value) { // protobuf rejects invalid UTF-8
		value = strings.ToValidUTF8(value, "\uFFFD")
	}
	f.attributes = append(f.attributes, attribute.String(key, value))
}

// isFloat reports whether a key's values are shares, money or times. They are
// floats even if whole, because the type of a key must not vary between spans.
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

// addList adds a list of strings as a list, and any other list as JSON: an
// attribute can't be a list of objects.
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
