package anthropic_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// randomBody writes a request of the Messages API that a client could send.
func randomBody(seed uint64) string {
	j := wiretest.NewJSON(seed)
	var list []string
	for i := range j.IntN(8) {
		list = append(list, randomRound(j, i)...)
	}
	system := j.Text()
	if j.IntN(2) == 0 {
		system = j.Array(text(j), j.Object("type", `"text"`, "text", j.Text(), "cache_control", `{"type":"ephemeral"}`))
	}
	return j.Space() + j.Object("model", j.Text(), "messages", j.Array(list...), "max_tokens", "77", "stream", "true",
		"tools", j.Array(j.Object("name", `"f"`)), "metadata", j.Any(2), "system", system) + j.Space()
}

func text(j wiretest.JSON) string { return j.Object("type", `"text"`, "text", j.Text()) }

func image(j wiretest.JSON) string {
	return j.Object("type", `"image"`, "source", j.Object("type", `"base64"`, "media_type", `"image/png"`, "data", `"iVBORw0KGgo="`))
}

func randomRound(j wiretest.JSON, i int) []string {
	switch j.IntN(5) {
	case 0:
		return []string{j.Object("role", `"user"`, "content", j.Text())}
	case 1:
		return []string{j.Object("role", `"user"`, "content", j.Array(text(j), image(j), j.Object("type", `"hologram"`, "cache_control", j.Any(1)),
			j.Object("type", `"document"`, "title", j.Text(), "source", j.Object("type", `"text"`, "data", j.Text()))))}
	case 2:
		return []string{j.Object("role", `"assistant"`, "content", j.Array(j.Object("type", `"thinking"`, "thinking", j.Text(), "signature", j.Text()),
			j.Object("type", `"redacted_thinking"`, "data", j.Text()), j.Object("type", `"server_tool_use"`, "id", `"srv"`, "name", `"web_search"`, "input", j.Any(2)),
			j.Object("type", `"web_search_tool_result"`, "tool_use_id", `"srv"`, "content", j.Any(2)),
			j.Object("type", `"text"`, "text", j.Text(), "citations", j.Array(j.Any(1)))))}
	}
	calls, results := []string{text(j)}, []string{}
	for k := range 1 + j.IntN(3) {
		id := fmt.Sprintf(`"toolu_%d_%d"`, i, k)
		calls = append(calls, j.Object("type", `"tool_use"`, "id", id, "name", `"f"`, "input", j.Object("n", j.Any(1))))
		results = append(results, randomResult(j, id))
	}
	for range j.IntN(3) { // other blocks next to the results, anywhere
		results = append(results, text(j))
		at := j.IntN(len(results))
		results[at], results[len(results)-1] = results[len(results)-1], results[at]
	}
	return []string{j.Object("role", `"assistant"`, "content", j.Array(calls...)), j.Object("role", `"user"`, "content", j.Array(results...))}
}

func randomResult(j wiretest.JSON, id string) string {
	content := []string{j.Text(), j.Array(), j.Array(text(j), text(j)), j.Array(image(j)), j.Array(image(j), text(j), j.Object("type", `"search_result"`)), `""`}[j.IntN(6)]
	return j.Object("type", `"tool_result"`, "tool_use_id", id, "content", content, "is_error", "true")
}

func TestPropertyWireKeepsEveryByteThatIsNotEdited(t *testing.T) {
	for _, body := range wiretest.Random(t, randomBody) {
		wiretest.Body(t, anthropic.Wire, body)
	}
}

var seq = wiretest.Sources

func parse(t *testing.T, body string) wire.Request {
	t.Helper()
	return wiretest.Parse(t, anthropic.Wire, body)
}

func TestEditsOfBothHalvesOfAMixedMessageAreJoined(t *testing.T) {
	body := `{"messages":[ {"role":"user", "content":[ {"type":"text","text":"a"} , {"type":"tool_result","tool_use_id":"1","content":"b"},{"type":"text","text":"c","x":1}]} ] }`
	r := parse(t, body)
	msgs := r.Messages()
	if len(msgs) != 2 || msgs[0].Role != message.RoleTool || msgs[1].Role != message.RoleUser || len(msgs[1].Parts) != 2 {
		t.Fatalf("%+v, want the results and then the user's text", msgs)
	}
	results, _ := msgs[0].WithPartText(0, "B")
	rest, _ := msgs[1].WithPartText(1, "C")
	write := func(view []message.Message, sources ...int) string {
		t.Helper()
		out, err := r.Write(view, sources)
		if err != nil {
			t.Fatal(err)
		}
		return string(out)
	}
	for _, c := range []struct{ got, want string }{
		{write([]message.Message{results, rest}, 0, 1), strings.NewReplacer(`"b"`, `"B"`, `"c"`, `"C"`).Replace(body)},
		{write([]message.Message{msgs[0], rest}, 0, 1), strings.NewReplacer(`"c"`, `"C"`).Replace(body)},
		{write([]message.Message{results}, 0), `{"messages":[ {"role":"user", "content":[ {"type":"tool_result","tool_use_id":"1","content":"B"}]} ] }`},
		{write([]message.Message{msgs[1]}, 1), `{"messages":[ {"role":"user", "content":[ {"type":"text","text":"a"},{"type":"text","text":"c","x":1}]} ] }`},
		{write([]message.Message{msgs[1], message.User("n"), msgs[0]}, 1, -1, 0), `{"messages":[ {"role":"user", "content":[ {"type":"text","text":"a"},{"type":"text","text":"c","x":1}]},{"role":"user","content":"n"},{"role":"user", "content":[ {"type":"tool_result","tool_use_id":"1","content":"b"}]} ] }`},
	} {
		if diff := cmp.Diff(c.want, c.got); diff != "" {
			t.Error(diff)
		}
	}
}

func TestNewMessagesHaveRoleUserAndAreRecognized(t *testing.T) {
	r := parse(t, `{"system":"s","messages":[{"role":"user","content":"a"},{"role":"assistant","content":"b"},{"role":"user","content":"c"}]}`)
	msgs := r.Messages()
	summary, notice := message.Assistant(message.SummaryText(3, "Goals: \"a\"")), message.System(message.NoticeText(2))
	out, err := r.Write([]message.Message{msgs[0], summary, notice, msgs[3]}, []int{0, -1, -1, 3})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"system":"s","messages":[{"role":"user","content":"<COMPACT-SUMMARY v3>\nGoals: \"a\"\n</COMPACT-SUMMARY>"},{"role":"user","content":"[conversation truncated — 2 older messages omitted]"},{"role":"user","content":"c"}]}`
	if diff := cmp.Diff(want, string(out)); diff != "" {
		t.Fatal(diff)
	}
	again := parse(t, string(out))
	for i, m := range []message.Message{msgs[0], summary, notice, msgs[3]} {
		if got := again.Messages()[i]; got.Role != m.Role || got.Fingerprint() != m.Fingerprint() {
			t.Errorf("message %d is read as %s %+v, want %s", i, got.Role, got.Parts, m.Role)
		}
	}
	if found := again.Check(again.Messages(), seq(4)); len(found) > 0 {
		t.Errorf("the check reports %v, want nothing", found)
	}
}

// Media that a caller's stage made, or that came from another wire, is written with
// its source, or with its URL if the source is not JSON. A body that is not JSON
// would be refused, and the conversation could not continue.
func TestNewMediaIsWrittenWithItsSource(t *testing.T) {
	for _, c := range []struct {
		name string
		part message.Part
		want string
	}{
		{"a picture in the body", message.Part{Kind: message.KindImage, Media: &message.Media{URL: "data:image/png;base64,iVBORw0KGgo="}},
			`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"iVBORw0KGgo="}}`},
		{"a picture elsewhere", message.Part{Kind: message.KindImage, Media: &message.Media{URL: "https://a.example/b.png"}},
			`{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}}`},
		{"a document with a name", message.Part{Kind: message.KindFile, Media: &message.Media{URL: "https://a.example/b.pdf", Name: `the "plan"`}},
			`{"type":"document","source":{"type":"url","url":"https://a.example/b.pdf"},"title":"the \"plan\""}`},
		{"a source", message.Part{Kind: message.KindFile, Args: []byte(`{"type":"file","file_id":"file_7"}`), Media: &message.Media{}},
			`{"type":"document","source":{"type":"file","file_id":"file_7"}}`},
		{"a source that is no JSON", message.Part{Kind: message.KindImage, Args: []byte(`{"type":"file",`), Media: &message.Media{URL: "https://a.example/b.png"}},
			`{"type":"image","source":{"type":"url","url":"https://a.example/b.png"}}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			r := parse(t, `{"messages":[{"role":"user","content":"a"}]}`)
			made := message.Message{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindText, Text: "see"}, c.part}}
			out, err := r.Write([]message.Message{made}, []int{-1})
			want := `{"messages":[{"role":"user","content":[{"type":"text","text":"see"},` + c.want + `]}]}`
			if diff := cmp.Diff(want, string(out)); err != nil || diff != "" {
				t.Error(err, diff)
			}
		})
	}
}

func TestTheSystemPromptIsProtectedAndStaysInItsField(t *testing.T) {
	for body, parts := range map[string]int{
		`{"system":"s","messages":[]}`:                                                1,
		`{"messages":[], "system" : [{"type":"text","text":"a"},{"x":1}] }`:           2,
		`{"messages":[],"system":null}`:                                               0,
		`{"messages":[],"system":""}`:                                                 0,
		`{"messages":[],"system":[]}`:                                                 0,
		`{"messages":[]}`:                                                             0,
		`{"messages":[{"role":"user","content":"x"}],"system":"\ud800 half a pair" }`: 1,
	} {
		r := parse(t, body)
		msgs := r.Messages()
		n := 0
		if len(msgs) > 0 && msgs[0].Role == message.RoleSystem {
			n = len(msgs[0].Parts)
		}
		if n != parts || n > 0 && (!msgs[0].Protected || msgs[0].Editable(0)) {
			t.Errorf("%s: %d parts of a system prompt, want %d: %+v", body, n, parts, msgs)
		}
		if n > 0 {
			if _, err := r.Write(msgs[1:], seq(len(msgs))[1:]); err == nil {
				t.Errorf("%s: a view without the system prompt was written", body)
			}
		}
	}
	if _, err := anthropic.Wire.ParseRequest([]byte(`{"messages":[],"system":7}`), nil); err == nil || !strings.Contains(err.Error(), `"system"`) {
		t.Errorf("a number as system prompt: %v, want an error with %q", err, `"system"`)
	}
}

func TestAViewOfAnotherRequestIsRefused(t *testing.T) {
	r := parse(t, `{"messages":[{"role":"user","content":"a"}]}`)
	for _, c := range []struct {
		view    []message.Message
		sources []int
	}{
		{r.Messages(), nil},
		{r.Messages(), []int{1}},
		{r.Messages(), []int{-2}},
		{[]message.Message{message.User("a")}, []int{0}},
	} {
		if out, err := r.Write(c.view, c.sources); err == nil {
			t.Errorf("sources %v: no error, written as %s", c.sources, out)
		}
		if found := r.Check(c.view, c.sources); len(found) != 1 || found[0].Check != anthropic.CheckView {
			t.Errorf("sources %v: the check reports %v, want CheckView", c.sources, found)
		}
	}
}

func TestAboutReadsTheRestOfTheBody(t *testing.T) {
	got := parse(t, `{"messages":[],"model":"claude-x","tools":[{"a":1}],"max_tokens":7,"stream":true,"metadata":{"user_id":"u","n":1}}`).About()
	want := wire.About{Model: "claude-x", Tools: []byte(`[{"a":1}]`), MaxOutput: 7, Stream: true, User: "u", Metadata: map[string]string{"user_id": "u"}, Bytes: 114}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for field, want := range map[string]string{
		`"context_management":{"edits":[{"type":"compact_20260112"}]}`:                                     "context_management",
		`"context_management":{"edits":[{"type":"clear_thinking_20251015","keep":"all"}]}`:                 "",
		`"context_management":{"edits":[{"type":"clear_thinking_20251015"},{"type":"clear_tool_uses_2"}]}`: "context_management",
		`"context_management":{"edits":[{"type":"clear_tool_uses_2"},{"type":"clear_thinking_20251015"}]}`: "context_management",
		`"context_management":{"edits":[]}`:                                                                "",
		`"context_management":null`:                                                                        "",
		`"context_management":"auto"`:                                                                      "context_management",
		`"compaction":{"type":"x"}`:                                                                        "compaction",
		`"compaction":null`:                                                                                "",
	} {
		if got := parse(t, `{"messages":[],`+field+`}`).About().ServerSide; got != want {
			t.Errorf("%s: server side %q, want %q", field, got, want)
		}
	}
}

// Citations point into the text next to them, and some are encrypted.
func TestSignedEncryptedAndCitedPartsAreSealed(t *testing.T) {
	for block, sealed := range map[string]bool{
		`{"type":"text","text":"a"}`:                                                      false,
		`{"type":"text","text":"a","citations":[ ]}`:                                      false,
		`{"type":"text","text":"a","citations":null}`:                                     false,
		`{"type":"text","text":"a","citations":[{"type":"char_location"}]}`:               true,
		`{"type":"thinking","thinking":"a","signature":"s"}`:                              true,
		`{"type":"redacted_thinking","data":"a"}`:                                         true,
		`{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"a"}]}`: false,
	} {
		m := parse(t, `{"messages":[{"role":"assistant","content":[`+block+`]}]}`).Messages()[0]
		if _, err := m.WithPartText(0, "b"); m.Parts[0].Sealed != sealed || errors.Is(err, message.ErrSealed) != sealed {
			t.Errorf("%s: sealed %v, an edit returns %v, want %v", block, m.Parts[0].Sealed, err, sealed)
		}
	}
}

func TestProtectionAppliesToBothHalvesOfAMixedMessage(t *testing.T) {
	const blocks = `{"type":"tool_result","tool_use_id":"1","content":"a"},{"type":"text","text":"b"}`
	for meta, want := range map[string]bool{`,"meta":{"protected":true}`: true, `,"meta":{"protected":false}`: false, "": false} {
		msgs := parse(t, `{"messages":[{"role":"user","content":[`+blocks+`]`+meta+`}]}`).Messages()
		if len(msgs) != 2 || msgs[0].Protected != want || msgs[1].Protected != want {
			t.Errorf("%s: got %+v, want two messages with the same protection", meta, msgs)
		}
	}
}

// The text in place of a block keeps the mark up to which the provider caches the prompt.
func TestTheTextInPlaceOfMediaKeepsTheCacheMark(t *testing.T) {
	const mark = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
	for _, block := range []string{`{"type":"image","source":{"type":"url","url":"u"}`, `{"type":"document","source":{"type":"url","url":"u"}`} {
		m := parse(t, `{"messages":[{"role":"user","content":[`+block+mark+`}]}]}`).Messages()[0]
		edited, err := m.WithPartText(0, "gone")
		if want := `{"role":"user","content":[{"type":"text","text":"gone"` + mark + `}]}`; err != nil || string(edited.Raw()) != want {
			t.Errorf("%s, %v, want %s", edited.Raw(), err, want)
		}
	}
}

// Clients move cache marks from message to message.
func TestCacheMarksAreNoContent(t *testing.T) {
	for _, block := range []string{`{"type":"hologram","n":1%s}`, `{"type":"redacted_thinking","data":"d"%s}`, `{%s}`, `{"type":"tool_result","tool_use_id":"1","content":[{"type":"hologram"%s}]}`} {
		var got []message.Fingerprint
		for _, mark := range []string{"", `,"cache_control":{"type":"ephemeral"}`} {
			block := strings.Replace(fmt.Sprintf(block, mark), "{,", "{", 1)
			got = append(got, parse(t, `{"messages":[{"role":"user","content":[`+block+`]}]}`).Messages()[0].Fingerprint())
		}
		if got[0] != got[1] {
			t.Errorf("the mark changes the content of %s", block)
		}
	}
}

// The media or the arguments of a part hold its whole source. Otherwise two documents could count
// as the same content.
func TestTheSourceOfMediaIsInItsPart(t *testing.T) {
	for block, url := range map[string]string{
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"QUJD"}}`:        "data:image/png;base64,QUJD",
		`{"type":"image","source":{"type":"url","url":"u"}}`:                                        "u",
		`{"type":"image","source":{"type":"file","file_id":"f"}}`:                                   "",
		`{"type":"document","source":{"type":"base64","media_type":"application/pdf","data":"QQ"}}`: "",
		`{"type":"document","source":{"type":"text","media_type":"text/plain","data":"words"}}`:     "",
		`{"type":"document","source":{"type":"url","url":"u"}}`:                                     "u",
	} {
		p := parse(t, `{"messages":[{"role":"user","content":[`+block+`]}]}`).Messages()[0].Parts[0]
		_, source, _ := strings.Cut(strings.TrimSuffix(block, "}"), `"source":`)
		if p.Media.URL != url || (url == "") != (string(p.Args) == source) || url != "" && p.Args != nil {
			t.Errorf("%s: URL %q, arguments %s, want %q", block, p.Media.URL, p.Args, url)
		}
	}
}

// A part of an unknown kind is written unchanged, or as a text if it has no JSON.
func TestPartsOfUnknownKindsAreWrittenAsValidJSON(t *testing.T) {
	for args, want := range map[string]string{`{"type":"hologram"}`: `{"type":"hologram"}`, "": `{"type":"text","text":"t"}`, "{": `{"type":"text","text":"t"}`} {
		raw := anthropic.Wire.AppendMessage(nil, message.Message{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindOther, Text: "t", Args: []byte(args)}}})
		if whole := `{"role":"user","content":[` + want + `]}`; string(raw) != whole {
			t.Errorf("%q: %s, want %s", args, raw, whole)
		}
	}
}

// A result from another wire becomes one block, even if it has several parts.
func TestAMadeResultOfSeveralPartsIsOneBlock(t *testing.T) {
	result := func(text string) message.Part {
		return message.Part{Kind: message.KindToolResult, CallID: "c", Text: text}
	}
	picture := message.Part{Kind: message.KindImage, CallID: "c", Media: &message.Media{URL: "data:image/png;base64,AAAA"}}
	raw := anthropic.Wire.AppendMessage(nil, message.Message{Role: message.RoleTool, Parts: []message.Part{result("one"), picture, result("two")}})
	want := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":[{"type":"text","text":"one"},` +
		`{"type":"image","source":{"type":"base64","media_type":"image/png","data":"AAAA"}},{"type":"text","text":"two"}]}]}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
	if m, err := anthropic.Wire.ParseMessage(raw); err != nil || m.Role != message.RoleTool || len(m.Parts) != 3 || m.ResultText() != "one\ntwo" || m.Parts[1].CallID != "c" {
		t.Errorf("read again: %+v, %v", m, err)
	}
}

func TestBadBodiesNameTheField(t *testing.T) {
	for body, want := range map[string]string{
		`{"messages":[{"role":"user","content":"a"},]}`: "byte 43",
		`[]`:                            "object",
		`{}`:                            `"messages"`,
		`{"messages":{}}`:               `"messages"`,
		`{"messages":[],"messages":[]}`: "twice",
		`{"messages":[7]}`:              `"messages[0]"`,
		`{"messages":[{"role":"user","content":"a"},{"content":"a"}]}`:             `"messages[1].role"`,
		`{"messages":[{"role":"user","content":"a"},{"role":1,"content":"a"}]}`:    `"messages[1].role"`,
		`{"messages":[{"role":"user","content":true},{"role":1,"content":"a"}]}`:   `"messages[0].content"`,
		`{"messages":[{"role":"user","content":{"type":"text","text":"a"}}],"a":}`: "byte 71",
	} {
		if _, err := anthropic.Wire.ParseRequest([]byte(body), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}
