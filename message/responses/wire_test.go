package responses_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/responses"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// randomBody writes a request of the Responses API.
func randomBody(seed uint64) string {
	j := wiretest.NewJSON(seed)
	var list []string
	for i := range j.IntN(8) {
		list = append(list, randomItems(j, i)...)
	}
	input := j.Array(list...)
	if j.IntN(10) == 0 {
		input = j.Text()
	}
	pairs := []string{"model", j.Text(), "input", input, "max_output_tokens", "77", "stream", "true", "store", "false",
		"tools", j.Array(j.Object("type", `"function"`)), "metadata", j.Any(2), "reasoning", j.Any(1)}
	if j.IntN(2) == 0 {
		pairs = append(pairs, "instructions", j.Text())
	}
	return j.Space() + j.Object(pairs...) + j.Space()
}

func reasoning(j wiretest.JSON, i int) string {
	return j.Object("type", `"reasoning"`, "id", fmt.Sprintf(`"rs_%d"`, i), "summary", j.Array(j.Object("type", `"summary_text"`, "text", j.Text())), "encrypted_content", j.Text())
}

func randomItems(j wiretest.JSON, i int) []string {
	switch j.IntN(7) {
	case 0:
		return []string{j.Object("role", []string{`"system"`, `"developer"`, `"user"`}[j.IntN(3)], "content", j.Text())}
	case 1:
		return []string{j.Object("type", `"message"`, "role", `"user"`, "content", j.Array(
			j.Object("type", `"input_text"`, "text", j.Text()),
			j.Object("type", `"input_image"`, "image_url", `"data:image/png;base64,AAAA"`, "detail", `"low"`),
			j.Object("type", `"input_file"`, "file_id", `"file-1"`),
			j.Object("type", `"hologram"`)))}
	case 2:
		return []string{reasoning(j, i), j.Object("type", `"message"`, "role", `"assistant"`, "id", `"msg_1"`, "content",
			j.Array(j.Object("type", `"output_text"`, "text", j.Text()), j.Object("type", `"refusal"`, "refusal", j.Text())))}
	case 3:
		return []string{reasoning(j, i), j.Object("type", `"web_search_call"`, "id", `"ws_1"`, "action", j.Any(1)), reasoning(j, i+1), j.Object("role", `"assistant"`, "content", j.Text())}
	case 4:
		return []string{j.Object("type", `"item_reference"`, "id", `"x"`), j.Object("type", `"quantum_leap"`, "n", j.Any(2)), j.Object("type", `"compaction"`, "encrypted_content", j.Text())}
	case 5:
		id := fmt.Sprintf(`"sh_%d"`, i)
		return []string{j.Object("type", `"shell_call"`, "call_id", id, "action", j.Any(1)),
			j.Object("type", `"shell_call_output"`, "call_id", id, "output", j.Array(j.Object("stdout", j.Text(), "stderr", j.Text())))}
	}
	calls, out := []string{reasoning(j, i)}, []string(nil)
	for k := range 1 + j.IntN(3) {
		id := fmt.Sprintf(`"call_%d_%d"`, i, k)
		calls = append(calls, j.Object("type", `"function_call"`, "id", `"fc_1"`, "call_id", id, "name", `"f"`, "arguments", j.Quote(`{"n":12345678901234567890}`)))
		content := j.Text()
		if j.IntN(3) == 0 {
			content = j.Array(j.Object("type", `"input_text"`, "text", j.Text()), j.Object("text", j.Text(), "type", `"input_text"`))
		}
		out = append(out, j.Object("type", `"function_call_output"`, "call_id", id, "output", content))
	}
	return append(calls, out...)
}

func TestPropertyWireKeepsEveryByteThatIsNotEdited(t *testing.T) {
	for _, body := range wiretest.Random(t, randomBody) {
		wiretest.Body(t, responses.Wire, body)
	}
}

var seq = wiretest.Sources

func parse(t *testing.T, body string) wire.Request {
	t.Helper()
	return wiretest.Parse(t, responses.Wire, body)
}

func TestItemsOfOneAnswerAreOneMessage(t *testing.T) {
	r := parse(t, `{"instructions":"be good","input":[
		{"role":"user","content":"q"},
		{"type":"reasoning","id":"rs_1","summary":[]},
		{"type":"reasoning","id":"rs_2","summary":[]},
		{"type":"message","role":"assistant","content":[{"type":"output_text","text":"let me see"}]},
		{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},
		{"type":"custom_tool_call","call_id":"b","name":"g","input":"free"},
		{"type":"reasoning","id":"rs_3","summary":[]},
		{"type":"web_search_call","id":"ws"},
		{"type":"function_call_output","call_id":"a","output":"1"},
		{"type":"custom_tool_call_output","call_id":"b","output":[{"type":"input_text","text":"2"},{"type":"input_image","image_url":"u"}]},
		{"type":"reasoning","id":"rs_4","summary":[]},
		{"type":"time_travel","to":1955},
		{"type":"time_travel","to":1985},
		{"type":"computer_call","call_id":"c","action":{"type":"screenshot"}},
		{"type":"computer_call_output","call_id":"c","output":{"type":"computer_screenshot","image_url":"data:image/png;base64,AA"}},
		{"type":"message","role":"assistant","content":"<COMPACT-SUMMARY v1>\nx\n</COMPACT-SUMMARY>"},
		{"role":"assistant","content":"a"},
		{"type":"compaction","encrypted_content":"x"},
		{"type":"item_reference","id":"msg_7"},
		{"type":"function_call","call_id":"d","name":"f","arguments":"{}"},
		{"type":"mcp_approval_request","id":"e","name":"f","arguments":"{}"},
		{"type":"mcp_approval_response","approval_request_id":"e","approve":true}]}`)
	want := []string{
		"system: text", "user: text",
		"assistant: reasoning reasoning text tool_call(a) tool_call(b)", "assistant: reasoning other",
		"tool: tool_result(a)", "tool: tool_result(b) image(b)",
		"assistant: reasoning other", "time_travel: other",
		"assistant: tool_call(c)", "tool: image(c) tool_result(c)",
		"assistant: text", "assistant: text", "compaction: other",
		"assistant: other tool_call(d) tool_call(e)", "tool: tool_result(e)",
	}
	if diff := cmp.Diff(want, wiretest.Outline(r.Messages())); diff != "" {
		t.Error(diff)
	}
	m := r.Messages()
	if !m[0].Protected || !m[12].Protected || !m[11].Protected || m[13].Protected {
		t.Error("want only instructions, and compaction items with the items before them, protected")
	}
	if p := m[2].Parts[4]; p.Name != "g" || string(p.Args) != "free" {
		t.Errorf("custom call %+v, want tool g with a free text", p)
	}
}

// The model may write a text like a summary; its reasoning must stay with it
// nevertheless.
func TestItemsAfterReasoningBelongToTheModel(t *testing.T) {
	r := parse(t, `{"input":[{"role":"user","content":"q"},
		{"type":"reasoning","id":"rs_1","summary":[]},
		{"type":"message","role":"assistant","id":"msg_1","content":"<COMPACT-SUMMARY v1>\nx\n</COMPACT-SUMMARY>"},
		{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},
		{"type":"function_call_output","call_id":"a","output":"1"}]}`)
	want := []string{"user: text", "assistant: reasoning text tool_call(a)", "tool: tool_result(a)"}
	if diff := cmp.Diff(want, wiretest.Outline(r.Messages())); diff != "" {
		t.Error(diff)
	}
}

func TestReasoningIsReadableOrSealed(t *testing.T) {
	m, err := responses.ParseMessage([]byte(`{"type":"reasoning","id":"rs","summary":[{"type":"summary_text","text":"a"}],"content":[{"type":"reasoning_text","text":"b"}],"encrypted_content":"QUJD"}`))
	if err != nil {
		t.Fatal(err)
	}
	p := m.Parts[0]
	if p.Text != "a\nb" || !p.Sealed || string(p.Args) != `"QUJD"` || m.Editable(0) {
		t.Errorf("reasoning %+v, want a sealed text with its encrypted content", p)
	}
}

func TestStringInputIsAUserMessage(t *testing.T) {
	const body = `{"input":"hi \u00e9","instructions":"s", "n":1}`
	r := parse(t, body)
	m := r.Messages()
	if diff := cmp.Diff([]string{"system: text", "user: text"}, wiretest.Outline(m)); diff != "" {
		t.Fatal(diff)
	}
	edited, _ := m[1].WithPartText(0, "ho")
	for want, c := range map[string]struct {
		view    []message.Message
		sources []int
	}{
		body: {m, []int{0, 1}},
		`{"input":"ho","instructions":"s", "n":1}`: {[]message.Message{m[0], edited}, []int{0, 1}},
		`{"input":[{"type":"message","role":"assistant","content":"sum"},{"type":"message","role":"user","content":"hi \u00e9"}],"instructions":"s", "n":1}`: {[]message.Message{m[0], message.Assistant("sum"), m[1]}, []int{0, -1, 1}},
	} {
		out, err := r.Write(c.view, c.sources)
		if err != nil || string(out) != want {
			t.Errorf("%s, %v, want %s", out, err, want)
		}
	}
	if _, err := r.Write(m[1:], []int{1}); err == nil {
		t.Error("a view without the instructions was written")
	}
	edited, _ = m[0].WithPartText(0, "bad")
	if _, err := r.Write([]message.Message{edited, m[1]}, []int{0, 1}); err == nil {
		t.Error("edited instructions were written")
	}
}

func TestSummarySurvivesARoundTrip(t *testing.T) {
	r := parse(t, `{"input":[{"role":"user","content":"a"},{"role":"user","content":"b"},{"type":"function_call","call_id":"a","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"a","output":"1"}]}`)
	m := r.Messages()
	sum := message.Assistant(message.SummaryText(1, "so far"))
	notice := message.System(message.NoticeText(7))
	out, err := r.Write([]message.Message{sum, notice, sum, m[2], m[3]}, []int{-1, -1, -1, 2, 3})
	if err != nil {
		t.Fatal(err)
	}
	again := parse(t, string(out)).Messages()
	if diff := cmp.Diff([]string{"assistant: text", "system: text", "assistant: text", "assistant: tool_call(a)", "tool: tool_result(a)"}, wiretest.Outline(again)); diff != "" {
		t.Errorf("%s\n%s", diff, out)
	}
	for i, want := range []message.Message{sum, notice, sum} {
		if again[i].Fingerprint() != want.Fingerprint() {
			t.Errorf("message %d differs after a round trip: %s", i, again[i].Raw())
		}
	}
}

func TestStateOnTheServerIsNotCompacted(t *testing.T) {
	for body, want := range map[string]string{
		`{"input":[],"previous_response_id":"r"}`:                   "previous_response_id",
		`{"input":[],"previous_response_id":null}`:                  "",
		`{"input":[],"previous_response_id":""}`:                    "",
		`{"input":"x","conversation":{"id":"c"}}`:                   "conversation",
		`{"input":"x","conversation":"c"}`:                          "conversation",
		`{"input":[],"context_management":[{"type":"compaction"}]}`: "context_management",
		`{"input":[],"context_management":[]}`:                      "",
		`{"input":[{"type":"compaction_trigger"}]}`:                 "compaction_trigger",
		`{"input":[],"truncation":"auto","prompt":{"id":"p"}}`:      "",
	} {
		if got := parse(t, body).About().ServerSide; got != want {
			t.Errorf("%s: %q, want %q", body, got, want)
		}
	}
}

func TestAboutReadsTheRestOfTheBody(t *testing.T) {
	got := parse(t, `{"input":[],"model":"gpt-5","tools":[{"a":1}],"max_output_tokens":5,"stream":true,"prompt_cache_key":"k","user":"u","metadata":{"a":"b"}}`).About()
	want := wire.About{Model: "gpt-5", Tools: []byte(`[{"a":1}]`), MaxOutput: 5, Stream: true, CacheKey: "k", User: "u", Metadata: map[string]string{"a": "b"}, Bytes: 137}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
}

func TestRefusalIsSealedUnlessItIsNull(t *testing.T) {
	for refusal, want := range map[string]message.Kind{`"No."`: message.KindText, `null`: message.KindOther} {
		r := wiretest.Parse(t, responses.Wire, `{"input":[{"role":"user","content":"q"},{"role":"assistant","content":[{"type":"refusal","refusal":`+refusal+`}]}]}`)
		if p := r.Messages()[1].Parts; len(p) != 1 || p[0].Kind != want || p[0].Sealed != (want == message.KindText) {
			t.Errorf("%s: got %+v, want one part", refusal, p)
		}
	}
}

func TestBadBodiesNameTheField(t *testing.T) {
	for body, want := range map[string]string{
		``:                               "not valid JSON",
		`{"model":"m"}`:                  `"input"`,
		`{"input":[],"input":"x"}`:       "twice",
		`{"input":7}`:                    `"input"`,
		`{"input":[],"instructions":[]}`: `"instructions"`,
		`{"input":[7]}`:                  `"input[0]"`,
		`{"input":[{"role":"user","content":"x"},{"type":"function_call","call_id":7}]}`:                        `"input[1].call_id"`,
		`{"input":[{"type":"reasoning","summary":[]},{"role":"assistant","content":[{"type":"output_text"}]}]}`: `"input[1].content[0].text"`,
		`{"input":[{"type":"function_call_output","call_id":"a","output":7}]}`:                                  `"input[0].output"`,
		`{"input":[{"type":"message","content":"x"}]}`:                                                          `"input[0].role"`,
		`{"input":[{"type":"reasoning","summary":[{"text":7}]}]}`:                                               `"input[0].summary[0].text"`,
	} {
		if _, err := responses.Wire.ParseRequest([]byte(body), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}

func TestMessagesMadeInGoSurviveTheWire(t *testing.T) {
	made := []message.Message{
		message.System("s"), message.Developer("d"), message.User("u \"quoted\"\n<b>&amp;"), message.User(""),
		message.Assistant("text"), message.Assistant("text", message.Call("c", "f", `{"a":1}`), message.Call("d", "f", `{}`)),
		message.ToolResult("c", "result"), message.ToolResult("c", ""),
		{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindText, Text: "t"}, {Kind: message.KindImage, Media: &message.Media{URL: "https://example.org/i.png", Detail: "low"}}}},
	}
	for _, m := range made {
		raw := responses.AppendMessage(nil, m)
		got, err := responses.ParseMessage(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got.Fingerprint() != m.Fingerprint() || got.Role != m.Role {
			t.Errorf("%s has another role or fingerprint than %+v", raw, m.Parts)
		}
	}
}

// A message that was made in Go becomes as many items as the provider requires.
func TestPartsOfAMessageBecomeItems(t *testing.T) {
	image := message.Part{Kind: message.KindImage, Media: &message.Media{URL: "https://example.org/i.png"}}
	result := func(id, text string) message.Part {
		return message.Part{Kind: message.KindToolResult, CallID: id, Text: text}
	}
	text := func(s string) message.Part { return message.Part{Kind: message.KindText, Text: s} }
	for _, tc := range []struct {
		role  message.Role
		parts []message.Part
		want  []string
	}{
		{message.RoleTool, []message.Part{result("a", "x")}, []string{`{"type":"function_call_output","call_id":"a","output":"x"}`}},
		{message.RoleTool, []message.Part{result("a", "x"), result("b", "y")}, []string{`{"type":"function_call_output","call_id":"a","output":"x"}`, `{"type":"function_call_output","call_id":"b","output":"y"}`}},
		{message.RoleTool, []message.Part{result("a", "x"), result("a", "y")}, []string{`{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"x"},{"type":"input_text","text":"y"}]}`}},
		{message.RoleTool, []message.Part{result("a", "x"), image, result("b", "y")},
			[]string{`{"type":"function_call_output","call_id":"a","output":[{"type":"input_text","text":"x"},{"type":"input_image","image_url":"https://example.org/i.png"}]}`, `{"type":"function_call_output","call_id":"b","output":"y"}`}},
		{message.RoleUser, []message.Part{result("a", "x"), text("and now?")}, []string{`{"type":"function_call_output","call_id":"a","output":"x"}`, `{"type":"message","role":"user","content":"and now?"}`}},
		{message.RoleUser, []message.Part{{Kind: message.KindImage, Media: &message.Media{URL: "u", Detail: "low"}}, {Kind: message.KindFile, Media: &message.Media{URL: "data:application/pdf;base64,AA", Name: "a.pdf"}}, {Kind: message.KindFile, Media: &message.Media{URL: "https://h/b.pdf"}}},
			[]string{`{"type":"message","role":"user","content":[{"type":"input_image","image_url":"u","detail":"low"},{"type":"input_file","file_data":"data:application/pdf;base64,AA","filename":"a.pdf"},{"type":"input_file","file_url":"https://h/b.pdf"}]}`}},
		{message.RoleUser, []message.Part{text("look"), image}, []string{`{"type":"message","role":"user","content":[{"type":"input_text","text":"look"},{"type":"input_image","image_url":"https://example.org/i.png"}]}`}},
		{message.RoleAssistant, []message.Part{text("one"), message.Call("c", "f", `{"a":1}`), text("two")},
			[]string{`{"type":"message","role":"assistant","content":"one"}`, `{"type":"function_call","call_id":"c","name":"f","arguments":"{\"a\":1}"}`, `{"type":"message","role":"assistant","content":"two"}`}},
	} {
		want := tc.want[0]
		if len(tc.want) > 1 {
			want = `{"items":[` + strings.Join(tc.want, ",") + "]}"
		}
		if got := string(responses.AppendMessage(nil, message.Message{Role: tc.role, Parts: tc.parts})); got != want {
			t.Errorf("%d parts of %s:\n%s\nwant\n%s", len(tc.parts), tc.role, got, want)
		}
	}
}

func FuzzRequest(f *testing.F) {
	for i := range uint64(12) {
		f.Add([]byte(randomBody(i)))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		r, err := responses.Wire.ParseRequest(body, nil)
		if err != nil {
			return
		}
		msgs := r.Messages()
		out, err := r.Write(msgs, seq(len(msgs)))
		if err != nil || !bytes.Equal(out, body) {
			t.Fatalf("%s became %s: %v", body, out, err)
		}
		r.Check(msgs, seq(len(msgs)))
		view := append([]message.Message{message.User("x")}, msgs...)
		out, err = r.Write(view, append([]int{-1}, seq(len(msgs))...))
		if err != nil {
			t.Fatal(err)
		}
		again, err := responses.Wire.ParseRequest(out, nil)
		if err != nil || len(again.Messages()) != len(view) && !bytes.Contains(body, []byte("item")) && !bytes.Contains(body, []byte("reasoning")) {
			t.Fatalf("%v: %d messages of %d: %s", err, len(view), len(again.Messages()), out)
		}
		wiretest.Messages(t, responses.Wire, msgs)
	})
}

// megabyte returns a request of 1,000 items and about 1 MB.
func megabyte() []byte {
	var b bytes.Buffer
	b.WriteString(`{"model":"gpt-5","instructions":"s","input":[{"role":"user","content":"q"}`)
	for i := range 333 {
		text := strings.Repeat(fmt.Sprintf(`line %d of some code:\n\tfmt.Println(\"hello\")\n`, i), 56)
		fmt.Fprintf(&b, `,{"type":"reasoning","id":"rs_%d","summary":[],"encrypted_content":"%s"}`, i, strings.Repeat("A1b2", 25))
		fmt.Fprintf(&b, `,{"type":"function_call","call_id":"c%d","name":"read","arguments":"{\"path\":\"f%d.go\"}"}`, i, i)
		fmt.Fprintf(&b, `,{"type":"function_call_output","call_id":"c%d","output":"%s"}`, i, text)
	}
	b.WriteString(`],"stream":true}`)
	return b.Bytes()
}

func BenchmarkParseRequestWarm(b *testing.B) {
	body, c := megabyte(), wire.NewCache(0)
	b.SetBytes(int64(len(body)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := responses.Wire.ParseRequest(body, c); err != nil {
			b.Fatal(err)
		}
	}
}

// The field meta belongs to the codec: it protects the message of its item, and
// is never sent.
func TestMetaProtectsAndIsNotSent(t *testing.T) {
	const bare = `{ "input" : [ {"role":"user","content":"a"} , {"type":"reasoning","id":"r","summary":[]}, {"type":"function_call","call_id":"c","name":"f","arguments":"{\"meta\":1}"} , {"type":"function_call_output","call_id":"c","output":"meta"} ] }`
	marked := strings.Replace(bare, `"content":"a"`, `"content":"a","meta":{"protected":true}`, 1)
	marked = strings.Replace(marked, `"name":"f"`, `"meta":{"protected":true},"name":"f"`, 1)
	marked = strings.Replace(marked, `"output":"meta"`, `"output":"meta","meta":{"protected":false}`, 1)
	first := strings.Replace(bare, `"content":"a"`, `"content":"a","meta":{"protected":true}`, 1)
	r := parse(t, first)
	if out, err := r.Write(r.Messages(), []int{0, 1, 2}); err != nil || string(out) != bare {
		t.Errorf("with meta in the first message only: %v\n%s\nwant\n%s", err, out, bare)
	}
	inGroup := strings.Replace(bare, `"summary":[]`, `"summary":[],"meta":{"protected":true}`, 1)
	inGroup = strings.Replace(inGroup, `"name":"f"`, `"meta":{},"name":"f"`, 1)
	if msgs := parse(t, inGroup).Messages(); !msgs[1].Protected || msgs[0].Protected {
		t.Error("the first of two items of a message does not protect it")
	}
	for range 2 { // read, and taken from the cache
		r := parse(t, marked)
		msgs := r.Messages()
		if len(msgs) != 3 || !msgs[0].Protected || !msgs[1].Protected || msgs[2].Protected {
			t.Fatalf("%d messages, want 3 with the first two protected: %+v", len(msgs), msgs)
		}
		out, err := r.Write(msgs, []int{0, 1, 2})
		if err != nil || string(out) != bare {
			t.Errorf("%v\n%s\nwant\n%s", err, out, bare)
		}
		out, err = r.Write(msgs[1:], []int{1, 2})
		if err != nil || strings.Contains(string(out), "protected") {
			t.Errorf("error %v, or meta was sent: %s", err, out)
		}
	}
}

// A request that names its messages needs no input. No message can be added to it.
func TestARequestWithoutAnInput(t *testing.T) {
	for _, body := range []string{`{"previous_response_id":"resp_1"}`, `{"conversation":"conv_1","input":null}`, `{"prompt":{"id":"pmpt_1"},"instructions":"Be brief."}`} {
		r := parse(t, body)
		msgs := r.Messages()
		sources := make([]int, len(msgs))
		if out, err := r.Write(msgs, sources); err != nil || string(out) != body {
			t.Errorf("error %v, want the unchanged body, got %s", err, out)
		}
		if out, err := r.Write(append(msgs[:len(msgs):len(msgs)], message.User("more")), append(sources, -1)); err == nil {
			t.Errorf("a message was added: %s", out)
		}
	}
	if _, err := responses.Wire.ParseRequest([]byte(`{"model":"m"}`), nil); err == nil {
		t.Error("a request that names nothing was accepted")
	}
}

// A conversation is named by a string, by an object, or by a value of another form.
func TestBothFormsOfAConversationHaveOneID(t *testing.T) {
	for value, want := range map[string]string{`"conv_1"`: "conv_1", `{"id":"conv_1"}`: "conv_1", `{ "id": "conv_1", "x": 1 }`: "conv_1", `{"x":1}`: `{"x":1}`} {
		if got := parse(t, `{"input":"x","conversation":`+value+`}`).About().ServerID; got != want {
			t.Errorf("%s: %q, want %q", value, got, want)
		}
	}
}
