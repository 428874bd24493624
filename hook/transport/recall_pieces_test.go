package transport

import (
	"encoding/json"
	"slices"
	"testing"
)

func TestAnAnswerIsDividedIntoItsPieces(t *testing.T) {
	for _, tc := range []struct {
		name, raw string
		stream    bool
		data      []string
		out       string // bytes of the pieces that are left unchanged
	}{
		{"a document", ` {"a":1}`, false, []string{` {"a":1}`}, ` {"a":1}`},
		{"an array", `[{"a":1},{"a":2}]`, false, []string{`{"a":1}`, `{"a":2}`}, "[{\"a\":1},\n{\"a\":2}]"},
		{"an array behind white space", "\r\n [{\"a\":1}\n,\n{\"a\":2}]\n", false, []string{`{"a":1}`, `{"a":2}`}, "[{\"a\":1},\n{\"a\":2}]"},
		{"an array of nothing", `[]`, false, nil, `[]`},
		{"an array that is cut off", `[{"a":1},{"a"`, false, []string{`[{"a":1},{"a"`}, `[{"a":1},{"a"`},
		{"white space", "  ", false, []string{"  "}, "  "},
		{"nothing", "", false, []string{""}, ""},
		{"a stream", "data: {\"a\":1}\n\ndata: [DONE]\n\n", true, []string{`{"a":1}`, ""}, "data: {\"a\":1}\n\ndata: [DONE]\n\n"},
		{"a stream of two lines an event", "event: x\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n: ping\n\n", true, []string{`{"a":1}`, ""}, "event: x\r\ndata: {\"a\":\r\ndata: 1}\r\n\r\n: ping\n\n"},
		{"a stream that is cut off", "data: {\"a\":1}\n\ndata: {\"a\"", true, []string{`{"a":1}`, `{"a"`}, "data: {\"a\":1}\n\ndata: {\"a\""},
		{"a stream of nothing", "", true, nil, ""},
	} {
		p := split([]byte(tc.raw), tc.stream)
		var data []string
		for _, e := range p.list {
			data = append(data, string(e.data))
		}
		if !slices.Equal(data, tc.data) || string(p.bytes()) != tc.out {
			t.Errorf("%s: %q, written as %q, want %q", tc.name, data, p.bytes(), tc.data)
		}
	}
}

func TestChangedPiecesDoNotAffectOthers(t *testing.T) {
	for _, tc := range []struct {
		raw    string
		stream bool
		want   string
	}{
		{"data: {\"a\":1}\n\nevent: x\ndata:{\"a\":2}\n\ndata:  {\"a\":3}\n\n", true, "event: x\ndata: {\"b\":1}\n\ndata:  {\"a\":3}\n\n"},
		{`[{"a":1},{"a":2},{"a":3}]`, false, "[{\"b\":1},\n{\"a\":3}]"},
	} {
		p := split([]byte(tc.raw), tc.stream)
		p.list[0].dropped = true
		p.list[1].write(rawObject{"b": json.RawMessage("1")})
		if got := string(p.bytes()); got != tc.want {
			t.Errorf("%q, want %q", got, tc.want)
		}
		if p.list[0].read() != nil || string(p.list[2].read()["a"]) != "3" {
			t.Errorf("the pieces give %v and %v, want none", p.list[0].read(), p.list[2].read())
		}
	}
}

func TestTheFirstEventEndsAtItsEmptyLine(t *testing.T) {
	for _, tc := range []struct {
		raw       string
		not, want int
	}{
		{"", 0, 0}, {"data: 1\n", 0, 0}, {"data: 1\n\n", 0, 9}, {"data: 1\n\nx\n\n", 0, 9}, {"a\r\n\r\nb\n\n", 0, 5}, {"a\n\nb\r\n\r\n", 0, 3},
		{"data: 1\n\nx\n\n", 7, 9}, {"data: 1\n\nx\n\n", 8, 12}, {"a\n\n", 9, 0}, {"a\n\n", -1, 3},
	} {
		if got := eventSize([]byte(tc.raw), tc.not); got != tc.want {
			t.Errorf("eventSize(%q, %d) = %d, want %d", tc.raw, tc.not, got, tc.want)
		}
	}
}

func TestFieldsOfAnotherTypeAreIgnored(t *testing.T) {
	for raw, want := range map[string]struct {
		text  string
		index int
		items int
	}{
		`"a"`: {"a", -1, 0}, `3`: {"", 3, 0}, `"3"`: {"3", -1, 0}, `[1,2]`: {"", -1, 2}, `{}`: {"", -1, 0}, `null`: {"", -1, 0}, ``: {"", -1, 0}, `0`: {"", 0, 0},
	} {
		r := json.RawMessage(raw)
		if text(r) != want.text || indexOf(r) != want.index || len(list(r)) != want.items {
			t.Errorf("%s: text %q, index %d, list %s; want %q and %d", raw, text(r), indexOf(r), list(r), want.text, want.index)
		}
	}
	if o := obj(json.RawMessage(`{"a":1}`)); string(o["a"]) != "1" || obj(json.RawMessage(`[1]`)) != nil || string(enc("a")) != `"a"` || string(enc(func() {})) != "null" {
		t.Errorf("an object is %v", o)
	}
}

// The text of the next answer is set apart from text that the caller has received, and
// not from thoughts, which are not text of the answer.
func TestThoughtDoesNotCountAsTextOfAnAnswer(t *testing.T) {
	const thought = `{"text":"I look","thought":true}`
	for parts, want := range map[string]string{
		thought: "Found.", `{"text":"I look."}`: "\n\nFound.", `{"text":"I look."},` + thought: "\n\nFound.", `{"text":"I look.\n"},` + thought: "Found.",
	} {
		j := &joint{}
		geminiDialect{}.note(j, split([]byte(`data: {"candidates":[{"content":{"parts":[`+parts+`]}}]}`+"\n\n"), true))
		if got := j.apart("Found."); got != want {
			t.Errorf("%s: %q, want %q", parts, got, want)
		}
	}
}

// The beginning of a second answer does not reach the caller. The end of that answer
// gets the usage of the prompt from the beginning, as far as the end does not have it.
func TestEndOfASecondAnswerHasTheUsageOfItsPrompt(t *testing.T) {
	p := split([]byte(`data: {"type":"message_start","message":{"usage":{"input_tokens":10,"cache_read_input_tokens":7}}}`+"\n\n"+
		`data: {"type":"message_delta","usage":{"input_tokens":25,"output_tokens":3}}`+"\n\n"), true)
	j := &joint{output: 4}
	for _, e := range p.list {
		anthropicDialect{}.follow(j, e)
	}
	if got, want := string(p.bytes()), `data: {"type":"message_delta","usage":{"cache_read_input_tokens":7,"input_tokens":25,"output_tokens":7}}`+"\n\n"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// Gemini streams each call in an element of its own, and only the first one has the
// signature. Without it Gemini 3 refuses the next request.
func TestSignatureMovesToTheNextElementOfAStream(t *testing.T) {
	element := func(part string) string {
		return `data: {"candidates":[{"content":{"parts":[` + part + `],"role":"model"}}]}` + "\n\n"
	}
	const recalls, reads = `{"functionCall":{"args":{},"name":"recall"},"thoughtSignature":"c2ln"}`, `{"functionCall":{"args":{},"name":"read"}}`
	p := split([]byte(element(recalls)+element(reads)+element(reads)), true)
	geminiDialect{}.strip(p, nil)
	want := element("") + element(`{"functionCall":{"args":{},"name":"read"},"thoughtSignature":"c2ln"}`) + element(reads)
	if got := string(p.bytes()); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
}

// OpenAI refuses a call that stands before its reasoning.
func TestRecallStaysBehindItsReasoning(t *testing.T) {
	const thinks, recalls, reads, returns = `{"id":"rs_1","summary":[],"type":"reasoning"}`, `{"arguments":"{}","call_id":"r","name":"recall","type":"function_call"}`,
		`{"arguments":"{}","call_id":"c","name":"read","type":"function_call"}`, `{"call_id":"c","output":"text","type":"function_call_output"}`
	const recalled = `{"call_id":"r","output":"old","type":"function_call_output"}`
	raw := func(items ...string) (all []json.RawMessage) {
		for _, i := range items {
			all = append(all, json.RawMessage(i))
		}
		return all
	}
	for _, tc := range []struct{ said, sent, want []json.RawMessage }{
		{raw(thinks, recalls, reads), raw(thinks, reads, returns), raw(thinks, recalls, reads, recalled, returns)},
		{raw(thinks, recalls, reads), raw(reads, returns), raw(thinks, recalls, reads, recalled, returns)}, // the caller got the reasoning with a mark, or left it out
		{raw(thinks, reads, recalls), raw(thinks, reads, returns), raw(thinks, reads, recalls, recalled, returns)},
		{raw(recalls, thinks, reads), raw(thinks, reads, returns), raw(recalls, thinks, reads, recalled, returns)},
	} {
		s := responsesSaid(tc.said)
		got, ok := responsesDialect{}.join(tc.sent, 0, &beside{said: s, texts: []string{"old"}})
		if !ok || string(enc(got)) != string(enc(tc.want)) {
			t.Errorf("%s\nwant %s", enc(got), enc(tc.want))
		}
	}
}
