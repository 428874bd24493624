package policy_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

func TestPlaceholderNamesItsCall(t *testing.T) {
	mark := func(ended bool, exit int) policy.Mark {
		return policy.Mark{Form: "call-recall@3", Chars: 4812, Ref: "3f9a2c1b70de", Ended: ended, Exit: exit}
	}
	for _, c := range []struct {
		name string
		mark policy.Mark
		of   policy.Answered
		want string
	}{
		{"all fields", mark(true, 1), policy.Answered{Tool: "bash", Made: "go test ./..."},
			`[observation masked — 4812 chars · bash "go test ./..." · exit 1 · recall 3f9a2c1b70de]`},
		{"no target", mark(true, 0), policy.Answered{Tool: "bash"}, `[observation masked — 4812 chars · bash · exit 0 · recall 3f9a2c1b70de]`},
		{"no status", mark(false, 0), policy.Answered{Tool: "read", Made: "a.go"}, `[observation masked — 4812 chars · read "a.go" · recall 3f9a2c1b70de]`},
		{"no call", mark(true, 2), policy.Answered{Made: "x"}, `[observation masked — 4812 chars · exit 2 · recall 3f9a2c1b70de]`},
		{"a form without a reference", policy.Mark{Form: "call@3", Chars: 1, Ref: "3f9a2c1b70de"}, policy.Answered{Tool: "ls", Made: "/"},
			`[observation masked — 1 chars · ls "/"]`},
		{"quotes and brackets of the call stay", mark(false, 0), policy.Answered{Tool: "my tool", Made: "grep \"[^=]\" [b]\n c"},
			`[observation masked — 4812 chars · my_tool "grep "[^=]" [b] c" · recall 3f9a2c1b70de]`},
		{"a separator ends the target", mark(false, 0), policy.Answered{Tool: "rg", Made: "a · exit 3"}, `[observation masked — 4812 chars · rg "a…" · recall 3f9a2c1b70de]`},
		{"an invisible character ends the target", mark(false, 0), policy.Answered{Tool: "rg", Made: "a\u202eb"}, `[observation masked — 4812 chars · rg "a…" · recall 3f9a2c1b70de]`},
		{"a target without a visible beginning", mark(false, 0), policy.Answered{Tool: "rg", Made: "·"}, `[observation masked — 4812 chars · rg · recall 3f9a2c1b70de]`},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, err := policy.Forms(nil).Render(c.mark, c.of)
			if err != nil || got != c.want {
				t.Fatalf("%q, %v\nwant %q", got, err, c.want)
			}
			back, ok := policy.Forms(nil).ParseMark(got)
			if !ok || back.Form != c.mark.Form || back.Form == "call-recall@3" && back.Ref != c.mark.Ref || back.Chars != c.mark.Chars || back.Ended != c.mark.Ended || back.Exit != c.mark.Exit {
				t.Errorf("ParseMark returns %+v, %v, want true", back, ok)
			}
		})
	}
}

// A long target is cut to the room in the placeholder and no further. The limit counts
// characters and not bytes. With a shorter target, the model might not recognize the
// call.
func TestPlaceholderUsesItsRoomForALongTarget(t *testing.T) {
	for _, tool := range []string{"bash", "größen_prüfen", "検索"} {
		for _, target := range []string{strings.Repeat("x", 300), strings.Repeat("ü", 300)} {
			k := policy.Mark{Form: "call-recall@3", Chars: 4812, Ref: "3f9a2c1b70de", Ended: true, Exit: 1}
			text, err := policy.Forms(nil).Render(k, policy.Answered{Tool: tool, Made: target})
			if n := utf8.RuneCountInString(text); err != nil || n != 160 || !strings.HasSuffix(text, `…" · exit 1 · recall 3f9a2c1b70de]`) {
				t.Errorf("%q has %d characters (error %v), want 160, with the exit code and the reference at the end", text, n, err)
			}
		}
	}
}

func FuzzParseMarkReadsCallForms(f *testing.F) {
	f.Add("bash", `go test "./..."`, "", 4812, 1, true)
	f.Add("bash", `go test "./..."`, "FAIL\texample.org/a\t0.1s", 4812, 1, true)
	f.Add("a\" · exit 3 · recall 0123456789ab]", "\xff·\u2028[x]", "\" · exit 0]\x1b[", 0, -7, true)
	f.Add(strings.Repeat("ü", 300), strings.Repeat("日本", 300), strings.Repeat("ß", 300), 1<<40, 1<<30, false)
	f.Fuzz(func(t *testing.T, tool, target, says string, chars, exit int, ended bool) {
		k := policy.Mark{Form: "call-recall@2", Chars: max(chars, 0) % 1e15, Ref: "3f9a2c1b70de", Ended: ended, Exit: exit % 1e9, SaysTo: len(says)}
		if chars%2 == 0 {
			k.Form = "call-recall@3"
		}
		text, err := policy.Forms(nil).Render(k, policy.Answered{Tool: tool, Target: target, Made: target, Result: says})
		if err != nil || utf8.RuneCountInString(text) > 160 || strings.ContainsAny(text, "\n\r\x1b") || !utf8.ValidString(text) {
			t.Fatalf("got %q and error %v, want valid text of at most 160 characters in one line", text, err)
		}
		back, ok := policy.Forms(nil).ParseMark(text)
		if !ok || back.Chars != k.Chars || back.Ref != k.Ref || back.Ended != ended || ended && back.Exit != k.Exit {
			t.Fatalf("ParseMark(%q) = %+v, %v, want the rendered mark", text, back, ok)
		}
	})
}

func TestParseMarkRejectsSimilarTexts(t *testing.T) {
	for _, text := range []string{
		`[observation masked — -12 chars]`,
		`[observation masked — 12 chars · bash "a" b]`,
		`[observation masked — 12 chars · bash "a" · "b"]`,
		`[observation masked — 12 chars · bash "a · b"]`,
		`[observation masked — 12 chars · ba"sh "a"]`,
		`[observation masked — 12 chars · bash "a" · exit 01]`,
		"[observation masked — 12 chars · ba\u202esh \"a\"]",
		`[observation masked — 12 chars · bash "a" · says "two  spaces"]`,
		`[observation masked — 12 chars · two words]`,
		`[observation masked — 12 chars · bash "two  spaces"]`,
		`[observation masked — 12 chars · bash "a" · recall 3F9A2C1B70DE]`,
		`[observation masked — 12 chars · bash "a"] and more`,
		"[observation masked — 12 chars · bash \"a\nb\"]",
		`[observation masked — 12 chars · bash "` + strings.Repeat("a", 200) + `"]`,
	} {
		if k, ok := policy.Forms(nil).ParseMark(text); ok {
			t.Errorf("ParseMark accepts %q as %+v", text, k)
		}
	}
}

// maskAll masks the results of a view and returns the conversation.
func maskAll(t *testing.T, m policy.Mask, recall bool, msgs ...message.Message) (*reduce.Conversation, []reduce.Recipe) {
	t.Helper()
	e := reduce.Engine{Steps: []reduce.Step{{Stage: m, Goal: policy.All}}, Cost: bytesCost{}}
	out, err := e.Run(t.Context(), reduce.Request{Conversation: reduce.NewConversation(msgs, nil, nil), Budget: policy.Budget{Cap: 1 << 30}, Recall: recall})
	if err != nil {
		t.Fatal(err)
	}
	var recipes []reduce.Recipe
	for _, p := range out.Passes {
		recipes = append(recipes, p.Recipe)
	}
	return out.Conversation, recipes
}

// bytesCost counts one token per byte.
type bytesCost struct{}

func (bytesCost) Text(s string) int { return len(s) }
func (bytesCost) Message(m message.Message) int {
	n := 4
	for _, p := range m.Parts {
		n += len(p.Text) + len(p.Args) + len(p.Name)
	}
	return n
}

var oneCall = []message.Message{
	message.User("go"),
	message.Assistant("", message.Call("1", "bash", `{"cmd":"make","timeout":3}`)), message.ToolResult("1", "Exit code 2\n"+strings.Repeat("x", 500)),
	message.Assistant("done"), message.User("more"),
}

func TestMaskLeavesCallPlaceholdersUnchanged(t *testing.T) {
	m := policy.Mask{Form: policy.FormCall}
	once, recipes := maskAll(t, m, true, oneCall...)
	const want = `[observation masked — 512 chars · bash "make" · exit 2 · recall `
	text := once.Messages()[2].ResultText()
	if !strings.HasPrefix(text, want) {
		t.Fatalf("%q, want %s…", text, want)
	}
	if raw, err := json.Marshal(recipes); err != nil || strings.Contains(string(raw), "make") || strings.Contains(string(raw), "bash") {
		t.Errorf("the ledger holds text of the history: %s, %v", raw, err)
	}
	twice, more := maskAll(t, m, false, once.Messages()...)
	if len(more) != 0 || twice.Messages()[2].ResultText() != text {
		t.Errorf("second masking: %q, %d passes; want %q and 0", twice.Messages()[2].ResultText(), len(more), text)
	}
	again, err := reduce.NewConversation(oneCall, nil, nil).Replay(recipes[0])
	if err != nil || again.Messages()[2].ResultText() != text {
		t.Errorf("the replay returns %q, %v; want %q and no error", again.Messages()[2].ResultText(), err, text)
	}
}

// A ledger of an older version always renders the same bytes.
func TestReplayRendersOlderFormsUnchanged(t *testing.T) {
	msgs := slices.Clone(oneCall)
	msgs[1] = message.Assistant("", message.Call("1", "bash", `{"cmd":"make \"a[b]\"\nmake c"}`))
	for form, want := range map[string]string{
		"observation@1": "[observation masked — 512 chars]",
		"recall@1":      "[observation masked — 512 chars · recall 0123456789ab]",
		"call@1":        `[observation masked — 512 chars · bash "make 'a(b)'"]`,
		"call-recall@1": `[observation masked — 512 chars · bash "make 'a(b)'" · recall 0123456789ab]`,
		"call@2":        `[observation masked — 512 chars · bash "make 'a(b)'" · says "Exit code 2"]`,
		"call-recall@2": `[observation masked — 512 chars · bash "make 'a(b)'" · says "Exit code 2" · recall 0123456789ab]`,
		"call@3":        `[observation masked — 512 chars · bash "make "a[b]" ⏎ make c" · says "Exit code 2"]`,
		"result@1":      "[result masked — ~99 tokens removed]",
	} {
		var r reduce.Recipe
		said := ""
		if form == "call@2" || form == "call-recall@2" || form == "call@3" {
			said = `,"says_to":11`
		}
		stored := `{"stage":"mask","texts":[{"at":2,"was":"` + oneCall[2].Fingerprint().String() + `","is":"` + oneCall[2].Fingerprint().String() +
			`","decision":"masked","segments":[{"mark":{"form":"` + form + `","chars":512,"tokens":99,"turn":1,"ref":"0123456789ab"` + said + `}}]}]}`
		if err := json.Unmarshal([]byte(stored), &r); err != nil {
			t.Fatal(err)
		}
		c, err := reduce.NewConversation(msgs, nil, nil).Replay(r)
		if err != nil {
			t.Fatal(err)
		}
		if got := c.Messages()[2].ResultText(); got != want {
			t.Errorf("%s renders %q, want %q", form, got, want)
		}
	}
}

func TestMaskSkipsResultsBelowMinTokens(t *testing.T) {
	for _, c := range []struct{ least, edits int }{{0, 1}, {400, 1}, {500, 0}} {
		_, recipes := maskAll(t, policy.Mask{MinTokens: c.least}, false, oneCall...)
		if len(recipes) != c.edits {
			t.Errorf("min_tokens %d: %d edits, want %d", c.least, len(recipes), c.edits)
		}
	}
}

// Mask uses the short placeholder if the longer one does not save enough.
func TestMaskUsesTheShortPlaceholderIfTheLongOneSavesTooLittle(t *testing.T) {
	msgs := append([]message.Message(nil), oneCall...)
	msgs[2] = message.ToolResult("1", strings.Repeat("x", 120))
	c, _ := maskAll(t, policy.Mask{Form: policy.FormCall, MinTokens: 50}, true, msgs...)
	if got := c.Messages()[2].ResultText(); !strings.HasPrefix(got, "[observation masked — 120 chars · recall ") {
		t.Errorf("%q, want text that begins with %q", got, "[observation masked — 120 chars · recall ")
	}
}

// A key in a call or a result is quoted whole or not at all, because redaction would not
// recognize half of it. Forms of older versions cut it, as they always did.
func TestPlaceholderCutsNoKey(t *testing.T) {
	key := strings.Repeat("k3y", 60)
	for form, part := range map[string]bool{"call@2": true, "call@3": false} {
		for _, of := range []policy.Answered{{Tool: "bash", Target: "use " + key, Made: "use " + key}, {Tool: "bash", Target: "a", Made: "a", Result: "FAIL " + key}} {
			text, err := policy.Forms(nil).Render(policy.Mark{Form: form, Chars: 1, SaysTo: len(of.Result)}, of)
			if err != nil || strings.Contains(text, "k3y") != part || !strings.Contains(text, "…") {
				t.Errorf("%s of %+v: %s, %v", form, of, text, err)
			}
		}
	}
}
