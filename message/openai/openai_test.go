package openai_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

func TestEveryRecordedMessageIsWrittenBackByteForByte(t *testing.T) {
	for _, dir := range []string{"chat", "chat_asis"} {
		n := 0
		for name, data := range corpus.Some(t, dir, func() bool { n++; return n%samples.Every(1) == 0 }) {
			msgs, layout, err := openai.Parse(data)
			if err != nil {
				t.Errorf("%s: %v", name, err)
				continue
			}
			if got := string(openai.Append(nil, msgs, layout)); got != strings.TrimRight(string(data), "\n")+"\n" {
				t.Errorf("%s: the written file differs from the read one", name)
			}
		}
	}
}

func TestMetaIsCutOutOnlyForTheProvider(t *testing.T) {
	for raw, want := range map[string]string{
		`{"role":"user","content":"x","meta":{"protected":true}}`:                     `{"role":"user","content":"x"}`,
		`{"meta":{"protected":true}, "role":"user","content":"x"}`:                    `{"role":"user","content":"x"}`,
		`{"role":"user", "meta" : {"protected":true} ,"content":"\"meta\""}`:          `{"role":"user", "content":"\"meta\""}`,
		`{"role":"user","content":"x","nested":{"meta":{"protected":true}}}`:          `{"role":"user","content":"x","nested":{"meta":{"protected":true}}}`,
		`{"role":"user","content":"the key \"meta\" in a text is nobody's business"}`: `{"role":"user","content":"the key \"meta\" in a text is nobody's business"}`,
	} {
		m, err := openai.ParseMessage([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		if got := string(openai.AppendMessage(nil, m)); got != want {
			t.Errorf("sent %s, want %s", got, want)
		}
		if got := string(openai.AppendJSONL(nil, m)); got != raw+"\n" {
			t.Errorf("filed %s, want %s", got, raw)
		}
	}
}

func TestOnlyTheBooleanTrueProtects(t *testing.T) {
	for raw, want := range map[string]bool{
		`{"role":"user","content":"x","meta":{"protected":true}}`:   true,
		`{"role":"user","content":"x","meta":{"protected":"true"}}`: false,
		`{"role":"user","content":"x","meta":{"protected":1}}`:      false,
		`{"role":"user","content":"x","meta":"protected"}`:          false,
		`{"role":"user","content":"x","protected":true}`:            false,
		`{"role":"user","content":"x","meta":{"other":true}}`:       false,
		`{"role":"user","content":"x","meta":[true]}`:               false,
	} {
		m, err := openai.ParseMessage([]byte(raw))
		if err != nil || m.Protected != want {
			t.Errorf("%s: protected %v, %v; want %v and no error", raw, m.Protected, err, want)
		}
	}
}

func TestPartsOfEveryKindAreRead(t *testing.T) {
	raw := `{"role":"assistant","tool_calls":[{"id":"c1","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}},{"id":"c2","type":"custom","custom":{"name":"g","input":"free text"}}],"reasoning_content":"think","content":[{"type":"text","text":"say"},{"type":"refusal","refusal":"no"}]}`
	m, err := openai.ParseMessage([]byte(raw))
	if err != nil {
		t.Fatal(err)
	}
	var kinds []string
	for _, p := range m.Parts {
		kinds = append(kinds, p.Kind.String())
	}
	if got := strings.Join(kinds, " "); got != "reasoning text text tool_call tool_call" {
		t.Errorf("parts %s, want reasoning text text tool_call tool_call", got)
	}
	for _, key := range []string{"reasoning_content", "reasoning"} { // the second: OpenRouter, vLLM
		m, err := openai.ParseMessage([]byte(`{"role":"assistant","content":"say","` + key + `":"think"}`))
		if err != nil || len(m.Parts) != 2 || m.Parts[0].Kind != message.KindReasoning || m.Parts[0].Text != "think" {
			t.Errorf("%s: got %+v and error %v, want two parts, the first reasoning", key, m.Parts, err)
		}
	}
	if m.Parts[3].Name != "f" || string(m.Parts[3].Args) != `{"a":1}` || string(m.Parts[4].Args) != "free text" {
		t.Errorf("calls %+v, want f with its JSON and a free text", m.Parts[3:])
	}
	raw = `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA","detail":"low"}},{"type":"input_audio","input_audio":{"data":"AAAA"}},{"type":"file","file":{"file_id":"f"}},{"type":"hologram","x":1}]}`
	if m, err = openai.ParseMessage([]byte(raw)); err != nil {
		t.Fatal(err)
	}
	kinds = nil
	for _, p := range m.Parts {
		kinds = append(kinds, p.Kind.String())
	}
	if got := strings.Join(kinds, " "); got != "image audio file other" {
		t.Errorf("parts %s, want image audio file other", got)
	}
	if p := message1(t, `{"role":"assistant","content":[{"type":"refusal"}]}`).Parts; len(p) != 1 || p[0].Kind != message.KindOther {
		t.Errorf("a refusal without its text: %+v, want another part", p)
	}
	if p := m.Parts[0]; p.Media.MIME != "image/png" || p.Media.Detail != "low" || p.Text != "" {
		t.Errorf("image %+v, want MIME type image/png and detail low", p.Media)
	}
	m = message1(t, `{"role":"user","content":["plain",{"type":"text","text":"typed"}]}`)
	if len(m.Parts) != 2 || m.Parts[0].Text != "plain" || m.Parts[0].Kind != message.KindText {
		t.Errorf("parts %+v, want two texts", m.Parts)
	}
	m = message1(t, `{"role":"function","name":"f","content":"x"}`)
	if len(m.Parts) != 1 || m.Parts[0].Kind != message.KindToolResult || m.Parts[0].Name != "f" {
		t.Errorf("parts %+v, want a result of f", m.Parts)
	}
	m = message1(t, `{"role":"assistant","function_call":{"name":"g"},"tool_calls":[{"id":"c","function":{"name":"f"}}],"audio":{"id":"a"},"refusal":"no"}`)
	if len(m.Parts) != 4 || m.Parts[0].Text != "no" || m.Parts[1].Kind != message.KindAudio || m.Parts[2].Name != "f" || m.Parts[3].Name != "g" {
		t.Errorf("parts %+v, want a refusal, audio, f and g", m.Parts)
	}
	m = message1(t, `{"role":"assistant","content":null,"audio":{"id":"a"}}`)
	if len(m.Parts) != 1 || m.Parts[0].Kind != message.KindAudio || m.Parts[0].Media.Bytes != 10 {
		t.Errorf("parts %+v, want audio of 10 bytes", m.Parts)
	}
	m = message1(t, `{"role":"user","content":[{"type":"image_url","image_url":"data:image/gif;base64,AAAA"}]}`) // as some clients send it
	if p := m.Parts[0]; p.Media.MIME != "image/gif" || p.Media.URL != "data:image/gif;base64,AAAA" {
		t.Errorf("image %+v, want MIME type image/gif and its URL", p.Media)
	}
}

func TestRefusalsAreSealed(t *testing.T) {
	for raw, sealed := range map[string]bool{
		`{"role":"assistant","content":null,"refusal":"no"}`:                          true,
		`{"role":"assistant","content":[{"type":"refusal","refusal":"no"}]}`:          true,
		`{"role":"assistant","content":[{"type":"text","text":"no"}]}`:                false,
		`{"role":"assistant","content":null,"refusal":null,"reasoning_content":"no"}`: false,
	} {
		m, err := openai.ParseMessage([]byte(raw))
		if err != nil || len(m.Parts) != 1 || m.Parts[0].Text != "no" || m.Parts[0].Sealed != sealed {
			t.Errorf("%s: %+v, %v", raw, m.Parts, err)
			continue
		}
		if _, err := m.WithPartText(0, "yes"); errors.Is(err, message.ErrSealed) != sealed {
			t.Errorf("%s: an edit returns %v", raw, err)
		}
	}
}

func TestBadInputNamesLineAndField(t *testing.T) {
	good := `{"role":"user","content":"x"}`
	for bad, want := range map[string]string{
		`{"role":"user","content":`:                                   "not valid JSON",
		`{"role":"user","content":"x"} x`:                             "not valid JSON",
		`{"role":"user","content":"x","n":01}`:                        "not valid JSON",
		`{"content":"x"}`:                                             `"role"`,
		`{"role":1,"content":"x"}`:                                    `"role"`,
		`{"role":"user","content":7}`:                                 `"content"`,
		`{"role":"user","content":[7]}`:                               `"content[0]"`,
		`{"role":"user","content":[{"type":"text"}]}`:                 `"content[0].text"`,
		`{"role":"assistant","tool_calls":{}}`:                        `"tool_calls"`,
		`{"role":"assistant","tool_calls":[{"id":"x"}]}`:              `"tool_calls[0].function"`,
		`{"role":"assistant","tool_calls":[{"function":{"name":1}}]}`: `"tool_calls[0].function.name"`,
		`[1]`:                                    "a message is a JSON object",
		`{"role":"user","name":7,"content":"x"}`: `"name": must be a string`,
		`{"role":"tool","tool_call_id":7,"content":"x"}`:                            `"tool_call_id": must be a string`,
		`{"role":"assistant","refusal":7}`:                                          `"refusal": must be a string`,
		`{"role":"assistant","tool_calls":[7]}`:                                     `"tool_calls[0]": must be an object`,
		`{"role":"assistant","tool_calls":[{"id":7,"function":{}}]}`:                `"tool_calls[0].id": must be a string`,
		`{"role":"assistant","tool_calls":[{"function":7}]}`:                        `"tool_calls[0].function": must be an object`,
		`{"role":"assistant","function_call":7}`:                                    `"function_call": must be an object`,
		`{"role":"user","content":[{"type":7}]}`:                                    `"content[0].type": must be a string`,
		`{"role":"user","content":["a",{"type":"text","text":7}]}`:                  `"content[1].text": must be a string`,
		`{"role":"assistant","content":[{"type":"refusal","refusal":7}]}`:           `"content[0].refusal": must be a string`,
		`{"role":"user","content":[{"type":"image_url"}]}`:                          `"content[0].image_url": is missing`,
		`{"role":"user","content":[{"type":"image_url","image_url":{"url":7}}]}`:    `"content[0].image_url.url": must be a string`,
		`{"role":"user","content":[{"type":"image_url","image_url":{"detail":7}}]}`: `"content[0].image_url.detail": must be a string`,
	} {
		_, _, err := openai.Parse([]byte(good + "\n\n" + bad + "\n"))
		var in *openai.InputError
		if !errors.As(err, &in) || in.Line != 3 || in.Index != 1 || !strings.Contains(err.Error(), want) || !strings.HasPrefix(err.Error(), "line 3 (message 2): ") {
			t.Errorf("%s: got %v, want line 3 and %s", bad, err, want)
		}
	}
	for bad, want := range map[string]string{
		"[\n" + good + ",\n{\"role\":2}\n]": `line 3 (message 2): field "role": must be a string`,
		"\n[\n" + good + "\n] x":            "line 4 (message 1): there is text after the array",
		"\n[\n" + good + "\n":               "line 2 (message 1): not valid JSON",
		"\n[" + good + " " + good + "]":     "line 2 (message 2): not valid JSON",
	} {
		_, _, err := openai.Parse([]byte(bad))
		if in := (*openai.InputError)(nil); !errors.As(err, &in) || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", bad, err, want)
		}
	}
	for _, none := range []string{"", " \n"} {
		if msgs, layout, err := openai.Parse([]byte(none)); err != nil || len(msgs) != 0 || layout != openai.JSONL {
			t.Errorf("%q: %d messages, layout %v, %v", none, len(msgs), layout, err)
		}
	}
}

func TestArraysAndPrettyPrintedMessagesAreRead(t *testing.T) {
	data := []byte("\xef\xbb\xbf[\n {\n  \"role\": \"user\",\n  \"content\": \"x\"\n },\n {\"role\":\"assistant\",\"content\":\"y\"}\n]\n")
	msgs, layout, err := openai.Parse(data)
	if err != nil || layout != openai.Array || len(msgs) != 2 {
		t.Fatalf("%v, layout %v, %d messages, want an array of 2 messages", err, layout, len(msgs))
	}
	lines := openai.Append(nil, msgs, openai.JSONL)
	again, layout, err := openai.Parse(lines)
	if err != nil || layout != openai.JSONL || len(again) != 2 || again[0].Fingerprint() != msgs[0].Fingerprint() {
		t.Errorf("error %v, want the same 2 messages as JSONL, got %s", err, lines)
	}
	if out := openai.Append(nil, msgs, openai.Array); !json.Valid(out) || bytes.Count(out, []byte("\n")) != 4 {
		t.Errorf("no JSON with a message in each line: %s", out)
	}
}

func TestMessagesMadeInGoSurviveTheWire(t *testing.T) {
	for _, m := range []message.Message{
		message.System("s"), message.Developer("d"), message.User("u \"quoted\"\n<b>&amp;"),
		message.Assistant("text"), message.Assistant("", message.Call("c", "f", `{"a":1}`)),
		message.ToolResult("c", "result"), message.ToolResult("c", ""),
		{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindReasoning, Text: "r"}, {Kind: message.KindText, Text: "t"}}},
		{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindText, Text: "t"}, {Kind: message.KindImage, Media: &message.Media{URL: "https://example.org/i.png", Detail: "low"}}}},
	} {
		raw := openai.AppendMessage(nil, m)
		got, err := openai.ParseMessage(raw)
		if err != nil {
			t.Errorf("%s: %v", raw, err)
			continue
		}
		if got.Fingerprint() != m.Fingerprint() {
			t.Errorf("%s has another role or fingerprint than %+v", raw, m.Parts)
		}
		if last := len(m.Parts) - 1; m.Parts[last].Media != nil && got.Parts[last].Media.Detail != m.Parts[last].Media.Detail {
			t.Errorf("%s has another detail than %q, which costs other tokens", raw, m.Parts[last].Media.Detail)
		}
	}
	m := message.User("u")
	m.Protected = true
	if got, err := openai.ParseMessage(openai.AppendJSONL(nil, m)); err != nil || !got.Protected {
		t.Errorf("protection is lost: %v", err)
	}
	if got, want := string(openai.AppendMessage(nil, m)), `{"role":"user","content":"u"}`; got != want {
		t.Errorf("the provider gets %s, want %s", got, want)
	}
}

// A message of a file is one line, also for readers that end a line at a lone \r.
func TestPrettyPrintedMessagesAreFiledInOneLine(t *testing.T) {
	for _, end := range []string{"\n", "\r\n", "\r"} {
		raw := strings.ReplaceAll("\n{\n  \"role\": \"user\",\n  \"content\": \"one\\r\\ntwo\"\n}", "\n", end)
		m, err := openai.ParseMessage([]byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		if got, want := string(openai.AppendJSONL(nil, m)), `{  "role": "user",  "content": "one\r\ntwo"}`+"\n"; got != want {
			t.Errorf("with %q: %q, want %q", end, got, want)
		}
	}
}

// The archive stores messages made in Go in this form, so the form must hold every part
// at its place.
func TestSoundsAndFilesMadeInGoAreWritten(t *testing.T) {
	for name, c := range map[string]struct {
		part message.Part
		want string
	}{
		"a file": {
			message.Part{Kind: message.KindFile, Media: &message.Media{MIME: "application/pdf", Name: "a.pdf", URL: "data:application/pdf;base64,QUJD"}},
			`{"type":"file","file":{"filename":"a.pdf","file_data":"data:application/pdf;base64,QUJD"}}`,
		},
		"a file of this wire":                   {message.Part{Kind: message.KindFile, Args: []byte(`{"type":"file","file":{"file_id":"f"}}`), Media: &message.Media{Bytes: 38}}, `{"type":"file","file":{"file_id":"f"}}`},
		"a file of another wire":                {message.Part{Kind: message.KindFile, Args: []byte(`{"type":"text","data":"x"}`), Media: &message.Media{Name: "a"}}, `{"type":"file","file":{"type":"text","data":"x"}}`},
		"a file of another wire with its bytes": {message.Part{Kind: message.KindFile, Args: []byte(`{"type":"document"}`), Media: &message.Media{Name: "a", URL: "u"}}, `{"type":"file","file":{"filename":"a","file_data":"u"}}`},
		"a file whose JSON is cut":              {message.Part{Kind: message.KindFile, Args: []byte(`{"type":"file",`)}, `{"type":"file","file":{"filename":"","file_data":""}}`},
		"a file without content":                {message.Part{Kind: message.KindFile}, `{"type":"file","file":{"filename":"","file_data":""}}`},
		"a sound":                               {message.Part{Kind: message.KindAudio, Media: &message.Media{MIME: "audio/wav", URL: "data:audio/wav;base64,QUJD"}}, `{"type":"input_audio","input_audio":{"data":"QUJD","format":"wav"}}`},
		"a sound behind a link":                 {message.Part{Kind: message.KindAudio, Media: &message.Media{MIME: "audio/mp3", URL: "https://example.org/a"}}, `{"type":"input_audio","input_audio":{"data":"https://example.org/a","format":"mp3"}}`},
	} {
		m := message.Message{Role: message.RoleUser, Parts: []message.Part{c.part, {Kind: message.KindText, Text: "see"}}}
		raw := openai.AppendMessage(nil, m)
		if want := `{"role":"user","content":[` + c.want + `,{"type":"text","text":"see"}]}`; string(raw) != want {
			t.Errorf("%s: %s, want %s", name, raw, want)
		}
		back, err := openai.ParseMessage(raw)
		if err != nil || len(back.Parts) != 2 || back.Parts[0].Kind != c.part.Kind || back.Parts[1].Text != "see" {
			t.Errorf("%s: read back as %+v, error %v", name, back.Parts, err)
		}
	}
}

// A message that no wire has read is written with everything it says, at its place.
func TestMessagesMadeInGoAreWrittenWhole(t *testing.T) {
	text := func(s string) message.Part { return message.Part{Kind: message.KindText, Text: s} }
	picture := message.Part{Kind: message.KindImage, Media: &message.Media{URL: "u"}}
	thought := message.Part{Kind: message.KindReasoning, Text: "r"}
	for name, c := range map[string]struct {
		m    message.Message
		want string
	}{
		"a name":    {message.Message{Role: message.RoleUser, Name: "ann", Parts: []message.Part{text("a")}}, `{"role":"user","name":"ann","content":"a"}`},
		"two texts": {message.Message{Role: message.RoleUser, Parts: []message.Part{text("a"), text("b")}}, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`},
		"a picture among reasoning and calls": {
			message.Message{Role: message.RoleAssistant, Parts: []message.Part{thought, picture, text("a"), message.Call("c", "f", "{}")}},
			`{"role":"assistant","reasoning_content":"r","content":[{"type":"image_url","image_url":{"url":"u"}},{"type":"text","text":"a"}],"tool_calls":[{"id":"c","type":"function","function":{"name":"f","arguments":"{}"}}]}`,
		},
		"a picture without media": {message.Message{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindImage, Text: "a"}, picture}}, `{"role":"user","content":[{"type":"text","text":"a"},{"type":"image_url","image_url":{"url":"u"}}]}`},
		"parts that this package does not know": {
			message.Message{Role: message.RoleUser, Parts: []message.Part{{Kind: message.KindOther, Args: []byte(`{"type":"x"}`)}, {Kind: message.KindOther, Args: []byte(`{"type"`), Text: "a"}}},
			`{"role":"user","content":[{"type":"x"},{"type":"text","text":"a"}]}`,
		},
	} {
		if got := string(openai.AppendMessage(nil, c.m)); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add([]byte(`{"role":"user","content":"x"}`))
	f.Add([]byte(`[{"role":"assistant","content":null,"tool_calls":[{"id":"c","function":{"name":"f","arguments":"{}"}}]}]`))
	f.Add([]byte(`{"role":"tool","content":[{"type":"text","text":"\ud83d\ude00"}],"tool_call_id":"c","meta":{"protected":true}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		msgs, layout, err := openai.Parse(data)
		if err != nil {
			return
		}
		again, _, err := openai.Parse(openai.Append(nil, msgs, layout))
		if err != nil || len(again) != len(msgs) {
			t.Fatalf("the written message can't be read: %v", err)
		}
		for i, m := range msgs {
			if again[i].Fingerprint() != m.Fingerprint() || again[i].Protected != m.Protected {
				t.Fatalf("message %d differs after a round trip", i)
			}
			for p := range m.Parts {
				if !m.Editable(p) {
					continue
				}
				edited, err := m.WithPartText(p, "replaced")
				if err != nil {
					t.Fatal(err)
				}
				checkSplice(t, m, edited, p)
			}
		}
	})
}

// checkSplice compares an edit with the JSON itself: the same value except for
// one string.
func checkSplice(t *testing.T, m, edited message.Message, p int) {
	t.Helper()
	back, err := openai.ParseMessage(edited.Raw())
	if err != nil {
		t.Fatalf("the edit broke the JSON: %v: %s", err, edited.Raw())
	}
	if len(back.Parts) != len(m.Parts) {
		return // duplicate keys: the last one counts
	}
	for i := range back.Parts {
		want := m.Parts[i]
		if i == p {
			want.Text = "replaced"
		}
		if got := back.Parts[i]; got.Text != want.Text || got.Kind != want.Kind || !reflect.DeepEqual(got.Args, want.Args) {
			t.Fatalf("part %d is %+v, want %+v", i, got, want)
		}
	}
}
