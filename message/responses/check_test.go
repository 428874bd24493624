package responses_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// Its messages: 0 instructions, 1 compaction, 2 user, 3 reasoning and two calls, 4 and
// 5 their outputs, 6 reference, 7 an output for a call in the referenced item, 8
// reasoning and text, 9 user.
const legal = `{"instructions":"s","input":[
{"type":"compaction","encrypted_content":"x"},
{"role":"user","content":"q"},
{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"QQ"},
{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},
{"type":"function_call","call_id":"b","name":"f","arguments":"{}"},
{"type":"function_call_output","call_id":"b","output":"1"},
{"type":"function_call_output","call_id":"a","output":"2"},
{"type":"item_reference","id":"fc_9"},
{"type":"function_call_output","call_id":"z","output":"3"},
{"type":"reasoning","id":"rs_2","summary":[]},
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"done"}]},
{"role":"user","content":"next"}]}`

// Each case is a view of the legal request, made by hand, with the rules that it breaks
// and the request does not.
func TestCheckCatchesEachRule(t *testing.T) {
	r := parse(t, legal)
	msgs := r.Messages()
	before := r.Check(msgs, seq(len(msgs)))
	if diff := cmp.Diff([]string{"tool_result_without_call z"}, wiretest.Broken(before)); diff != "" {
		t.Fatal(diff) // the call is in the referenced item, which the provider has
	}
	fp := func(i int) string { return msgs[i].Fingerprint().String() }
	item := func(old, new string) message.Message {
		m, err := responses.ParseMessage([]byte(`{"items":[` + strings.Replace(string(msgs[3].Raw()), old, new, 1) + `]}`))
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	empty := wiretest.Edited(t, msgs[4], "")
	for name, c := range map[string]struct {
		sources []int
		replace map[int]message.Message
		want    []string
	}{
		"nothing":                           {sources: seq(10)},
		"rounds less":                       {sources: []int{0, 1, 2, 6, 7, 9}},
		"a reference less":                  {sources: []int{0, 1, 2, 8, 9}},
		"a masked output":                   {sources: seq(10), replace: map[int]message.Message{4: wiretest.Edited(t, msgs[4], "[masked]")}},
		"a summary and a notice":            {sources: []int{0, 1, -1, wiretest.Notice, 9}},
		"a call without its output":         {sources: []int{0, 1, 2, 3, 4, 9}, want: []string{"tool_call_without_result a"}},
		"an output without its call":        {sources: []int{0, 1, 2, 4, 9}, want: []string{"tool_result_without_call b"}},
		"an output before its call":         {sources: []int{0, 1, 2, 4, 3, 5, 9}, want: []string{"tool_call_without_result b", "tool_result_without_call b"}},
		"an item twice":                     {sources: []int{0, 1, 2, 2, 9}, want: []string{"item_repeated " + fp(2)}},
		"reasoning alone":                   {sources: seq(10), replace: map[int]message.Message{8: reasoningOf(t, msgs[8])}, want: []string{"reasoning_without_item " + reasoningOf(t, msgs[8]).Fingerprint().String(), "sealed_item_changed " + fp(8)}},
		"reasoning stripped":                {sources: seq(10), replace: map[int]message.Message{3: item(`{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"QQ"},`, "")}, want: []string{"sealed_item_changed " + fp(3)}},
		"encrypted content changed":         {sources: seq(10), replace: map[int]message.Message{3: item("QQ", "QR")}, want: []string{"sealed_item_changed " + fp(3)}},
		"arguments changed":                 {sources: seq(10), replace: map[int]message.Message{3: item("{}", "{ }")}, want: []string{"sealed_item_changed " + fp(3)}},
		"the compaction item gone":          {sources: []int{0, 2, 9}, want: []string{"compaction_item_missing " + fp(1)}},
		"an output without reference":       {sources: []int{0, 1, 2, 7, 9}, want: []string{"item_reference_split " + fp(7)}},
		"a reference without output":        {sources: []int{0, 1, 2, 6, 8, 9}, want: []string{"item_reference_split " + fp(7)}},
		"an empty stub":                     {sources: seq(10), replace: map[int]message.Message{4: empty}, want: []string{"empty_content " + empty.Fingerprint().String()}},
		"a message of the model at the end": {sources: []int{0, 1, 2, 8}, want: []string{"assistant_message_last "}},
		"no user":                           {sources: []int{0, 1, 3, 4, 5}, want: []string{"user_message_missing "}},
		"nothing left":                      {sources: []int{0}, want: []string{"compaction_item_missing " + fp(1), "empty_content "}},
		"no instructions":                   {sources: []int{1, 2}, want: []string{"view_does_not_fit_request "}},
	} {
		t.Run(name, func(t *testing.T) {
			view, sources := wiretest.View(msgs, c.sources, c.replace)
			wiretest.Counted(t, r.Check(view, sources))
			if diff := cmp.Diff(c.want, wiretest.Broken(wire.New(before, r.Check(view, sources)))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// reasoningOf returns a message without the items that its reasoning led to.
func reasoningOf(t *testing.T, m message.Message) message.Message {
	t.Helper()
	first, _, _ := strings.Cut(string(m.Raw()), ",\n")
	m, err := responses.ParseMessage([]byte(first))
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func TestLegalBodiesOfEveryItemAreLegal(t *testing.T) {
	for _, items := range []string{
		`{"type":"shell_call","call_id":"a","action":{}},{"type":"shell_call_output","call_id":"a","output":[{"stdout":"x","stderr":"","outcome":{}}]}`,
		`{"type":"local_shell_call","call_id":"a","action":{}},{"type":"local_shell_call_output","id":"a","output":"x"}`,
		`{"type":"apply_patch_call","call_id":"a","operation":{}},{"type":"apply_patch_call_output","call_id":"a","status":"completed"}`,
		`{"type":"computer_call","call_id":"a","action":{}},{"type":"computer_call_output","call_id":"a","output":{"type":"computer_screenshot","file_id":"f"}}`,
		`{"type":"mcp_list_tools","id":"l"},{"type":"mcp_approval_request","id":"a","arguments":"{}"},{"type":"mcp_approval_response","approval_request_id":"a","approve":true}`,
		`{"type":"tool_search_call","call_id":null},{"type":"tool_search_output","tools":[]},{"type":"function_call","call_id":"a","name":"f","arguments":""},{"type":"function_call_output","call_id":"a","output":"x"}`,
		`{"type":"function_call","call_id":"a","name":"f","arguments":""},{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"1"},{"type":"input_text","text":"2"}]},{"type":"function_call","call_id":"a","name":"f","arguments":""},{"type":"function_call_output","call_id":"a","output":"x"}`,
	} {
		r := parse(t, `{"input":[{"role":"user","content":"q"},`+items+`]}`)
		if got := r.Check(r.Messages(), seq(len(r.Messages()))); got != nil {
			t.Errorf("%s: the check reports %v, want nothing", items, got)
		}
	}
}

func TestPicturesAndComputerCallsAreReadWhole(t *testing.T) {
	msgs := parse(t, `{"input":[{"role":"user","content":[{"type":"input_image","image_url":"data:image/png;base64,QUJD","detail":"low"},{"type":"input_image","file_id":"f","detail":"high"}]},
		{"type":"computer_call","call_id":"a","action":{"type":"click"}},{"type":"computer_call","call_id":"b","actions":[{"type":"wait"}]}]}`).Messages()
	for i, want := range []message.Media{{URL: "data:image/png;base64,QUJD", MIME: "image/png", Detail: "low"}, {URL: "f", Detail: "high"}} {
		got := *msgs[0].Parts[i].Media
		if got.Bytes = 0; got != want {
			t.Errorf("picture %d: %+v, want %+v", i, got, want)
		}
	}
	for i, want := range []string{`{"type":"click"}`, `[{"type":"wait"}]`} {
		if got := string(msgs[1].Parts[i].Args); got != want {
			t.Errorf("call %d: %s, want %s", i, got, want)
		}
	}
}

// A file is read from each of the members that can hold it; data wins over an address.
func TestFilesAreReadFromEachMember(t *testing.T) {
	for file, want := range map[string]message.Media{
		`"filename":"a.pdf","file_data":"data:application/pdf;base64,QUJD"`: {URL: "data:application/pdf;base64,QUJD", MIME: "application/pdf", Name: "a.pdf"},
		`"file_url":"https://h/a.pdf"`:                                      {URL: "https://h/a.pdf"},
		`"file_id":"file-1"`:                                                {URL: "file-1"},
		`"file_id":"file-1","file_url":"https://h/a.pdf"`:                   {URL: "https://h/a.pdf"},
		`"filename":"a.pdf"`:                                                {Name: "a.pdf"},
	} {
		part := parse(t, `{"input":[{"role":"user","content":[{"type":"input_file",`+file+`}]}]}`).Messages()[0].Parts[0]
		got := *part.Media
		if got.Bytes = 0; got != want || part.Kind != message.KindFile || (part.Args == nil) != (want.URL != "") {
			t.Errorf("%s: %+v, %s, want %+v", file, got, part.Args, want)
		}
	}
}

// The output may be the last item, as in every request that answers a call which the provider stores.
func TestAReferenceAndItsOutputMayBeTheLastItems(t *testing.T) {
	r := parse(t, `{"input":[{"role":"user","content":"q"},{"type":"item_reference","id":"fc_9"},{"type":"function_call_output","call_id":"z","output":"3"}]}`)
	msgs := r.Messages()
	before := r.Check(msgs, seq(3))
	if diff := cmp.Diff([]string{"tool_result_without_call z"}, wiretest.Broken(before)); diff != "" {
		t.Error(diff)
	}
	after := r.Check([]message.Message{msgs[0], msgs[2]}, []int{0, 2})
	if diff := cmp.Diff([]string{"item_reference_split " + msgs[2].Fingerprint().String()}, wiretest.Broken(wire.New(before, after))); diff != "" {
		t.Error(diff)
	}
}

func TestAnOutputOfTwoTextsWithoutItsCallIsOneViolation(t *testing.T) {
	r := parse(t, `{"input":[{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"1"},{"type":"input_text","text":"2"}]},{"role":"user","content":"q"}]}`)
	if diff := cmp.Diff([]string{"tool_result_without_call a"}, wiretest.Broken(r.Check(r.Messages(), seq(2)))); diff != "" {
		t.Error(diff)
	}
}

func TestTheLastOfTwoFieldsWithOneNameCounts(t *testing.T) {
	call := func(id string) string {
		return `{"type":"function_call","call_id":"` + id + `","name":"f","arguments":"{}"}`
	}
	const output = `{"type":"function_call_output","call_id":"a","output":"1"}`
	for twice, once := range map[string]string{
		`{"role":"assistant","role":"user","content":"x"}`:                                                                 `{"role":"user","content":"x"}`,
		`{"role":"assistant","r\u006fle":"user","content":"x"}`:                                                            `{"role":"user","content":"x"}`,
		`{"role":"user","content":"a","content":[{"type":"input_text","text":"b","text":"c"}]}`:                            `{"role":"user","content":[{"type":"input_text","text":"c"}]}`,
		`{"type":"reasoning","summary":[],"type":"message","role":"assistant","content":"x"},` + call("a"):                 `{"summary":[],"type":"message","role":"assistant","content":"x"},` + call("a"),
		`{"type":"message","t\u0079pe":"function_call","call_id":"z","call_id":"a","name":"f","arguments":"{}"},` + output: call("a") + `,` + output,
		call("a") + `,{"type":"function_call_output","call_id":"a","output":"1","output":"2","call_id":"b"}`:               call("a") + `,{"type":"function_call_output","output":"2","call_id":"b"}`,
	} {
		wiretest.LastCounts(t, responses.Wire, `{"input":[`+twice+`]}`, `{"input":[`+once+`]}`)
	}
}
