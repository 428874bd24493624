package transport

import (
	"encoding/json"
	"slices"
	"testing"
)

// A hidden round is the model's answer, and one result for each recall call, with the id
// of its call where the wire has ids.
func TestARoundHoldsTheAnswerAndItsResults(t *testing.T) {
	for name, c := range map[string]struct {
		wire, answer string
		want         []string
	}{
		"openai": {
			"openai", `{"choices":[{"message":{"role":"assistant","content":"c","refusal":null,"annotations":[],"audio":{"id":"x"},"tool_calls":[
				{"id":"1","type":"function","function":{"name":"recall","arguments":"{\"ref\":\"a\"}"}},{"id":"2","type":"function","function":{"name":"recall","arguments":"{}"}}]}}]}`,
			[]string{
				`{"role":"assistant","content":"c","tool_calls":[{"id":"1","type":"function","function":{"name":"recall","arguments":"{\"ref\":\"a\"}"}},{"id":"2","type":"function","function":{"name":"recall","arguments":"{}"}}]}`,
				`{"role":"tool","tool_call_id":"1","content":"one"}`, `{"role":"tool","tool_call_id":"2","content":"two"}`,
			},
		},
		"openai, calls alone": {
			"openai", `{"choices":[{"message":{"role":"assistant","tool_calls":[
				{"id":"1","type":"function","function":{"name":"recall","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"recall","arguments":"{}"}}]}}]}`,
			[]string{
				`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"recall","arguments":"{}"}},{"id":"2","type":"function","function":{"name":"recall","arguments":"{}"}}]}`,
				`{"role":"tool","tool_call_id":"1","content":"one"}`, `{"role":"tool","tool_call_id":"2","content":"two"}`,
			},
		},
		"responses": {
			"responses", `{"object":"response","status":"completed","output":[{"type":"reasoning","id":"r","summary":[],"encrypted_content":"QQ"},
				{"type":"function_call","call_id":"1","name":"recall","arguments":"{}","status":"completed"},{"type":"function_call","call_id":"2","name":"recall","arguments":"{}"}]}`,
			[]string{
				`{"type":"reasoning","id":"r","summary":[],"encrypted_content":"QQ"}`,
				`{"type":"function_call","call_id":"1","name":"recall","arguments":"{}"}`, `{"type":"function_call","call_id":"2","name":"recall","arguments":"{}"}`,
				`{"type":"function_call_output","call_id":"1","output":"one"}`, `{"type":"function_call_output","call_id":"2","output":"two"}`,
			},
		},
		"anthropic": {
			"anthropic", `{"type":"message","content":[{"type":"thinking","thinking":"t","signature":"QQ"},{"type":"text","text":" "},
				{"type":"tool_use","id":"1","name":"recall","input":{"ref":"a"}},{"type":"tool_use","id":"2","name":"recall","input":{}}]}`,
			[]string{
				`{"role":"assistant","content":[{"type":"thinking","thinking":"t","signature":"QQ"},{"type":"tool_use","id":"1","name":"recall","input":{"ref":"a"}},{"type":"tool_use","id":"2","name":"recall","input":{}}]}`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"one"},{"type":"tool_result","tool_use_id":"2","content":"two"}]}`,
			},
		},
		"gemini, with an id and without": {
			"gemini", `{"candidates":[{"content":{"role":"model","parts":[{"text":""},{"functionCall":{"id":"1","name":"recall","args":{"ref":"a"}},"thoughtSignature":"QQ"},{"functionCall":{"name":"recall"}}]}}]}`,
			[]string{
				`{"role":"model","parts":[{"functionCall":{"id":"1","name":"recall","args":{"ref":"a"}},"thoughtSignature":"QQ"},{"functionCall":{"name":"recall"}}]}`,
				`{"role":"user","parts":[{"functionResponse":{"id":"1","name":"recall","response":{"output":"one"}}},{"functionResponse":{"name":"recall","response":{"output":"two"}}}]}`,
			},
		},
	} {
		d := dialects[c.wire]
		s, ok := d.read(split([]byte(c.answer), false))
		if !ok || len(s.ours) != 2 || s.others != 0 {
			t.Errorf("%s: %+v, %v, want true", name, s, ok)
			continue
		}
		var got []string
		for _, e := range d.round(s, []string{"one", "two"}) {
			got = append(got, sorted(t, string(e)))
		}
		for i := range c.want {
			c.want[i] = sorted(t, c.want[i])
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n%q, want\n%q", name, got, c.want)
		}
	}
}

// sorted returns a JSON text with the members of its objects in order.
func sorted(t *testing.T, text string) string {
	t.Helper()
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		t.Fatal(err)
	}
	out, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// A null field of tools declares nothing, and stays unchanged.
func TestToolsThatAreNullStay(t *testing.T) {
	for body, want := range map[string]bool{
		`{"contents":[],"tools":[{"functionDeclarations":null}]}`: false,
		`{"contents":[],"tools":[{"googleSearch":{}}]}`:           false,
		`{"contents":[],"tools":null}`:                            true,
		`{"contents":[],"tools":[]}`:                              true,
		`{"contents":[]}`:                                         true,
	} {
		if out, ok := (geminiDialect{}).declare([]byte(body)); ok != want || string(out) != body {
			t.Errorf("%s: %v, %s, want %v", body, ok, out, want)
		}
	}
	out, ok := (geminiDialect{}).declare([]byte(`{"contents":[],"tools":[{"functionDeclarations":[{"name":"f"}]},{"functionDeclarations":null}]}`))
	if at, err := fields(out, "tools"); !ok || err != nil || !json.Valid(out) || len(list(at["tools"].Of(out))) != 2 {
		t.Errorf("%s, %v, %v; want true and no error", out, ok, err)
	}
}

// Events are numbered again only if they have numbers.
func TestEventsWithoutNumbersGetNone(t *testing.T) {
	for number, want := range map[string]string{`,"sequence_number":7`: `,"sequence_number":0`, "": ""} {
		p := split([]byte(`data: {"type":"response.output_item.added","output_index":1`+number+"}\n\n"), true)
		responsesDialect{}.strip(p, &said{ours: []recallCall{{at: 0}}})
		if got := sorted(t, string(p.list[0].data)); got != sorted(t, `{"type":"response.output_item.added","output_index":0`+want+`}`) {
			t.Errorf("%q: %s, want an event without a number", number, got)
		}
	}
}

func TestTheTextOfTwoAnswersIsSeparatedOnce(t *testing.T) {
	for _, c := range []struct{ first, second, want string }{
		{"I look.", "It is here.", "\n\nIt is here."}, {"I look.", "\nIt is here.", "\nIt is here."}, {"I look.\n", "It is here.", "It is here."}, {"", "It is here.", "It is here."}, {"I look.", "", ""},
	} {
		var j joint
		j.endsInText(c.first)
		if got := j.apart(c.second); got != c.want {
			t.Errorf("%q after %q is %q, want %q", c.second, c.first, got, c.want)
		}
		if got := j.apart("more"); c.second != "" && got != "more" {
			t.Errorf("%q after %q: the next piece is %q", c.second, c.first, got)
		}
	}
}
