package message_test

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

func call(id string) message.Message { return message.Assistant("", message.Call(id, "bash", "{}")) }

// named returns a call without an id.
func named(tool string) message.Message { return message.Assistant("", message.Call("", tool, "{}")) }

func TestRoundsKeepCallsAndResultsTogether(t *testing.T) {
	user, result := message.User("u"), message.ToolResult
	refer := message.Message{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindOther, Sealed: true}}}
	part := func(name, json string) message.Part {
		return message.Part{Kind: message.KindOther, Name: name, Args: []byte(json), Sealed: true}
	}
	runs := message.Assistant("", part("server_tool_use", `{"type":"server_tool_use","id":"s"}`), message.Call("a", "f", "{}"))
	ran := message.Assistant("", part("code_execution_tool_result", `{"type":"code_execution_tool_result","tool_use_id":"s"}`))
	found := message.Assistant("", part("server_tool_use", `{"id":"w"}`), part("web_search_tool_result", `{"tool_use_id":"w"}`))
	for name, c := range map[string]struct {
		msgs []message.Message
		want [][2]int
		open int
	}{
		"a program that calls tools":            {[]message.Message{user, runs, result("a", ""), call("b"), result("b", ""), ran, call("c"), result("c", "")}, [][2]int{{0, 1}, {1, 6}, {6, 8}}, 8},
		"a program that still runs":             {[]message.Message{user, runs, result("a", ""), call("b")}, [][2]int{{0, 1}, {1, 4}}, 1},
		"a program that the user interrupts":    {[]message.Message{runs, result("a", ""), user, call("b"), result("b", "")}, [][2]int{{0, 2}, {2, 3}, {3, 5}}, 5},
		"a search":                              {[]message.Message{user, found, found}, [][2]int{{0, 1}, {1, 2}, {2, 3}}, 3},
		"a user's part with the name of a call": {[]message.Message{{Role: message.RoleUser, Parts: runs.Parts[:1]}, message.Assistant("a")}, [][2]int{{0, 1}, {1, 2}}, 2},
		"a user's part before a result":         {[]message.Message{{Role: message.RoleUser, Parts: refer.Parts}, result("a", "")}, [][2]int{{0, 1}, {1, 2}}, 0},
		"a result of two calls, one unknown":    {[]message.Message{call("a"), user, call("a"), {Role: message.RoleTool, Parts: []message.Part{result("a", "").Parts[0], result("x", "").Parts[0], result("a", "").Parts[0]}}}, [][2]int{{0, 1}, {1, 2}, {2, 4}}, 4},
		"empty":                                 {nil, nil, 0},
		"answer":                                {[]message.Message{user, message.Assistant("a")}, [][2]int{{0, 1}, {1, 2}}, 2},
		"one call":                              {[]message.Message{user, call("a"), result("a", "")}, [][2]int{{0, 1}, {1, 3}}, 3},
		"waiting user":                          {[]message.Message{user, message.Assistant("a"), user}, [][2]int{{0, 1}, {1, 2}, {2, 3}}, 2},
		"unanswered call":                       {[]message.Message{user, call("a")}, [][2]int{{0, 1}, {1, 2}}, 1},
		"ids that repeat":                       {[]message.Message{call("a"), result("a", ""), call("a"), result("a", "")}, [][2]int{{0, 2}, {2, 4}}, 4},
		"orphan":                                {[]message.Message{user, result("x", ""), message.Assistant("a")}, [][2]int{{0, 1}, {1, 2}, {2, 3}}, 3},
		"second answer":                         {[]message.Message{call("a"), result("a", ""), result("a", "")}, [][2]int{{0, 3}}, 3},
		"second answer behind another round":    {[]message.Message{call("a"), result("a", ""), call("b"), result("b", ""), result("a", "")}, [][2]int{{0, 2}, {2, 4}, {4, 5}}, 4},
		"late result":                           {[]message.Message{call("a"), call("b"), result("a", ""), result("b", "")}, [][2]int{{0, 4}}, 4},
		"a call of two unanswered": {[]message.Message{user, message.Assistant("", message.Call("a", "f", "{}"), message.Call("b", "f", "{}")), result("a", "")},
			[][2]int{{0, 1}, {1, 3}}, 1},
		"interrupted":                   {[]message.Message{call("a"), user, message.Assistant("b")}, [][2]int{{0, 1}, {1, 2}, {2, 3}}, 3},
		"no ids":                        {[]message.Message{call(""), user, call(""), result("", ""), call(""), result("", ""), result("", "")}, [][2]int{{0, 7}}, 7},
		"no ids, the first interrupted": {[]message.Message{call(""), user, call(""), result("", ""), call(""), result("", "")}, [][2]int{{0, 1}, {1, 2}, {2, 4}, {4, 6}}, 6},
		"no ids, several tools": {[]message.Message{named("f"), user, named("g"), user, named("f"), message.Message{Role: message.RoleTool, Parts: []message.Part{{Kind: message.KindToolResult, Name: "f"}}}, result("", "")},
			[][2]int{{0, 1}, {1, 2}, {2, 7}}, 7},
		"no ids, the result of the older tool": {[]message.Message{named("f"), user, named("g"), {Role: message.RoleTool, Parts: []message.Part{{Kind: message.KindToolResult, Name: "f"}}}},
			[][2]int{{0, 4}}, 0},
		"a result without an id or a call": {[]message.Message{user, result("", ""), call("a"), result("", "")}, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}}, 2},
		"results of references":            {[]message.Message{user, refer, result("a", ""), result("b", ""), refer, result("c", "")}, [][2]int{{0, 1}, {1, 4}, {4, 6}}, 6},
		"no reference":                     {[]message.Message{refer, user, result("a", ""), message.Assistant("a"), result("b", "")}, [][2]int{{0, 1}, {1, 2}, {2, 3}, {3, 4}, {4, 5}}, 4},
		"result behind other":              {[]message.Message{call("a"), user, result("a", "")}, [][2]int{{0, 3}}, 3},
	} {
		t.Run(name, func(t *testing.T) {
			rounds := message.Rounds(c.msgs)
			if len(rounds) != len(c.want) {
				t.Fatalf("rounds %+v, want %v", rounds, c.want)
			}
			for i, r := range rounds {
				if r.Start != c.want[i][0] || r.End != c.want[i][1] {
					t.Errorf("round %d is [%d,%d), want %v", i, r.Start, r.End, c.want[i])
				}
			}
			var growing message.Rounder
			for n := range len(c.msgs) + 3 { // at last it begins again
				msgs := c.msgs[:min(n%(len(c.msgs)+2), len(c.msgs))]
				if got, want := growing.Rounds(msgs), message.Rounds(msgs); !slices.Equal(got, want) {
					t.Errorf("after %d messages the growing conversation has rounds %+v, want %+v", len(msgs), got, want)
				}
			}
			if got := message.Open(rounds); got != c.open {
				t.Errorf("the open round begins at %d, want %d", got, c.open)
			}
		})
	}
}

func TestParallelCallsCountAsOnePairEach(t *testing.T) {
	msgs := []message.Message{
		message.Assistant("", message.Call("a", "f", "{}"), message.Call("b", "f", "{}"), message.Call("c", "f", "{}")),
		message.ToolResult("c", ""), message.ToolResult("a", ""),
	}
	r := message.Rounds(msgs)
	if len(r) != 1 || r[0].Pairs != 2 || r[0].Unanswered != 1 {
		t.Errorf("got %+v, want one round with 2 pairs and 1 call that waits", r)
	}
}

// A late result joins all rounds from its call to itself into one round. A call in this round
// without a result still counts as unanswered.
func TestALateResultKeepsTheCallsBetweenOpen(t *testing.T) {
	r := message.Rounds([]message.Message{call("a"), call("b"), call("c"), message.ToolResult("c", ""), message.ToolResult("a", "")})
	if len(r) != 1 || r[0].Pairs != 2 || r[0].Unanswered != 1 || message.Open(r) != 0 {
		t.Errorf("got %+v, want one open round with 2 pairs and 1 call that waits", r)
	}
}

func TestResultInSeveralPartsIsOneAnswer(t *testing.T) {
	three := mustParse(t, `{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"1"},{"type":"text","text":"2"},{"type":"text","text":"3"}]}`)
	msgs := []message.Message{call("a"), message.User("u"), call("a"), three}
	r := message.Rounds(msgs)
	if len(r) != 3 || r[0].Unanswered != 1 || r[2].Pairs != 1 {
		t.Errorf("rounds %+v: the parts of one answer must not answer an older call", r)
	}
}

// Nothing says which calls a reference stands for, so each of its results counts as a pair.
func TestResultsOfAReferenceArePairs(t *testing.T) {
	refer := message.Message{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindOther}}}
	r := message.Rounds([]message.Message{refer, message.ToolResult("a", ""), message.ToolResult("b", "")})
	if len(r) != 1 || r[0].Pairs != 2 || r[0].Unanswered != 0 {
		t.Errorf("rounds %+v, want one with 2 pairs", r)
	}
}

func TestTurnsOfAnAgentLoopAreItsActions(t *testing.T) {
	msgs := []message.Message{message.User("u"), call("a"), message.ToolResult("a", ""), call("b"), message.ToolResult("b", ""), message.User("v")}
	turns := message.Turns(message.Rounds(msgs))
	if len(turns) != 2 || turns[0].First != 0 || turns[0].Last != 1 || turns[1].First != 2 {
		t.Errorf("turns %+v, want two, the first of messages 0 and 1", turns)
	}
}

func TestFingerprintCoversContentWithoutIDs(t *testing.T) {
	same := [][2]string{
		{`{"role":"tool","tool_call_id":"a","content":"x"}`, `{"content":"x","role":"tool","tool_call_id":"b"}`},
		{`{"role":"user","content":"x"}`, `{"role":"user","content":[{"type":"text","text":"x","cache_control":{"type":"ephemeral"}}]}`},
		{`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\": 1}"}}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"2","type":"function","function":{"name":"f","arguments":"{\"a\":1}"}}]}`},
		{`{"role":"assistant","content":null,"tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"{\"a\": \"\\\"\\n\", \"b\": 1}"}}]}`, // after an escape, too
			`{"role":"assistant","content":null,"tool_calls":[{"id":"2","type":"function","function":{"name":"f","arguments":"{\"a\":\"\\\"\\n\",\"b\":1}"}}]}`},
	}
	for _, s := range same {
		if a, b := mustParse(t, s[0]), mustParse(t, s[1]); a.Fingerprint() != b.Fingerprint() {
			t.Errorf("%s and %s are the same content", s[0], s[1])
		}
	}
	other := [][2]string{
		{`{"role":"user","content":"x"}`, `{"role":"assistant","content":"x"}`},
		{`{"role":"user","content":"x"}`, `{"role":"user","content":"x "}`},
		{`{"role":"user","content":[{"type":"text","text":"a"},{"type":"text","text":"b"}]}`, `{"role":"user","content":"a\u0001b"}`},
		{`{"role":"user","name":"s","content":"x"}`, `{"role":"users","content":"x"}`},
		{`{"role":"user","content":[{"type":"file","file":{"file_id":"a"}}]}`, `{"role":"user","content":[{"type":"file","file":{"file_id":"b"}}]}`},
		{`{"role":"assistant","content":"a","reasoning_content":"b"}`, `{"role":"assistant","content":"ab"}`},
		{`{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"u"}}]}`,
			`{"role":"tool","tool_call_id":"a","content":[{"type":"text","text":"x"},{"type":"image_url","image_url":{"url":"v"}}]}`},
		{`{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"1 2\"}"}}]}`,
			`{"role":"assistant","content":null,"tool_calls":[{"id":"1","function":{"name":"f","arguments":"{\"a\":\"12\"}"}}]}`},
	}
	for _, s := range other {
		if a, b := mustParse(t, s[0]), mustParse(t, s[1]); a.Fingerprint() == b.Fingerprint() {
			t.Errorf("%s and %s are not the same content", s[0], s[1])
		}
	}
}

func TestFingerprintCoversEveryFieldOfMedia(t *testing.T) {
	part := func(kind message.Kind, m message.Media, args string) message.Part {
		return message.Part{Kind: kind, Media: &m, Args: []byte(args)}
	}
	media := message.Media{URL: "u", Name: "n", MIME: "image/png"}
	seen := map[message.Fingerprint]string{}
	for name, p := range map[string]message.Part{
		"the picture":     part(message.KindImage, media, ""),
		"another kind":    part(message.KindFile, media, ""),
		"another URL":     part(message.KindImage, message.Media{URL: "v", Name: "n", MIME: "image/png"}, ""),
		"another name":    part(message.KindImage, message.Media{URL: "u", Name: "m", MIME: "image/png"}, ""),
		"another type":    part(message.KindImage, message.Media{URL: "u", Name: "n", MIME: "image/gif"}, ""),
		"another content": part(message.KindImage, media, `{"data":"x"}`),
		"no media":        {Kind: message.KindImage},
	} {
		if other, taken := seen[p.Fingerprint()]; taken {
			t.Errorf("%s has the fingerprint of %s", name, other)
		}
		seen[p.Fingerprint()] = name
	}
}

// A codec adds an empty text to a result without one. Next to a text of the same result, an empty
// text does not count as content.
func TestAnEmptyTextNextToAnotherTextIsNoContent(t *testing.T) {
	result := func(id, text string) message.Part {
		return message.Part{Kind: message.KindToolResult, CallID: id, Text: text}
	}
	fp := func(parts ...message.Part) message.Fingerprint {
		return message.Message{Role: message.RoleTool, Parts: parts}.Fingerprint()
	}
	if want := fp(result("a", "t")); fp(result("a", ""), result("a", "t")) != want || fp(result("a", "t"), result("a", "")) != want {
		t.Error("an empty text next to another text counts as content")
	}
	if fp(result("a", ""), result("b", "t")) == fp(result("b", "t")) {
		t.Error("the empty result of another call must count as content")
	}
	if fp(message.Part{Kind: message.KindText, Text: "t"}, result("", "")) == fp(message.Part{Kind: message.KindText, Text: "t"}) {
		t.Error("an empty result next to a text that is no result must count as content")
	}
	if fp(result("a", "")) == fp() {
		t.Error("an empty result alone must count as content")
	}
}

func TestSameIsFalseForACopyThatDiffers(t *testing.T) {
	m := mustParse(t, `{"role":"user","name":"n","content":"x"}`)
	if !message.Same(m, m) || message.Same(m, m.Copy()) {
		t.Error("Same must be true for a copy that shares memory, and false for a deep copy")
	}
	for name, change := range map[string]func(*message.Message){
		"role":       func(m *message.Message) { m.Role = message.RoleAssistant },
		"name":       func(m *message.Message) { m.Name = "o" },
		"protection": func(m *message.Message) { m.Protected = true },
		"reading":    func(m *message.Message) { m.Unread = true },
		"parts":      func(m *message.Message) { m.Parts = nil },
		"length":     func(m *message.Message) { m.Parts = m.Parts[:0] },
		"form":       func(m *message.Message) { *m = m.Wrapped("out", 0) },
	} {
		other := m
		if change(&other); message.Same(m, other) || message.Same(other, m) {
			t.Errorf("a different %s gives the same fingerprint", name)
		}
	}
}

// A text in place of a picture belongs to the result that held the picture, even if the
// result does not name its call.
func TestATextInPlaceOfMediaKeepsItsMeaning(t *testing.T) {
	picture := func(id string) message.Part {
		return message.Part{Kind: message.KindImage, CallID: id, Media: &message.Media{URL: "u"}}
	}
	for name, c := range map[string]struct {
		role message.Role
		part message.Part
		want message.Part
	}{
		"of a user":            {message.RoleUser, picture(""), message.Part{Kind: message.KindText, Text: "t"}},
		"of a result":          {message.RoleTool, picture("a"), message.Part{Kind: message.KindToolResult, Text: "t", CallID: "a"}},
		"of a user's result":   {message.RoleUser, picture("a"), message.Part{Kind: message.KindToolResult, Text: "t", CallID: "a"}},
		"of a result, no call": {message.RoleTool, picture(""), message.Part{Kind: message.KindToolResult, Text: "t"}},
	} {
		m, err := message.Message{Role: c.role, Parts: []message.Part{c.part}}.WithPartText(0, "t")
		if err != nil || !reflect.DeepEqual(m.Parts, []message.Part{c.want}) {
			t.Errorf("%s: got %+v and error %v, want one part that keeps the meaning", name, m.Parts, err)
		}
	}
}

func TestBytesAreThoseOnTheWire(t *testing.T) {
	raw := `{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,AAAA"}}],"unknown":1}`
	if m := mustParse(t, raw); m.Bytes() != len(raw) {
		t.Errorf("Bytes returns %d, want %d", m.Bytes(), len(raw))
	}
	made := func(p message.Part) int {
		m := message.Message{Role: message.RoleUser, Parts: []message.Part{p}}
		return m.Bytes()
	}
	frame := made(message.Part{})
	for want, p := range map[int]message.Part{
		100: {Kind: message.KindText, Text: strings.Repeat("x", 100)},
		200: {Kind: message.KindToolCall, Text: "12345", Args: []byte(strings.Repeat("x", 195))},
		300: {Kind: message.KindImage, Media: &message.Media{Bytes: 300, URL: "u"}},
		400: {Kind: message.KindImage, Media: &message.Media{Bytes: 3, URL: strings.Repeat("u", 400)}},
	} {
		if got := made(p); got != frame+want {
			t.Errorf("%s: %d bytes, want %d more than %d", p.Kind, got, want, frame)
		}
	}
}

func TestFingerprintReflectsAReplacedPart(t *testing.T) {
	m := message.User("before")
	before := m.Fingerprint()
	m.Parts = []message.Part{{Kind: message.KindText, Text: "after"}}
	if m.Fingerprint() == before {
		t.Error("the remembered fingerprint is of another text")
	}
	if m.Fingerprint() != message.User("after").Fingerprint() {
		t.Error("the fingerprint is not that of the message's text")
	}
	m = mustParse(t, `{"role":"user","content":[{"type":"image_url","image_url":{"url":"https://example.com/a.png"}}]}`)
	before = m.Fingerprint()
	if m.Parts = []message.Part{{Kind: message.KindImage, Media: &message.Media{URL: "https://example.com/b.png"}}}; m.Fingerprint() == before {
		t.Error("the remembered fingerprint is of another picture")
	}
}

func mustParse(t *testing.T, raw string) message.Message {
	t.Helper()
	m, err := openai.ParseMessage([]byte(raw))
	if err != nil {
		t.Fatalf("%s: %v", raw, err)
	}
	return m
}

func TestWithPartTextReplacesOneStringAndNothingElse(t *testing.T) {
	raw := `{ "zeta": 12345678901234567890, "role":"tool","content" : [ {"type":"text","text":"one \u00e9","cache_control":{"type":"ephemeral"}}, {"type":"text","text":"two"} ],"tool_call_id":"c" }`
	m := mustParse(t, raw)
	edited, err := m.WithPartText(0, "a \"much\" longer\ntext")
	if err != nil {
		t.Fatal(err)
	}
	if edited, err = edited.WithPartText(1, "2"); err != nil {
		t.Fatal(err)
	}
	want := `{ "zeta": 12345678901234567890, "role":"tool","content" : [ {"type":"text","text":"a \"much\" longer\ntext","cache_control":{"type":"ephemeral"}}, {"type":"text","text":"2"} ],"tool_call_id":"c" }`
	if got := string(edited.Raw()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if string(m.Raw()) != raw || m.Parts[0].Text != "one é" {
		t.Error("the message itself was changed")
	}
}

func TestWithPartTextRefusesUneditableParts(t *testing.T) {
	sealed := message.Message{Role: message.RoleAssistant, Parts: []message.Part{{Kind: message.KindReasoning, Sealed: true}}}
	if _, err := sealed.WithPartText(0, "x"); !errors.Is(err, message.ErrSealed) || sealed.Editable(0) {
		t.Errorf("sealed part: %v, want ErrSealed", err)
	}
	if _, err := call("a").WithPartText(0, "x"); !errors.Is(err, message.ErrNotText) {
		t.Errorf("tool call: %v, want ErrNotText", err)
	}
	if _, err := message.User("u").WithPartText(1, "x"); err == nil {
		t.Error("a missing part was edited")
	}
	empty := mustParse(t, `{"role":"tool","tool_call_id":"c","content":null}`)
	if _, err := empty.WithPartText(0, "x"); !errors.Is(err, message.ErrNotText) {
		t.Errorf("a result without text: %v, want ErrNotText", err)
	}
}

func TestIdenticalComparesIDsAndUnknownFields(t *testing.T) {
	a := mustParse(t, `{"role":"tool","tool_call_id":"a","content":"x"}`)
	b := mustParse(t, `{"role":"tool","tool_call_id":"b","content":"x"}`)
	if message.Identical(a, b) || !message.Identical(a, mustParse(t, string(a.Raw()))) {
		t.Error("Identical must compare every byte")
	}
	if message.Identical(message.ToolResult("a", "x"), message.ToolResult("b", "x")) || !message.Identical(message.User("u"), message.User("u")) {
		t.Error("Identical must compare the ids")
	}
	if message.Identical(a, mustParse(t, `{"role":"tool","tool_call_id":"a","content":"x","unknown":1}`)) {
		t.Error("Identical must compare unknown fields")
	}
	if made := message.ToolResult("a", "x"); message.Identical(a, made) || message.Identical(made, a) {
		t.Error("a message from a wire is not identical to one that was made in Go")
	}
	protected := mustParse(t, string(a.Raw()))
	protected.Protected = true
	if message.Identical(a, protected) || message.Identical(protected, a) {
		t.Error("Identical must compare the protection")
	}
}

func TestFingerprintTextForm(t *testing.T) {
	fp := message.User("u").Fingerprint()
	text, err := fp.MarshalText()
	if err != nil || len(text) != 32 || fp.Ref() != string(text[:12]) {
		t.Fatalf("got %s and error %v, want 32 digits that begin with the reference", text, err)
	}
	var back message.Fingerprint
	if err := back.UnmarshalText(text); err != nil || back != fp {
		t.Errorf("got %v and error %v, want the fingerprint that was written", back, err)
	}
	for _, bad := range []string{"abc", string(text[:30]), string(text) + "00", strings.Repeat("x", 32)} {
		if err := back.UnmarshalText([]byte(bad)); err == nil {
			t.Errorf("UnmarshalText accepts %q as a fingerprint", bad)
		}
	}
}

func TestWrappedPartsAreReplacedByAnObject(t *testing.T) {
	raw := []byte(`{"a":"x","r":{"n":[1]},"b":"y"}`)
	parts := []message.Part{{Kind: message.KindText, Text: "x"}, {Kind: message.KindToolResult, Text: `{"n":[1]}`}, {Kind: message.KindText, Text: "y"}}
	m := message.FromWire(message.Message{Role: message.RoleTool, Parts: parts}, "w", raw, []message.Span{{Start: 5, End: 8}, {Start: 13, End: 22}, {Start: 27, End: 30}}).Wrapped("out", 1)
	edit := func(m message.Message, i int, s string) message.Message {
		t.Helper()
		m, err := m.WithPartText(i, s)
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	once := edit(m, 1, "o\"")
	if got, want := string(once.Raw()), `{"a":"x","r":{"out":"o\""},"b":"y"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	again := edit(edit(edit(once, 1, "longer than that"), 2, "Y"), 0, "")
	if got, want := string(again.Raw()), `{"a":"","r":{"out":"longer than that"},"b":"Y"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if string(m.Raw()) != string(raw) || string(edit(m, 1, "second").Raw()) != `{"a":"x","r":{"out":"second"},"b":"y"}` {
		t.Error("an edit changed the original message")
	}
}

// The texts of several parts are replaced wherever they are in the raw message, and can be
// replaced again.
func TestWithPartTextsReplacesTextsInAnyOrder(t *testing.T) {
	for _, raw := range []string{
		`{"role":"assistant","content":"said","reasoning_content":"thought"}`,
		`{"reasoning_content":"thought","content":"said","role":"assistant"}`,
	} {
		m := mustParse(t, raw)
		texts := map[int]string{}
		for i, p := range m.Parts {
			if !m.Editable(i) {
				t.Fatalf("part %d of %s can't be edited", i, raw)
			}
			texts[i] = "a longer text than that, of what was " + p.Text
		}
		edited, err := m.WithPartTexts(texts)
		if err != nil || len(texts) != 2 {
			t.Fatal(err)
		}
		want := strings.NewReplacer(`"said"`, `"a longer text than that, of what was said"`, `"thought"`, `"a longer text than that, of what was thought"`).Replace(raw)
		if got := string(edited.Raw()); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
		for i, p := range m.Parts {
			if edited, err = edited.WithPartText(i, p.Text); err != nil {
				t.Fatal(err)
			}
		}
		if got := string(edited.Raw()); got != raw {
			t.Errorf("got  %s\nwant %s", got, raw)
		}
	}
}

func TestHasFindsAnyPart(t *testing.T) {
	m := message.Assistant("a", message.Call("1", "f", "{}"))
	for kind, want := range map[message.Kind]bool{message.KindText: true, message.KindToolCall: true, message.KindToolResult: false} {
		if m.Has(kind) != want {
			t.Errorf("%s: %v", kind, !want)
		}
	}
}
