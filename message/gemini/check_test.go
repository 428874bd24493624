package gemini_test

import (
	"encoding/base64"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/gemini"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// A conversation in shorthand: u says, c calls functions (signed), n calls them
// unsigned, r responds.
func u(text string) string { return `{"role":"user","parts":[{"text":"` + text + `"}]}` }
func a(text string) string { return `{"role":"model","parts":[{"text":"` + text + `"}]}` }

func calls(signature string, names []string) string {
	out := []string{`{"text":"t","thought":true}`}
	for _, name := range names {
		out = append(out, `{"functionCall":{"name":"`+name+`","args":{}}`+signature+`}`)
		signature = ""
	}
	return `{"role":"model","parts":[` + strings.Join(out, ",") + `]}`
}

func c(names ...string) string { return calls(`,"thoughtSignature":"s"`, names) }
func n(names ...string) string { return calls("", names) }

func r(names ...string) string {
	var out []string
	for _, name := range names {
		part := `{"functionResponse":{"name":"` + name + `","response":{"output":"x"}}}`
		if name == "TEXT" {
			part = `{"text":"beside"}`
		}
		out = append(out, part)
	}
	return `{"role":"function","parts":[` + strings.Join(out, ",") + `]}`
}

// id returns one call, or one response, with an id.
func id(side, name, id string) string {
	role := map[string]string{"functionCall": "model", "functionResponse": "user"}[side]
	return `{"role":"` + role + `","parts":[{"` + side + `":{"name":"` + name + `","id":"` + id + `"},"thoughtSignature":"s"}]}`
}

func body(items ...string) string { return `{"contents":[` + strings.Join(items, ",") + `]}` }

func TestEachRuleIsChecked(t *testing.T) {
	two := `{"role":"model","parts":[{"functionCall":{"name":"f","id":"1"},"thoughtSignature":"s"},{"functionCall":{"name":"f","id":"2"}}]}` // a response without an id answers one of the calls
	for body, want := range map[string][]string{
		body(u("a"), c("f", "g", "f"), r("f", "f", "g"), a("b"), u("c")):                      nil,
		body(u("a"), c("f"), r("f", "TEXT"), c("g"), r("g")):                                  nil,
		body(u("a"), n("f"), r("f"), u("b"), c("f"), r("f")):                                  nil,
		body(u("a"), u("b"), `{"parts":[{"text":"c"}]}`):                                      nil,
		body(u("a"), `{"role":"model","parts":[{"text":"","thoughtSignature":"s"}]}`, u("c")): nil,
		body():                            {"empty_content "},
		body(a("b"), u("c")):              {"first_content_not_user "},
		body(c("f"), r("f")):              {"first_content_not_user ", "function_call_after_model 0"},
		body(u("a"), a("b")):              {"trailing_model "},
		body(u("a"), c("f", "f"), r("f")): {"function_response_parity 1/f#2"},
		body(u("a"), c("f"), r("f", "g")): {"function_response_parity 2/g#1"},
		body(u("a"), two, r("f")):         {"function_response_parity 1/2"},
		body(u("a"), two, r("f", "f")):    nil,
		body(u("a"), id("functionCall", "f", "1"), id("functionResponse", "f", "2")): {"function_response_parity 1/1", "function_response_parity 2/2"},
		body(u("a"), id("functionCall", "f", "1"), r("f")):                           nil,
		body(u("a"), c("f"), id("functionResponse", "f", "2")):                       nil,
		body(u("a"), c("f"), u("b"), r("f")):                                         {"function_call_without_response 1/f#1", "function_response_without_call 3/f#1"},
		body(u("a"), a("b"), c("f"), r("f")):                                         {"function_call_after_model 2"},
		body(u("a"), n("f", "g"), r("f", "g"), n("f"), r("f")):                       {"thought_signature_missing 1/f", "thought_signature_missing 3/f"},
		body(u("a"), n("f"), r("f", "TEXT")):                                         nil,
		// A function may return a text in place of a picture, and its result is a valid
		// response, too.
		body(u("a"), c("f"), `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"x"},"parts":[{"inlineData":{"mimeType":"text/plain","data":"`+
			base64.StdEncoding.EncodeToString([]byte(message.MediaText(message.KindImage, 10, 20, "3f9a2c1b70de")))+`"}}]}}]}`): nil,
		body(u("a"), c("f"), `{"role":"user","parts":[{"functionResponse":{"name":"f","response":{"output":"`+message.MediaText(message.KindImage, 10, 20, "3f9a2c1b70de")+`"}}}]}`): nil,
		body(u("a"), `{"role":"system","parts":[{"text":"s"}]}`, u("b")): {"unknown_role 1"},
		body(u(""), `{"role":"user","parts":[]}`):                        {"empty_content 1", "empty_text 0/0.0"},
	} {
		req := parse(t, body)
		if diff := cmp.Diff(want, wiretest.Broken(req.Check(req.Messages(), seq(len(req.Messages()))))); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestSealedPartsThatChangeAreReported(t *testing.T) {
	req := parse(t, body(u("a"), c("f"), r("f"), a("b"), u("c")))
	msgs := req.Messages()
	for about, other := range map[string]string{
		"stripped":   strings.Replace(c("f"), `{"text":"t","thought":true},`, ``, 1),
		"unsigned":   n("f"),
		"other text": strings.Replace(c("f"), `"text":"t"`, `"text":"T"`, 1),
		"other call": strings.Replace(c("f"), `"args":{}`, `"args":{"a":1}`, 1),
	} {
		m, err := gemini.Wire.ParseMessage([]byte(other))
		if err != nil {
			t.Fatal(err)
		}
		view := slices.Clone(msgs)
		view[1] = m
		if diff := cmp.Diff([]string{"sealed_part_changed 1"}, wiretest.Broken(req.Check(view, seq(len(view))))); diff != "" {
			t.Errorf("%s: %s", about, diff)
		}
	}
	for i, want := range map[int]bool{1: false, 2: true} {
		if msgs[i].Editable(len(msgs[i].Parts)-1) != want || msgs[1].Editable(0) {
			t.Errorf("message %d: a part has the wrong answer of Editable: %+v", i, msgs[i].Parts)
		}
	}
}

// All responses may be masked, and a summary may replace any whole rounds, as
// long as the user's last message stays.
func TestMaskingAndDroppingRoundsBreaksNoRule(t *testing.T) {
	var items []string
	for range 12 {
		items = append(items, u("task"), c("f", "g", "f"), r("f", "f", "g", "TEXT"), u("go on"), c("g"), r("g"), a("done"))
	}
	req := parse(t, body(append(items, u("end"), c("f"), r("f"), c("f"), r("f"))...))
	msgs := req.Messages()
	rounds := message.Rounds(msgs)
	anchor := message.Anchor(msgs)
	for from := 0; rounds[from].Start <= anchor; from++ {
		for to := from; to < len(rounds) && rounds[to].Start <= anchor; to += 3 {
			view, sources := slices.Clone(msgs[:rounds[from].Start]), seq(rounds[from].Start)
			view, sources = append(view, message.Assistant(message.SummaryText(1, "s"))), append(sources, -1)
			for i := rounds[to].Start; i < len(msgs); i++ {
				m := msgs[i]
				if m.Editable(0) && m.Role == message.RoleTool {
					m, _ = m.WithPartText(0, "[observation masked]")
				}
				view, sources = append(view, m), append(sources, i)
			}
			if found := wire.New(nil, req.Check(view, sources)); len(found) > 0 {
				t.Fatalf("without rounds %d to %d: the check reports %v, want nothing", from, to, found)
			}
		}
	}
}

func TestTheLastOfTwoFieldsWithOneNameCounts(t *testing.T) {
	for twice, once := range map[string]string{
		`{"role":"model","role":"user","parts":[{"text":"x"}]}`:                                                                 u("x"),
		`{"role":"model","r\u006fle":"user","parts":[{"text":"x"}]}`:                                                            u("x"),
		`{"r\u006fle":"model","role":"user","parts":[{"text":"x"}]}`:                                                            u("x"),
		`{"role":"user","parts":[{"text":"a"}],"parts":[{"text":"b","text":"c"}]}`:                                              u("c"),
		`{"role":"user","parts":[{"text":"a","functionCall":{"name":"f"},"functionCall":null}]}`:                                u("a"),
		`{"role":"user","parts":[{"text":"a","thoughtSignature":"s","thoughtSignature":null}]}`:                                 u("a"),
		u("a") + `,` + strings.Replace(c("f"), `"name":"f"`, `"name":"g","name":"f"`, 1) + `,` + r("f"):                         u("a") + `,` + c("f") + `,` + r("f"),
		u("a") + `,` + c("f") + `,` + strings.Replace(r("f"), `"name":"f"`, `"name":"f","id":"1","id":null,"n\u0061me":"g"`, 1): u("a") + `,` + c("f") + `,` + r("g"),
	} {
		wiretest.LastCounts(t, gemini.Wire, `{"contents":[`+twice+`]}`, `{"contents":[`+once+`]}`)
	}
}
