package responses_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// The check pairs outputs with calls that are many items away, and finds an unpaired item among
// many others.
func TestCheckFindsCallsThatAreFarAway(t *testing.T) {
	const calls = 100
	var items []string
	for i := range 2 * calls {
		form := `{"type":"function_call","call_id":"c%d","name":"f","arguments":"{}"}`
		if i >= calls {
			form = `{"type":"function_call_output","call_id":"c%d","output":"1"}`
		}
		items = append(items, fmt.Sprintf(form, i%calls))
	}
	items = append(items, `{"type":"item_reference","id":"fc_9"}`, `{"type":"function_call_output","call_id":"z","output":"3"}`, `{"role":"user","content":"next"}`,
		`{"type":"function_call","call_id":"k","name":"f","arguments":"{}"}`, `{"type":"item_reference","id":"rs_9"}`, `{"type":"function_call_output","call_id":"k","output":"4"}`)
	r := parse(t, `{"input":[`+strings.Join(items, ",")+`]}`)
	msgs := r.Messages()
	// The items are the calls, their outputs, the reference, an output for the referenced
	// call, the user, a call with a reference, and the output of that call.
	if len(msgs) != calls+6 {
		t.Fatalf("%d messages, want %d", len(msgs), calls+6)
	}
	before := r.Check(msgs, seq(len(msgs)))
	split := "item_reference_split " + msgs[calls+2].Fingerprint().String()
	var orphans []string
	for i := range calls {
		orphans = append(orphans, fmt.Sprint("tool_result_without_call c", i))
	}
	slices.Sort(orphans)
	for name, c := range map[string]struct {
		less int // the message that is not there
		want []string
	}{
		"nothing":                           {-1, nil},
		"an output":                         {1 + 7, []string{"tool_call_without_result c7"}},
		"the calls":                         {0, orphans},
		"the reference":                     {calls + 1, []string{split}},
		"the output of the referenced call": {calls + 2, []string{split}},
		"a call and reference":              {calls + 4, []string{"tool_result_without_call k"}},
	} {
		t.Run(name, func(t *testing.T) {
			view, sources := wiretest.View(msgs, slices.DeleteFunc(seq(len(msgs)), func(i int) bool { return i == c.less }), nil)
			if diff := cmp.Diff(c.want, wiretest.Broken(wire.New(before, r.Check(view, sources)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// Of several calls with one id, an output answers the newest, even if many other items
// are between them.
func TestAnOutputAnswersTheNewestOfSeveralCallsWithItsID(t *testing.T) {
	call := func(id, text string) string {
		return fmt.Sprintf(`{"type":"function_call","call_id":%q,"name":"f","arguments":%q}`, id, text)
	}
	output := func(id, text string) string {
		return fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, text)
	}
	items := []string{`{"role":"user","content":"go"}`, call("c", "{}"), output("c", "1"), call("c", `{"again":true}`)}
	for i := range 100 {
		id := fmt.Sprint("other", i)
		items = append(items, call(id, "{}"), output(id, "3"))
	}
	items = append(items, output("c", "2"), `{"role":"user","content":"next"}`)
	r := parse(t, `{"input":[`+strings.Join(items, ",")+`]}`)
	msgs := r.Messages()
	if found := r.Check(msgs, seq(len(msgs))); len(found) > 0 {
		t.Errorf("a legal request: %v", found)
	}
}
