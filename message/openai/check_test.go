package openai_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

const legal = `{"messages":[
{"role":"system","content":"s"},
{"role":"user","content":"q"},
{"role":"assistant","content":null,"reasoning_content":"r","tool_calls":[{"id":"a","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"AA=="}}},{"id":"b","type":"function","function":{"name":"f","arguments":"{}"}}]},
{"role":"tool","tool_call_id":"b","content":"1"},
{"role":"tool","tool_call_id":"a","content":"2"},
{"role":"assistant","content":"done"},
{"role":"user","content":"next"}]}`

func message1(t *testing.T, raw string) message.Message {
	t.Helper()
	m, err := openai.ParseMessage([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// Each case is a view of the legal request, made by hand: first the sources, then the
// changes.
func TestCheckCatchesEachRule(t *testing.T) {
	r := parse(t, legal)
	msgs := r.Messages()
	fp := func(i int) string { return msgs[i].Fingerprint().String() }
	for name, c := range map[string]struct {
		sources []int
		replace map[int]message.Message
		want    []string
	}{
		"nothing":                             {sources: seq(7)},
		"a round less":                        {sources: []int{0, 1, 5, 6}},
		"a masked result":                     {sources: seq(7), replace: map[int]message.Message{3: wiretest.Edited(t, msgs[3], "[masked]")}},
		"a summary and a notice":              {sources: []int{0, -1, wiretest.Notice, 6}},
		"a call without its result":           {sources: []int{0, 1, 2, 3, 5, 6}, want: []string{"tool_call_without_result a"}},
		"something before the result":         {sources: []int{0, 2, 3, 1, 4, 5, 6}, want: []string{"tool_call_without_result a", "tool_result_without_call a"}},
		"a result without its call":           {sources: []int{0, 1, 3, 5, 6}, want: []string{"tool_result_without_call b"}},
		"a result twice":                      {sources: []int{0, 1, 2, 3, 4, 3, 5, 6}, want: []string{"tool_result_repeated b"}},
		"calls at the end":                    {sources: []int{0, 1, 2}, want: []string{"assistant_message_last ", "tool_call_without_result a", "tool_call_without_result b"}},
		"an empty stub":                       {sources: seq(7), replace: map[int]message.Message{3: wiretest.Edited(t, msgs[3], "")}, want: []string{"empty_content " + wiretest.Edited(t, msgs[3], "").Fingerprint().String()}},
		"a result without id":                 {sources: seq(7), replace: map[int]message.Message{5: message1(t, `{"role":"tool","content":"x"}`)}, want: []string{"tool_message_without_id "}},
		"the system message after the user's": {sources: []int{1, 0, 5, 6}, want: []string{"system_message_first "}},
		"a message of the model at the end":   {sources: []int{0, 1, 5}, want: []string{"assistant_message_last "}},
		"no user":                             {sources: []int{0, 2, 3, 4}, want: []string{"user_message_missing "}},
		"nothing left":                        {sources: []int{}, want: []string{"empty_content "}},
		"reasoning stripped": {sources: seq(7), replace: map[int]message.Message{2: message1(t, strings.Replace(string(msgs[2].Raw()), `"reasoning_content":"r",`, "", 1))},
			want: []string{"reasoning_changed " + fp(2)}},
		"a signature stripped": {sources: seq(7), replace: map[int]message.Message{2: message1(t, strings.Replace(string(msgs[2].Raw()), `"thought_signature":"AA=="`, "", 1))},
			want: []string{"tool_calls_changed " + fp(2)}},
		"a source that does not exist": {sources: []int{0, 9}, replace: map[int]message.Message{1: msgs[1]}, want: []string{"view_does_not_fit_request "}},
	} {
		t.Run(name, func(t *testing.T) {
			view, sources := wiretest.View(msgs, c.sources, c.replace)
			found := r.Check(view, sources)
			if diff := cmp.Diff(c.want, wiretest.Broken(found)); diff != "" {
				t.Error(diff)
			}
			for _, v := range found {
				if v.Detail == "" {
					t.Errorf("%s has no detail", v.Check)
				}
			}
		})
	}
}

// The older field for one call is also sent back unchanged.
func TestAFunctionCallThatChangesIsReported(t *testing.T) {
	call := func(city string) string {
		return `{"role":"assistant","content":"ok","function_call":{"name":"weather","arguments":"{\"city\":\"` + city + `\"}"}}`
	}
	r := parse(t, `{"messages":[{"role":"user","content":"q"},`+call("Rome")+`,{"role":"function","name":"weather","content":"sun"}]}`)
	msgs := r.Messages()
	for raw, want := range map[string][]string{
		strings.Replace(call("Rome"), `"ok"`, `"masked"`, 1): nil,
		call("Oslo"):                          {"tool_calls_changed " + msgs[1].Fingerprint().String()},
		`{"role":"assistant","content":"ok"}`: {"tool_calls_changed " + msgs[1].Fingerprint().String()},
	} {
		view, sources := wiretest.View(msgs, seq(3), map[int]message.Message{1: message1(t, raw)})
		if diff := cmp.Diff(want, wiretest.Broken(r.Check(view, sources))); diff != "" {
			t.Errorf("%s: %s", raw, diff)
		}
	}
}

func TestEveryKindOfContentCountsAsContent(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"role":"user","content":""}`: true, // the provider takes it
		`{"role":"user","content":[]}`: false,
		`{"role":"user"}`:              false,
		`{"role":"user","content":[{"type":"image_url","image_url":"u"}]}`:                  true,
		`{"role":"assistant","content":null}`:                                               false,
		`{"role":"assistant","content":null,"reasoning_content":"r"}`:                       false,
		`{"role":"assistant","content":null,"refusal":"no"}`:                                true,
		`{"role":"assistant","content":null,"function_call":{"name":"f","arguments":"{}"}}`: true,
		`{"role":"function","name":"f","content":"x"}`:                                      true,
	} {
		r := parse(t, `{"messages":[`+raw+`,{"role":"user","content":"q"}]}`)
		if got := r.Check(r.Messages(), seq(2)); (len(got) == 0) != want {
			t.Errorf("%s: the check reports %v", raw, got)
		}
	}
}

// The check of a request names the message in the view that breaks a rule.
func TestCheckNamesTheMessage(t *testing.T) {
	for body, want := range map[string]string{
		`[{"role":"user","content":"q"},{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]},{"role":"user","content":"q"}]`:                         "tool_call_without_result a 1",
		`[{"role":"user","content":"q"},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"user","content":"q"}]`:                                                              "tool_result_without_call a 1",
		`[{"role":"user","content":"q"},{"role":"assistant","content":"x"}]`:                                                                                                          "assistant_message_last  1",
		`[{"role":"user","content":"q"},{"role":"function","name":"f","tool_call_id":"a","content":"x"}]`:                                                                             "",
		`[{"role":"assistant","tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]},{"role":"tool","tool_call_id":"a","content":["x",""]},{"role":"user","content":"q"}]`: "",
		`[{"role":"user","content":"q","tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]},{"role":"user","content":"q"}]`:                                              "", // only the model calls tools
		`[]`: "",
	} {
		r := parse(t, `{"messages":`+body+`}`)
		got := ""
		for _, v := range r.Check(r.Messages(), seq(len(r.Messages()))) {
			got += fmt.Sprint(v.Check, " ", v.ID, " ", v.Index)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
	r := parse(t, `{"messages":[{"role":"developer","content":"d"},{"role":"user","content":"q"}]}`)
	if got := wiretest.Broken(r.Check(r.Messages()[1:], []int{1})); len(got) != 1 || got[0] != "system_message_first " {
		t.Errorf("without the developer's message: %v", got)
	}
	r = parse(t, `{"messages":[{"role":"assistant","content":"x","tool_calls":[{"id":"a","function":{"name":"f","arguments":"1"}}]},{"role":"tool","tool_call_id":"a","content":"x"},{"role":"user","content":"q"}]}`)
	view, sources := wiretest.View(r.Messages(), seq(3), map[int]message.Message{0: message1(t, strings.Replace(string(r.Messages()[0].Raw()), `"1"`, `"2"`, 1))})
	if got := r.Check(view, sources); len(got) != 1 || got[0].Check != openai.CheckCalls || got[0].Index != 0 {
		t.Errorf("with other arguments in the first message: %v", got)
	}
}

func TestRepeatedIDsOfLaterCallsAreLegal(t *testing.T) {
	round := `{"role":"assistant","content":null,"tool_calls":[{"id":"a","function":{"name":"f","arguments":""}}]},{"role":"tool","tool_call_id":"a","content":"x"}`
	r := parse(t, fmt.Sprintf(`{"messages":[{"role":"user","content":"q"},%s,%s]}`, round, round))
	if got := r.Check(r.Messages(), seq(5)); got != nil {
		t.Errorf("the check reports %v, want nothing", got)
	}
}

func TestTheLastOfTwoFieldsWithOneNameCounts(t *testing.T) {
	const function = `"function":{"name":"f","arguments":"{}"}`
	call := func(members string) string { return `{"role":"assistant","tool_calls":[{` + members + `}]}` }
	result := func(id string) string { return `{"role":"tool","tool_call_id":"` + id + `","content":"x"}` }
	for twice, once := range map[string]string{
		`{"role":"assistant","role":"user","content":"x"}`:                                                                          `{"role":"user","content":"x"}`,
		`{"role":"assistant","r\u006fle":"user","content":"x"}`:                                                                     `{"role":"user","content":"x"}`,
		`{"role":"user","content":"a","content":[{"type":"text","text":"b"}]}`:                                                      `{"role":"user","content":[{"type":"text","text":"b"}]}`,
		`{"role":"user","content":"a","content":null}`:                                                                              `{"role":"user","content":null}`,
		`{"role":"user","name":"a","content":"x","name":null}`:                                                                      `{"role":"user","content":"x"}`,
		`{"role":"user","content":"x","meta":{"protected":true},"meta":1}`:                                                          `{"role":"user","content":"x"}`,
		call(`"id":"a","id":"b",`+function) + `,` + result("b"):                                                                     call(`"id":"b",`+function) + `,` + result("b"),
		call(`"id":"a",`+function+`,"id":null`) + `,` + result("a"):                                                                 call(function) + `,` + result("a"),
		call(`"id":"a","function":{"name":"g","arguments":"1"},` + function):                                                        call(`"id":"a",` + function),
		`{"role":"assistant","tool_calls":[{"id":"a",` + function + `}],"tool_calls":[{"id":"b",` + function + `}]},` + result("b"): call(`"id":"b",`+function) + `,` + result("b"),
		`{"role":"assistant","content":"x","tool_calls":[{"id":"a",` + function + `}],"tool_calls":null}`:                           `{"role":"assistant","content":"x"}`,
		`{"role":"tool","tool_call_id":"a","content":"x","tool_call_id":"b"}`:                                                       `{"role":"tool","content":"x","tool_call_id":"b"}`,
		`{"role":"assistant","refusal":"a","refusal":"b","reasoning_content":"c","reasoning_content":"d"}`:                          `{"role":"assistant","refusal":"b","reasoning_content":"d"}`,
	} {
		wiretest.LastCounts(t, openai.Wire, `{"messages":[`+twice+`]}`, `{"messages":[`+once+`]}`)
	}
}
