package serve

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// A plan in short: K for kept, E for edited, N for new.
func short(ops []op) string {
	var out []string
	for _, o := range ops {
		switch {
		case o.Keep != nil:
			out = append(out, fmt.Sprint("K", *o.Keep))
		case o.Edit != nil:
			out = append(out, fmt.Sprint("E", *o.Edit))
		default:
			out = append(out, "N")
		}
	}
	return strings.Join(out, " ")
}

func TestPlanNamesTheSourceOfEachMessage(t *testing.T) {
	message := map[string]string{
		"u": `{"role":"user","content":"hi"}`, "s": `{"role":"user","content":"a summary"}`, "a": `{"role":"assistant","content":"hi"}`,
		"c1": `{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{}"}}]}`,
		"r1": `{"role":"tool","tool_call_id":"1","content":"long"}`, "R1": `{"role":"tool","tool_call_id":"1","content":"short"}`,
		"r2": `{"role":"tool","tool_call_id":"2","content":"long"}`, "R2": `{"role":"tool","tool_call_id":"2","content":"short"}`, "L2": `{"role":"tool","tool_call_id":"2","content":[{"type":"text","text":"short"}]}`,
		"g": `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"lines":[1,2]}}}]}`, "G": `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"short"}}}]}`,
		"x": `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"long"},{"type":"text","text":"and?"}]}`, "X": `{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":"short"},{"type":"text","text":"and?"}]}`,
		"o": `{"type":"function_call_output","call_id":"1","output":"long"}`, "O": `{"type":"function_call_output","call_id":"1","output":"short"}`,
	}
	list := func(names string) (out []json.RawMessage) {
		for _, n := range strings.Fields(names) {
			out = append(out, json.RawMessage(message[n]))
		}
		return out
	}
	for _, c := range []struct{ given, view, want string }{
		{"u c1 r1", "u c1 r1", "K0 K1 K2"},
		{"u c1 r1", "u c1 R1", "K0 K1 E2"},
		{"u r1 r2", "u R1 R2", "K0 E1 E2"},
		{"u r1 r2", "u R2", "K0 E2"},
		{"u r2", "u L2", "K0 E1"},
		{"g o", "G O", "E0 E1"},
		{"u x", "u X", "K0 E1"},
		{"u a u a", "a u a", "K1 K2 K3"}, // the later of two equal results, after the kept messages
		{"a u a", "u a", "K1 K2"},
		{"u a a u", "s a u", "N K1 K3"}, // a person's text is not edited
		{"u c1 r1 a", "s u a", "N K0 K3"},
		{"u c1 r1", "c1 r1 u", "K1 K2 K0"}, // a message was moved
		{"u a", "u u", "K0 N"},             // one is not two
		{"u r1", "u r2", "K0 N"},           // of another call
		{"u r1", "u R1 r1", "K0 N K1"},     // a kept message is not edited, too
	} {
		if got := short(plan(list(c.given), list(c.view))); got != c.want {
			t.Errorf("%s to %s: %s, want %s", c.given, c.view, got, c.want)
		}
	}
}
