package gemini_test

import (
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// randomBody writes a request of generateContent that a client could send.
func randomBody(seed uint64) string {
	j := wiretest.NewJSON(seed)
	var list []string
	for i := range j.IntN(8) {
		list = append(list, randomRound(j, i)...)
	}
	system := []string{"systemInstruction", "system_instruction"}[j.IntN(2)]
	return j.Space() + j.Object("contents", j.Array(list...), "generationConfig", j.Object("maxOutputTokens", "77"),
		"tools", j.Array(j.Object("functionDeclarations", "[]")), "labels", j.Any(2), system, j.Object("parts", j.Array(text(j), text(j)))) + j.Space()
}

func text(j wiretest.JSON) string { return j.Object("text", j.Text()) }

func picture(j wiretest.JSON) string {
	return j.Object("inlineData", j.Object("mimeType", `"image/png"`, "data", `"iVBORw0KGgo="`))
}

func randomRound(j wiretest.JSON, i int) []string {
	switch j.IntN(5) {
	case 0:
		return []string{j.Object("parts", text(j))}
	case 1:
		return []string{j.Object("role", `"user"`, "parts", j.Array(text(j), picture(j), j.Object("hologram", j.Any(1)),
			j.Object("file_data", j.Object("mime_type", `"application/pdf"`, "file_uri", j.Text()))))}
	case 2:
		return []string{j.Object("role", `"model"`, "parts", j.Array(j.Object("text", j.Text(), "thought", "true"),
			j.Object("executableCode", j.Any(2)), j.Object("text", j.Text(), "thoughtSignature", j.Text()), text(j)))}
	}
	calls, responses := []string{text(j)}, []string{}
	ids := j.IntN(2) == 0
	for k := range 1 + j.IntN(3) {
		call := []string{"name", `"f"`, "args", j.Object("n", j.Any(1))}
		response := []string{"name", `"f"`, "response", `{"output"` + j.Space() + ":" + j.Text() + `,"exit":1}`}
		if ids {
			id := fmt.Sprintf(`"call_%d_%d"`, i, k)
			call, response = append(call, "id", id), append(response, "id", id)
		}
		if j.IntN(4) == 0 {
			response = append(response, "parts", j.Array(picture(j), j.Object("x", j.Any(1))))
		}
		calls = append(calls, j.Object("functionCall", j.Object(call...), "thoughtSignature", j.Text()))
		responses = append(responses, j.Object("functionResponse", j.Object(response...)))
	}
	for range j.IntN(3) { // other parts next to the responses, anywhere
		responses = append(responses, text(j))
		at := j.IntN(len(responses))
		responses[at], responses[len(responses)-1] = responses[len(responses)-1], responses[at]
	}
	return []string{j.Object("role", `"model"`, "parts", j.Array(calls...)), j.Object("role", []string{`"user"`, `"function"`}[j.IntN(2)], "parts", j.Array(responses...))}
}

func TestPropertyWireKeepsEveryByteThatIsNotEdited(t *testing.T) {
	for _, body := range wiretest.Random(t, randomBody) {
		wiretest.Body(t, gemini.Wire, body)
	}
}

var seq = wiretest.Sources

func parse(t *testing.T, body string) wire.Request {
	t.Helper()
	return wiretest.Parse(t, gemini.Wire, body)
}

// A client that keeps the returned history sends the text in place of a file back. In
// Python, it does so in the URL alphabet of base64.
func TestStandInForAFileIsReadInBothAlphabets(t *testing.T) {
	text := message.MediaText(message.KindFile, 300, 7, "0123456789ab")
	data := base64.StdEncoding.EncodeToString([]byte(text))
	if !strings.Contains(data, "+") {
		t.Fatal(data + " is the same in both alphabets")
	}
	for _, data := range []string{data, strings.ReplaceAll(data, "+", "-")} {
		body := `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":{},"parts":[{"inlineData":{"mimeType":"text/plain","data":"` + data + `"}}]}}]}]}`
		parts := parse(t, body).Messages()[0].Parts
		if got := parts[len(parts)-1]; got.Text != text || got.Kind != message.KindToolResult {
			t.Errorf("%s: the text is read as %+v", data, got)
		}
	}
}

func TestParallelCallsOfOneNameArePairedByOrder(t *testing.T) {
	step := `{"role":"model","parts":[{"functionCall":{"name":"f","args":{"a":1}}},{"functionCall":{"name":"f","args":{"a":2}}},{"functionCall":{"name":"g","args":{}}}]},` +
		`{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"1"}}},{"functionResponse":{"name":"g","response":{"output":"3"}}},{"functionResponse":{"name":"f","response":{"output":"2"}}}]}`
	msgs := parse(t, `{"contents":[{"parts":{"text":"u"}},`+step+`,`+step+`]}`).Messages()
	rounds := message.Rounds(msgs)
	if len(rounds) != 3 || rounds[1].Pairs != 3 || rounds[1].Unanswered != 0 || rounds[2].Pairs != 3 {
		t.Fatalf("rounds %+v, want 3, with three pairs in the second and the third", rounds)
	}
	args := map[string]string{}
	for _, p := range msgs[1].Parts {
		args[p.CallID] = string(p.Args)
	}
	got := map[string]string{}
	for _, p := range msgs[2].Parts {
		got[p.Text] = args[p.CallID]
	}
	if diff := cmp.Diff(map[string]string{"1": `{"a":1}`, "2": `{"a":2}`, "3": `{}`}, got); diff != "" {
		t.Error(diff)
	}
}

// The parts of a response belong to the call that it answers. Without the call, the tool
// of a part is unknown, so the caller's rules for the tool can't be applied.
func TestEachPartOfAResponseNamesItsCall(t *testing.T) {
	for name, part := range map[string]string{
		"picture":          `{"inlineData":{"mimeType":"image/png","data":"iVBORw0KGgo="}}`,
		"file":             `{"fileData":{"mimeType":"application/pdf","fileUri":"gs://a/b.pdf"}}`,
		"text of a file":   `{"inlineData":{"mimeType":"text/plain","data":"` + base64.StdEncoding.EncodeToString([]byte("some words")) + `"}}`,
		"of a later model": `{"hologram":{"depth":3}}`,
	} {
		t.Run(name, func(t *testing.T) {
			for id, member := range map[string]string{"call_7": `"id":"call_7",`, "": ""} {
				msgs := parse(t, `{"contents":[{"role":"model","parts":[{"functionCall":{`+member+`"name":"f","args":{}}}]},`+
					`{"role":"user","parts":[{"functionResponse":{`+member+`"name":"f","response":{"output":"x"},"parts":[`+part+`]}}]}]}`).Messages()
				call := msgs[0].Parts[0].CallID
				if len(msgs) != 2 || len(msgs[1].Parts) != 2 || id != "" && call != id {
					t.Fatalf("%+v, want two messages, the second with two parts of one call", msgs)
				}
				for i, p := range msgs[1].Parts {
					if p.CallID != call {
						t.Errorf("id %q: part %d is of call %q: %+v, want %q", id, i, p.CallID, p, call)
					}
				}
			}
		})
	}
}

func TestAnEditedResponseStaysAnObject(t *testing.T) {
	for response, want := range map[string]string{
		`{"output":"x"}`:              `{"output":"Y"}`,
		`{ "error" : "x" , "code":1}`: `{ "error" : "Y" , "code":1}`,
		`{"result":"x","n":null}`:     `{"result":"Y","n":null}`,
		`{"content":"x","output":""}`: `{"content":"Y","output":""}`,
		`{"output":"","x":1}`:         `{"output":"Y","x":1}`,
		`{"output":"x","error":"y"}`:  `{"output":"Y"}`,
		`{"output":["x"]}`:            `{"output":"Y"}`,
		`{"stdout":"x","exit":1}`:     `{"output":"Y"}`,
		`{}`:                          `{"output":"Y"}`,
		`{"output":"x","blob":"` + strings.Repeat("b", 300) + `"}`: `{"output":"Y"}`,
	} {
		body := `{"contents":[{"role":"user","parts":[{"functionResponse":{"name":"f","response":` + response + `,"id":"1"}}, {"functionResponse":{"name":"f","response":{"output":"z"}}}]}]}`
		r := parse(t, body)
		m, err := r.Messages()[0].WithPartText(0, "Y")
		if err != nil {
			t.Fatal(err)
		}
		if m, err = m.WithPartText(1, "Z"); err != nil {
			t.Fatal(err)
		}
		out, err := r.Write([]message.Message{m}, []int{0})
		if diff := cmp.Diff(strings.Replace(strings.Replace(body, response, want, 1), `"z"`, `"Z"`, 1), string(out)); err != nil || diff != "" {
			t.Errorf("%s: %v %s, want no error and none", response, err, diff)
		}
		again := parse(t, string(out)).Messages()[0]
		if again.Parts[0].Text != "Y" || again.Fingerprint() != m.Fingerprint() {
			t.Errorf("%s: read again as %+v", response, again.Parts)
		}
	}
}

func TestFunctionResponsesThatAreNoObjectCanNotBeEdited(t *testing.T) {
	for response, editable := range map[string]bool{`"x"`: true, `[1]`: false, `7`: false, `null`: false} {
		m := parse(t, `{"contents":[{"parts":[{"functionResponse":{"name":"f","response":`+response+`}}]}]}`).Messages()[0]
		if m.Role != message.RoleTool || len(m.Parts) != 1 || m.Editable(0) != editable {
			t.Errorf("%s: %s %+v, editable %v; want %s and %v", response, m.Role, m.Parts, m.Editable(0), message.RoleTool, editable)
		}
	}
}

func TestEditsOfBothHalvesOfAMixedContentAreJoined(t *testing.T) {
	body := `{"contents":[ {"role":"user", "parts":[ {"text":"a"} , {"functionResponse":{"name":"f","response":{"output":"b"}}},{"text":"c","x":1}]} ] }`
	r := parse(t, body)
	msgs := r.Messages()
	if len(msgs) != 2 || msgs[0].Role != message.RoleTool || msgs[1].Role != message.RoleUser || len(msgs[1].Parts) != 2 {
		t.Fatalf("%+v, want the responses and then the user's text", msgs)
	}
	responses, _ := msgs[0].WithPartText(0, "B")
	rest, _ := msgs[1].WithPartText(1, "C")
	for _, c := range []struct {
		view    []message.Message
		sources []int
		want    string
	}{
		{[]message.Message{responses, rest}, []int{0, 1}, strings.NewReplacer(`"b"`, `"B"`, `"c"`, `"C"`).Replace(body)},
		{[]message.Message{msgs[0], rest}, []int{0, 1}, strings.NewReplacer(`"c"`, `"C"`).Replace(body)},
		{[]message.Message{msgs[1]}, []int{1}, `{"contents":[ {"role":"user", "parts":[ {"text":"a"},{"text":"c","x":1}]} ] }`},
	} {
		out, err := r.Write(c.view, c.sources)
		if diff := cmp.Diff(c.want, string(out)); err != nil || diff != "" {
			t.Error(err, diff)
		}
	}
}

// The parts may come in any order.
func TestAResponseAfterATextIsAMessageOfItsOwn(t *testing.T) {
	msgs := parse(t, `{"contents":[{"role":"user","parts":[{"text":"a"},{"functionResponse":{"name":"f","response":{"output":"b"}}}]}]}`).Messages()
	if len(msgs) != 2 || msgs[0].Role != message.RoleTool || msgs[0].ResultText() != "b" || msgs[1].Role != message.RoleUser || msgs[1].Text() != "a" {
		t.Errorf("%+v, want the response and then the text", msgs)
	}
}

// A result from another wire becomes one response, even if it has several parts.
func TestAMadeResultOfSeveralPartsIsOneResponse(t *testing.T) {
	result := func(text string) message.Part {
		return message.Part{Kind: message.KindToolResult, CallID: "c", Name: "f", Text: text}
	}
	picture := func(data string) message.Part {
		return message.Part{Kind: message.KindImage, CallID: "c", Media: &message.Media{URL: "data:image/png;base64," + data}}
	}
	raw := gemini.Wire.AppendMessage(nil, message.Message{Role: message.RoleTool, Parts: []message.Part{result("one"), picture("AAAA"), result("two"), picture("BBBB")}})
	want := `{"role":"user","parts":[{"functionResponse":{"id":"c","name":"f","response":{"output":"one\ntwo"},"parts":[` +
		`{"inlineData":{"mimeType":"image/png","data":"AAAA"}},{"inlineData":{"mimeType":"image/png","data":"BBBB"}}]}}]}`
	if diff := cmp.Diff(want, string(raw)); diff != "" {
		t.Error(diff)
	}
	if m, err := gemini.Wire.ParseMessage(raw); err != nil || m.Role != message.RoleTool || len(m.Parts) != 3 || m.ResultText() != "one\ntwo" || m.Parts[2].CallID != "c" {
		t.Errorf("read again: %+v, %v", m, err)
	}
}

func TestNewMessagesHaveRoleUserAndAreRecognized(t *testing.T) {
	r := parse(t, `{"system_instruction":{"parts":{"text":"s"}},"contents":[{"parts":[{"text":"a"}]},{"role":"model","parts":[{"text":"b"}]},{"parts":[{"text":"c"}]}]}`)
	msgs := r.Messages()
	summary, notice := message.Assistant(message.SummaryText(3, "Goals: \"a\"")), message.System(message.NoticeText(2))
	out, err := r.Write([]message.Message{msgs[0], summary, notice, msgs[3]}, []int{0, -1, -1, 3})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"system_instruction":{"parts":{"text":"s"}},"contents":[{"role":"user","parts":[{"text":"<COMPACT-SUMMARY v3>\nGoals: \"a\"\n</COMPACT-SUMMARY>"}]},{"role":"user","parts":[{"text":"[conversation truncated — 2 older messages omitted]"}]},{"parts":[{"text":"c"}]}]}`
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

func TestTheSystemPromptIsProtectedAndStaysInItsField(t *testing.T) {
	for body, parts := range map[string]int{
		`{"systemInstruction":{"parts":[{"text":"a"},{"text":"b"}],"role":"user"},"contents":[]}`: 2,
		`{"contents":[],"system_instruction":{"parts":{"text":"a"}}}`:                             1,
		`{"contents":[],"systemInstruction":{"parts":[]}}`:                                        0,
		`{"contents":[],"systemInstruction":{}}`:                                                  0,
		`{"contents":[],"systemInstruction":null}`:                                                0,
	} {
		msgs := parse(t, body).Messages()
		n := 0
		if len(msgs) > 0 && msgs[0].Role == message.RoleSystem {
			n = len(msgs[0].Parts)
		}
		if n != parts || n > 0 && (!msgs[0].Protected || msgs[0].Editable(0)) {
			t.Errorf("%s: %d parts of a system prompt, want %d: %+v", body, n, parts, msgs)
		}
	}
	if _, err := gemini.Wire.ParseRequest([]byte(`{"contents":[],"systemInstruction":7}`), nil); err == nil || !strings.Contains(err.Error(), `"systemInstruction"`) {
		t.Errorf("a number as system prompt: %v, want an error with %q", err, `"systemInstruction"`)
	}
}

func TestSignedPartsAndThoughtsAreSealed(t *testing.T) {
	const response = `"functionResponse":{"name":"f","response":{"output":"a"}}`
	for part, sealed := range map[string]bool{
		`{"text":"a"}`:                              false,
		`{"text":"a","thoughtSignature":"s"}`:       true,
		`{"text":"a","thought_signature":"s"}`:      true,
		`{"text":"a","thought":true}`:               true,
		`{"text":"a","thought":false}`:              false,
		`{` + response + `}`:                        false,
		`{` + response + `,"thoughtSignature":"s"}`: true,
		`{"thoughtSignature":"s","functionResponse":{"name":"f","response":{"a":1}}}`: true,
	} {
		m := parse(t, `{"contents":[{"role":"user","parts":[`+part+`]}]}`).Messages()[0]
		if _, err := m.WithPartText(0, "b"); m.Parts[0].Sealed != sealed || errors.Is(err, message.ErrSealed) != sealed {
			t.Errorf("%s: sealed %v, an edit returns %v, want %v", part, m.Parts[0].Sealed, err, sealed)
		}
	}
}

// If the media do not hold the data of a file, the file is in the arguments of its part, both
// next to a response and inside one.
func TestTheDataOfAFileIsInItsPart(t *testing.T) {
	const data = `{"mimeType":"application/pdf","data":"QUJD"}`
	for name, part := range map[string]string{
		"beside": `{"inlineData":` + data + `}`,
		"inside": `{"functionResponse":{"name":"f","response":{"output":"a"},"parts":[{"inlineData":` + data + `}]}}`,
	} {
		parts := parse(t, `{"contents":[{"role":"user","parts":[`+part+`]}]}`).Messages()[0].Parts
		if p := parts[len(parts)-1]; p.Kind != message.KindFile || string(p.Args) != data {
			t.Errorf("%s a response: kind %s with arguments %s, want a file with its data", name, p.Kind, p.Args)
		}
	}
}

// The response may refer to its media by their name, so the text in their place keeps it.
func TestTheTextInPlaceOfMediaInAResponseKeepsTheirName(t *testing.T) {
	text := message.MediaText(message.KindFile, 12, 3, "3f9a2c1b70de")
	for field, want := range map[string]string{`"displayName":"a \"b\".pdf",`: `"displayName":"a \"b\".pdf",`, `"display_name":"c",`: `"displayName":"c",`, "": ""} {
		part := `{"functionResponse":{"name":"f","response":{"output":"a"},"parts":[{"inlineData":{` + field + `"mimeType":"application/pdf","data":"QUJD"}}]}}`
		m := parse(t, `{"contents":[{"role":"user","parts":[`+part+`]}]}`).Messages()[0]
		edited, err := m.WithPartText(1, text)
		media := `{"inlineData":{"mimeType":"text/plain",` + want + `"data":"` + base64.StdEncoding.EncodeToString([]byte(text)) + `"}}`
		if err != nil || !strings.Contains(string(edited.Raw()), `"parts":[`+media+`]`) {
			t.Errorf("%s: %s, %v, want %s", field, edited.Raw(), err, media)
			continue
		}
		back := parse(t, `{"contents":[`+string(edited.Raw())+`]}`).Messages()[0]
		if p := back.Parts[1]; p.Kind != message.KindToolResult || p.Text != text || p.CallID != m.Parts[1].CallID {
			t.Errorf("%s: the part is read as %+v", field, p)
		}
	}
}

// Signed parts, and other parts that the model made, are sent back unchanged.
func TestOnlyUnsignedMediaOfTheUserCanBeReplaced(t *testing.T) {
	for _, media := range []string{`"inlineData":{"mimeType":"image/png","data":"AAAA"}`, `"fileData":{"mimeType":"application/pdf","fileUri":"u"}`} {
		for name, c := range map[string]struct {
			role, signature string
			want            bool
		}{"a user's": {"user", "", true}, "signed": {"user", `,"thoughtSignature":"s"`, false}, "the model's": {"model", "", false}} {
			m := parse(t, `{"contents":[{"role":"`+c.role+`","parts":[{`+media+c.signature+`}]}]}`).Messages()[0]
			if _, err := m.WithPartText(0, "gone"); m.Replaceable(0) != c.want || (err == nil) != c.want {
				t.Errorf("%s: replaceable %v, an edit returns %v, want %v", name, m.Replaceable(0), err, c.want)
			}
		}
	}
}

func TestAboutReadsTheRestOfTheBody(t *testing.T) {
	got := parse(t, `{"contents":[],"tools":[{"a":1}],"generation_config":{"max_output_tokens":7},"labels":{"team":"a","n":1}}`).About()
	want := wire.About{Tools: []byte(`[{"a":1}]`), MaxOutput: 7, Metadata: map[string]string{"team": "a"}, Bytes: 105}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	for field, want := range map[string]string{`"cachedContent":"cachedContents/1"`: "cachedContents/1", `"cached_content":"x"`: "x", `"cachedContent":""`: "", `"cachedContent":null`: ""} {
		if got := parse(t, `{"contents":[],`+field+`}`).About(); got.Cached != want || got.ServerSide != "" {
			t.Errorf("%s: cached %q, server side %q, want %q and none", field, got.Cached, got.ServerSide, want)
		}
	}
}

func TestBadBodiesNameTheField(t *testing.T) {
	for body, want := range map[string]string{
		`{"contents":[{"parts":[{"text":"a"}]},]}`: "byte 38",
		`{}`:                            `"contents"`,
		`{"contents":{"parts":[]}}`:     `"contents"`,
		`{"contents":[],"contents":[]}`: "twice",
		`{"contents":[7]}`:              `"contents[0]"`,
		`{"contents":[{"parts":[]},{"role":1,"parts":[]}]}`: `"contents[1].role"`,
		`{"contents":[{"parts":"text"}]}`:                   `"contents[0].parts"`,
	} {
		if _, err := gemini.Wire.ParseRequest([]byte(body), nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %s", body, err, want)
		}
	}
}
