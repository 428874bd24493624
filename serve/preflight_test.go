package serve_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// formats holds the wire's name in preflight and the name of its list.
var formats = map[string][2]string{"chat": {"openai", "messages"}, "responses": {"responses", "input"}, "anthropic": {"anthropic", "messages"}, "gemini": {"gemini", "contents"}}

type viewed struct {
	Messages []struct {
		Keep, Edit *int
		Message    json.RawMessage
		New        json.RawMessage
	}
	Result json.RawMessage
}

func messagesOf(t *testing.T, body, list string) []json.RawMessage {
	t.Helper()
	var all map[string]json.RawMessage
	var out []json.RawMessage
	if err := json.Unmarshal([]byte(body), &all); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(all[list], &out); err != nil {
		t.Fatal(err)
	}
	return out
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A hook that follows the plan sends the same as the proxy for the same history, on
// every wire, before and after compactions.
func TestPlansOfPreflightMakeTheViewThatTheProxySends(t *testing.T) {
	edits, made := 0, 0
	for _, f := range forms() {
		if f.stream {
			continue
		}
		name := formats[string(f.wire)]
		sentByProxy := make(chan string, 1)
		up := upstream(t, func(_ http.ResponseWriter, r *http.Request) { // an answer that bills nothing, so nothing is learned from it
			b, _ := io.ReadAll(r.Body)
			sentByProxy <- string(b)
		})
		hook, proxy := newRig(t, compact.Config{}, serve.Config{}), newRigTo(t, up, compact.Config{}, serve.Config{NoRecall: true})
		for _, rounds := range []int{3, 60, 400} {
			body := f.body("Fix it.", rounds, 300)
			given := messagesOf(t, body, name[1])
			req := object{"format": name[0], "session": "s", "model": "gpt-4o", "messages": given}
			if f.wire == "anthropic" || f.wire == "gemini" {
				req["model"] = map[string]string{"anthropic": "claude-sonnet-4-5", "gemini": "gemini-2.5-pro"}[name[0]]
			} else if f.wire == "responses" {
				req["model"] = "gpt-5"
			}
			sent := asJSON(t, req)
			check(t, "Request", []byte(sent))
			resp, answer := hook.do(hook.request("POST", "/v1/preflight", sent))
			if resp.StatusCode != http.StatusOK {
				t.Fatalf("%v: %s %s", f, resp.Status, answer)
			}
			check(t, "View", []byte(answer))
			var v viewed
			if err := json.Unmarshal([]byte(answer), &v); err != nil {
				t.Fatal(err)
			}
			var followed []string
			for _, m := range v.Messages {
				switch {
				case m.Keep != nil:
					followed = append(followed, string(given[*m.Keep]))
				case m.Edit != nil:
					edits++
					followed = append(followed, string(m.Message))
				default:
					made++
					followed = append(followed, string(m.New))
				}
			}
			proxy.post(f, body)
			var want []string
			for _, m := range messagesOf(t, <-sentByProxy, name[1]) {
				want = append(want, string(m))
			}
			if !slices.Equal(followed, want) {
				t.Errorf("%v, %d rounds: %d messages, the proxy sends %d", f, rounds, len(followed), len(want))
			}
		}
	}
	if edits == 0 || made == 0 {
		t.Errorf("%d edits, %d messages made", edits, made)
	}
}

type object = map[string]any

func TestPreflightReportsMistakes(t *testing.T) {
	archive := &broken{Archive: memory.New()}
	r := newRig(t, compact.Config{Archive: archive}, serve.Config{MaxBody: 100_000})
	ask := func(messages string) string {
		return `{"format":"openai","session":"s","model":"gpt-4o","messages":` + messages + `}`
	}
	long := messagesOf(t, forms()[0].body("Fix it.", 60, 260), "messages")
	for name, c := range map[string]struct {
		body, code string
		status     int
	}{
		"no JSON": {"{", "bad_request", 400}, "an unknown field": {`{"formt":"openai"}`, "bad_request", 400}, "no format": {`{"session":"s","messages":[{}]}`, "bad_request", 400},
		"no session": {`{"format":"openai","messages":[{}]}`, "bad_request", 400}, "no messages": {ask("[]"), "bad_request", 400}, "no message": {ask("[1]"), "bad_request", 400},
		"too large": {ask(`[{"role":"user","content":"` + strings.Repeat("x", 100_000) + `"}]`), "too_large", 413},
		"too much":  {ask(`[{"role":"user","content":"` + strings.Repeat("word ", 19_000) + `"}]`), "insufficient_budget", 422},
		"no disk":   {asJSON(t, object{"format": "openai", "session": "t", "model": "gpt-4o", "messages": long}), "archive_failed", 500},
	} {
		archive.on.Store(name == "no disk")
		resp, answer := r.do(r.request("POST", "/v1/preflight", c.body))
		check(t, "Error", []byte(answer))
		if resp.StatusCode != c.status || !strings.Contains(answer, `"code":"`+c.code+`"`) {
			t.Errorf("%s: %s %.200s", name, resp.Status, answer)
		}
	}
	for body, want := range map[string]string{"": "the body is empty", "x": "the body does not have the form in /openapi.json: invalid character", `{"formt":1}`: `: unknown field \"formt\"`} {
		if _, answer := r.do(r.request("POST", "/v1/preflight", body)); !strings.Contains(answer, want) {
			t.Errorf("%q: %s", body, answer)
		}
	}
	if r.metric(`compact_failures_total{op="preflight"}`) != "1" {
		t.Error("the failure was not counted")
	}
	if resp, _ := r.do(r.request("GET", "/v1/preflight", "")); resp.StatusCode != http.StatusMethodNotAllowed || resp.Header.Get("Allow") != "POST" {
		t.Error(resp.Status)
	}
	_, told := r.do(r.request("GET", "/openapi.json", ""))
	if told != string(description(t)) {
		t.Error("/openapi.json differs from the file")
	}
	guarded := newRig(t, compact.Config{}, serve.Config{Token: "t"})
	if resp, _ := guarded.do(guarded.request("POST", "/v1/preflight", ask("[]"))); resp.StatusCode != http.StatusUnauthorized {
		t.Error(resp.Status)
	}
}

// Each optional field of a request has its effect on the result.
func TestFieldsOfPreflightHaveAnEffect(t *testing.T) {
	r := newRig(t, compact.Config{}, serve.Config{})
	ask := func(rounds int, more object) (of struct {
		Agent    string `json:"agent"`
		In       int    `json:"tokens_in"`
		Window   int    `json:"max_tokens"`
		Budget   int    `json:"budget"`
		Replayed int    `json:"replayed_edits"`
	}) {
		t.Helper()
		req := object{"format": "anthropic", "session": "s", "model": "claude-sonnet-4-5", "messages": messagesOf(t, forms()[4].body("Fix it.", rounds, 300), "messages")}
		maps.Copy(req, more)
		resp, answer := r.do(r.request("POST", "/v1/preflight", asJSON(t, req)))
		var v struct{ Result json.RawMessage }
		if err := errors.Join(json.Unmarshal([]byte(answer), &v), json.Unmarshal(v.Result, &of)); err != nil || resp.StatusCode != http.StatusOK {
			t.Fatalf("%s %.200s %v", resp.Status, answer, err)
		}
		return of
	}
	plain := ask(2, nil)
	if got := ask(2, object{"max_output": plain.Budget / 2}); got.Budget >= plain.Budget || got.Window != plain.Window {
		t.Errorf("max_output: %+v, without %+v", got, plain)
	}
	if got := ask(2, object{"window": 9000}); got.Window != 9000 {
		t.Errorf("window: %+v", got)
	}
	if got := ask(2, object{"agent": "helper"}); got.Agent != "helper" {
		t.Errorf("agent: %+v", got)
	}
	for field, v := range map[string]any{"system": "Answer in short words.", "tools": []object{{"name": "read", "input_schema": object{"type": "object"}}}} {
		if got := ask(2, object{field: v}); got.In <= plain.In {
			t.Errorf("%s: %d tokens, without it %d", field, got.In, plain.In)
		}
	}
	ask(60, nil)
	if same, other := ask(60, nil), ask(60, object{"branch": "b"}); same.Replayed == 0 || other.Replayed != 0 {
		t.Errorf("the edits are applied again: %d on the branch, %d on another", same.Replayed, other.Replayed)
	}
}

// leaking is an archive with a key in its errors, like a backend that quotes its own
// address.
type leaking struct {
	*memory.Archive
	key string
}

func (l *leaking) Append(context.Context, storage.Key, int64, storage.Blob) error {
	return errors.New("PUT https://store.example/?token=" + l.key)
}

// The error of a preflight contains no keys.
func TestPreflightRedactsFailures(t *testing.T) {
	key := "sk-proj-" + "Qx7Lm2Vt9Rb4Ks6Wd1" + "Zc8Hn3Yp5Gf0Jq7Tu2Ea"
	r := newRig(t, compact.Config{Archive: &leaking{memory.New(), key}}, serve.Config{})
	long := messagesOf(t, forms()[0].body("Fix it.", 60, 260), "messages")
	resp, answer := r.do(r.request("POST", "/v1/preflight", asJSON(t, object{"format": "openai", "session": "t", "model": "gpt-4o", "messages": long})))
	if resp.StatusCode != http.StatusInternalServerError || strings.Contains(answer, key) || !strings.Contains(answer, "store.example") {
		t.Errorf("%s: %.300s", resp.Status, answer)
	}
}

// check compares a value with a schema of the OpenAPI file.
func check(t *testing.T, schema string, data []byte) {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatalf("%s: %v", data, err)
	}
	var doc object
	if err := json.Unmarshal(description(t), &doc); err != nil {
		t.Fatal(err)
	}
	schemas := doc["components"].(object)["schemas"].(object)
	if why := conforms(schemas, schemas[schema].(object), v); why != "" {
		t.Errorf("%s: %s: %.300s", schema, why, data)
	}
}

// conforms returns the reason why a value does not conform to a schema; "" = it
// does.
func conforms(all, schema object, v any) string {
	if ref, ok := schema["$ref"].(string); ok {
		return conforms(all, all[ref[strings.LastIndexByte(ref, '/')+1:]].(object), v)
	}
	if enum, ok := schema["enum"].([]any); ok && !slices.Contains(enum, v) {
		return fmt.Sprintf("%v is none of %v", v, enum)
	}
	if one, ok := schema["oneOf"].([]any); ok {
		n := 0
		for _, s := range one {
			if conforms(all, s.(object), v) == "" {
				n++
			}
		}
		if n != 1 {
			return fmt.Sprintf("%d schemas hold of %v", n, v)
		}
	}
	switch schema["type"] {
	case "string":
		if s, ok := v.(string); !ok || schema["minLength"] != nil && s == "" {
			return fmt.Sprintf("%v is no string, or empty", v)
		}
	case "integer":
		if n, ok := v.(float64); !ok || n != math.Trunc(n) || schema["minimum"] != nil && n < 0 {
			return fmt.Sprintf("%v is no such integer", v)
		}
	case "array":
		l, ok := v.([]any)
		if !ok || schema["minItems"] != nil && len(l) == 0 {
			return "no such array"
		}
		items, _ := schema["items"].(object)
		for _, e := range l {
			if why := conforms(all, items, e); items != nil && why != "" {
				return why
			}
		}
	case "object":
		return conformsObject(all, schema, v)
	}
	return ""
}

func conformsObject(all, schema object, v any) string {
	o, ok := v.(object)
	if !ok {
		return fmt.Sprintf("%v is no object", v)
	}
	required, _ := schema["required"].([]any)
	for _, name := range required {
		if _, ok := o[name.(string)]; !ok {
			return fmt.Sprintf("%v is missing", name)
		}
	}
	properties, _ := schema["properties"].(object)
	for name, e := range o {
		p, known := properties[name].(object)
		if !known && schema["additionalProperties"] == false {
			return name + " is not described"
		}
		if known {
			if why := conforms(all, p, e); why != "" {
				return name + ": " + why
			}
		}
	}
	return ""
}

func description(t *testing.T) []byte {
	t.Helper()
	data, err := os.ReadFile("openapi.json")
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// If the handler observes, hooks observe too: nothing is compacted for them either.
func TestPreflightChangesNothingWhereTheHandlerObserves(t *testing.T) {
	f := forms()[4]
	r := newRig(t, compact.Config{}, serve.Config{Observe: true})
	given := messagesOf(t, f.body("Fix it.", 60, 300), "messages")
	_, answer := r.do(r.request("POST", "/v1/preflight", asJSON(t, object{"format": "anthropic", "session": "s", "model": "claude-sonnet-4-5", "messages": given})))
	var v viewed
	if err := json.Unmarshal([]byte(answer), &v); err != nil {
		t.Fatal(err)
	}
	for i, m := range v.Messages {
		if m.Keep == nil || *m.Keep != i {
			t.Fatalf("message %d: %s%s", i, m.Message, m.New)
		}
	}
	if len(v.Messages) != len(given) || r.steps() != 0 || r.h.Stats().Compactions != 1 {
		t.Errorf("%d messages of %d, %d steps, %+v", len(v.Messages), len(given), r.steps(), r.h.Stats())
	}
}

// The description has exactly the fields that the code reads.
func TestDescriptionMatchesTheReadFields(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]any }
		}
	}
	if err := json.Unmarshal(description(t), &doc); err != nil {
		t.Fatal(err)
	}
	r := newRig(t, compact.Config{}, serve.Config{})
	for name := range doc.Components.Schemas["Request"].Properties {
		if _, answer := r.do(r.request("POST", "/v1/preflight", `{"`+name+`":null}`)); strings.Contains(answer, "unknown field") {
			t.Errorf("%s is described and not read", name)
		}
	}
	if n := len(doc.Components.Schemas["Request"].Properties); n != 10 {
		t.Errorf("%d fields are described", n)
	}
}
