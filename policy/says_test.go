package policy_test

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// ran returns a conversation in which a command printed something.
func ran(args, output string) []message.Message {
	return []message.Message{
		message.User("go"), message.Assistant("", message.Call("1", "bash", args)), message.ToolResult("1", output+strings.Repeat("\n  at line", 60)),
		message.Assistant("done"), message.User("more"),
	}
}

// The exit code of a pipe is the exit code of its last command. A model that reads
// "exit 0" for failed tests would continue as if they had passed.
func TestPlaceholderQuotesTheOutcomeOfACheck(t *testing.T) {
	const failed = "=== RUN TestA\n\x1b[31m--- FAIL: TestA (0.00s)\x1b[0m\n    a_test.go:3: want 1\nFAIL\nFAIL\texample.org/a\t0.01s\nok  \texample.org/b\t0.01s"
	for name, c := range map[string]struct{ args, output, want string }{
		"a pipe ends with 0":                        {`{"command":"go test ./... 2>&1 | tail -40"}`, "Exit code 0\n" + failed, `bash "go test ./... 2>&1 | tail -40" · says "--- FAIL: TestA (0.00s)" · exit 0]`},
		"no status":                                 {`{"cmd":"cd src && go test ./..."}`, failed, `bash "cd src && go test ./..." · says "--- FAIL: TestA (0.00s)"]`},
		"a failure and a status":                    {`{"command":"go test ./..."}`, "Exit code 1\n" + failed, `bash "go test ./..." · says "--- FAIL: TestA (0.00s)" · exit 1]`},
		"words of a shell":                          {`{"command":["bash","-lc","npm test"]}`, "Tests:  1 failed, 3 passed, 4 total", `bash "bash -lc npm test" · says "Tests: 1 failed, 3 passed, 4 total"]`},
		"passed, no status":                         {`{"command":"pytest -q"}`, "====== 12 passed in 0.3s ======", `bash "pytest -q" · says "12 passed in 0.3s"]`},
		"a success and a status":                    {`{"command":"pytest -q"}`, "Exit code 0\n12 passed in 0.3s", `bash "pytest -q" · says "12 passed in 0.3s" · exit 0]`},
		"a status outweighs a success":              {`{"command":"go test ./a && ./deploy"}`, "Exit code 3\nok  \texample.org/a\t0.01s", `bash "go test ./a && ./deploy" · exit 3]`},
		"no report":                                 {`{"command":"./deploy"}`, "deployed", `bash "./deploy"]`},
		"a log that is shown":                       {`{"command":"cat test.log"}`, failed, `bash "cat test.log"]`},
		"a log that is shown elsewhere":             {`{"command":"cd logs; tail -n 50 test.log"}`, failed, `bash "cd logs; tail -n 50 test.log"]`},
		"a log that a shell shows":                  {`{"command":"bash -lc cat test.log"}`, failed, `bash "bash -lc cat test.log"]`},
		"a file":                                    {`{"path":"test.log"}`, failed, `bash "test.log"]`},
		"separators of the form":                    {`{"command":"make test"}`, "FAILED [\"a\" · b]", `bash "make test" · says "FAILED ["a" . b]"]`},
		"a commit":                                  {`{"command":"git add -A && git commit -m x"}`, "✓ lint\n[main 1a2b3c4] Cut the list\n 2 files changed\n✓ hooks", `bash "git add -A && git commit -m x" · says "[main 1a2b3c4] Cut the list"]`},
		"a commit that failed":                      {`{"command":"git commit -m x"}`, "Exit code 1\nOn branch main\nerror: the list is not cut\nhusky - pre-commit script failed (code 1)", `bash "git commit -m x" · says "error: the list is not cut" · exit 1]`},
		"output of git log":                         {`{"command":"git log && git diff"}`, "✓ built", `bash "git log && git diff"]`},
		"a script that succeeded":                   {`{"command":"python3 verify.py"}`, "Exit code 0\n✗ was slow\n✓ All rules hold!", `bash "python3 verify.py" · says "✓ All rules hold!" · exit 0]`},
		"an exception after a pipe":                 {`{"command":"python3 verify.py | tail -5"}`, "Exit code 0\nTraceback (most recent call last):\n  File \"verify.py\", line 3\nshop.TooLarge: 12 rows", `bash "python3 verify.py | tail -5" · says "shop.TooLarge: 12 rows" · exit 0]`},
		"a script that the command writes and runs": {`{"command":"cat > a.py <<'E'\nprint(1)\nE\npython3 a.py"}`, "ok\n✓ done", `bash "cat > a.py <<'E' ⏎ print(1) ⏎ E ⏎ python3 a.py" · says "✓ done"]`},
		"comments are dropped":                      {`{"command":"# Don't push\n\ngit add \\\n  a.go \\\n  b.go\n# then\nmake"}`, "done", `bash "git add a.go b.go ⏎ make"]`},
	} {
		t.Run(name, func(t *testing.T) {
			msgs := ran(c.args, c.output)
			out, recipes := maskAll(t, policy.Mask{Form: policy.FormCall}, false, msgs...)
			text := out.Messages()[2].ResultText()
			if _, after, _ := strings.Cut(text, " chars · "); after != c.want {
				t.Fatalf("%q, want … %q", text, c.want)
			}
			if back, ok := policy.Forms(nil).ParseMark(text); !ok || back.Form != recipes[0].Texts[0].Segments[0].Mark.Form {
				t.Errorf("ParseMark(%q) = %+v, %v, want true", text, back, ok)
			}
			raw, err := json.Marshal(recipes[0])
			if err != nil || strings.Contains(string(raw), "TestA") || strings.Contains(string(raw), "passed") {
				t.Errorf("the ledger holds text of the history: %s, %v", raw, err)
			}
			var stored reduce.Recipe
			if err := json.Unmarshal(raw, &stored); err != nil {
				t.Fatal(err)
			}
			again, err := reduce.NewConversation(msgs, nil, nil).Replay(stored)
			if err != nil || again.Messages()[2].ResultText() != text {
				t.Errorf("the replay fails: %v", err)
			}
			if _, more := maskAll(t, policy.Mask{Form: policy.FormCall}, false, out.Messages()...); len(more) != 0 {
				t.Errorf("the second masking edits %+v", more)
			}
		})
	}
}

// The placeholder keeps 40 characters of the command next to the quoted line, which has at most
// 60.
func TestPlaceholderKeepsTheCommandBesideAQuotation(t *testing.T) {
	msgs := ran(`{"command":"go test `+strings.Repeat("./pkg/of/tests ", 20)+`"}`, "Exit code 1\n--- FAIL: Test"+strings.Repeat("Ä", 200))
	out, _ := maskAll(t, policy.Mask{Form: policy.FormCall}, true, msgs...)
	text := out.Messages()[2].ResultText()
	_, rest, _ := strings.Cut(text, `bash "`)
	command, rest, _ := strings.Cut(rest, `" · says "`)
	says, _, _ := strings.Cut(rest, `" · exit 1 · recall `)
	if n := utf8.RuneCountInString(text); n > 160 || utf8.RuneCountInString(command) < 40 || !strings.HasPrefix(says, "--- FAIL: TestÄÄÄ") || utf8.RuneCountInString(says) > 60 {
		t.Errorf("%q has %d characters: the command %q, the outcome %q", text, n, command, says)
	}
	if _, ok := policy.Forms(nil).ParseMark(text); !ok {
		t.Errorf("ParseMark rejects %q", text)
	}
}

// The placeholder quotes the line from the text that it replaces. In a truncated result,
// the line is at another position than in the original, or is missing.
func TestPlaceholderQuotesTheRemainingTextOfATruncatedResult(t *testing.T) {
	lines := strings.Repeat("    at store.go:12\n", 200)
	for name, c := range map[string]struct{ output, want string }{
		"a failure in the kept part":    {lines + "--- FAIL: TestA (0.00s)", `bash "go test ./..." · says "--- FAIL: TestA (0.00s)"]`},
		"a failure in the removed part": {lines + "--- FAIL: TestA (0.00s)\n" + lines, `bash "go test ./..."]`},
	} {
		t.Run(name, func(t *testing.T) {
			msgs := ran(`{"command":"go test ./..."}`, "")
			msgs[2] = message.ToolResult("1", c.output)
			e := reduce.Engine{Steps: []reduce.Step{
				{Stage: policy.Truncate{MaxTokens: 1000, Keep: policy.Both}, Goal: policy.All}, {Stage: policy.Mask{Form: policy.FormCall}, Goal: policy.All},
			}, Cost: bytesCost{}}
			out, err := e.Run(t.Context(), reduce.Request{Conversation: reduce.NewConversation(msgs, nil, nil), Budget: policy.Budget{Cap: 1 << 30}})
			if err != nil || len(out.Passes) != 2 {
				t.Fatalf("%d passes, error %v, want 2 passes", len(out.Passes), err)
			}
			if _, after, _ := strings.Cut(out.Conversation.Messages()[2].ResultText(), " chars · "); after != c.want {
				t.Errorf("%q, want … %q", after, c.want)
			}
		})
	}
}

// Without the command, the quoted line has no meaning.
func TestPlaceholderQuotesAnOutcomeOnlyWithItsCommand(t *testing.T) {
	for _, of := range []policy.Answered{{Result: "FAIL a"}, {Tool: "bash", Result: "FAIL a"}, {Tool: "bash", Made: "\x1b", Result: "FAIL a"}} {
		text, err := policy.Forms(nil).Render(policy.Mark{Form: "call@3", Chars: 5, SaysTo: 6}, of)
		if err != nil || strings.Contains(text, "FAIL") {
			t.Errorf("%+v: %q, error %v, want no quotation", of, text, err)
		}
	}
}

// A line of 60 characters is quoted whole; a longer line is cut.
func TestPlaceholderCutsAQuotedLineAt60Characters(t *testing.T) {
	for n, cut := range map[int]bool{60: false, 61: true} {
		line := "FAIL " + strings.Repeat("ä", n-5)
		text, err := policy.Forms(nil).Render(policy.Mark{Form: "call@3", Chars: 5, SaysTo: len(line)}, policy.Answered{Tool: "bash", Made: "make test", Result: line})
		if err != nil || strings.Contains(text, line) == cut || strings.Contains(text, "…") != cut {
			t.Errorf("a line of %d characters: %q, error %v; want it whole up to 60 characters, and cut beyond", n, text, err)
		}
	}
}

// A range outside the text is an error in the recipe.
func TestRenderRejectsAQuotationOutsideTheText(t *testing.T) {
	for _, span := range [][2]int{{0, 6}, {-1, 2}, {3, 2}} {
		k := policy.Mark{Form: "call@3", Chars: 5, SaysFrom: span[0], SaysTo: span[1]}
		if text, err := policy.Forms(nil).Render(k, policy.Answered{Tool: "bash", Made: "x", Result: "short"}); !errors.Is(err, policy.ErrEdit) {
			t.Errorf("range %v: %q, error %v, want an error", span, text, err)
		}
	}
}

// If the quotation would cost too much of the required saving, the placeholder omits only
// the quotation.
func TestMaskOmitsAQuotationThatCostsTheSaving(t *testing.T) {
	msgs := ran(`{"command":"pytest -q"}`, "")
	msgs[2] = message.ToolResult("1", "12 passed in 0.3s"+strings.Repeat("\n", 120))
	for least, want := range map[int]string{50: `[observation masked — 137 chars · bash "pytest -q" · says "12 passed in 0.3s"]`, 70: `[observation masked — 137 chars · bash "pytest -q"]`, 95: "[observation masked — 137 chars]"} {
		out, _ := maskAll(t, policy.Mask{Form: policy.FormCall, MinTokens: least}, false, msgs...)
		if text := out.Messages()[2].ResultText(); text != want {
			t.Errorf("MinTokens %d: %q, want %q", least, text, want)
		}
	}
}

// If no argument has a common name, the placeholder lists all arguments in the order of
// the call, the long ones last.
func TestPlaceholderNamesAllArgumentsOfAnUnknownTool(t *testing.T) {
	long := strings.Repeat("look for it ", 20)
	for args, want := range map[string]string{
		`{"origin":"JFK","to":"SEA","date":"2024-05-26","seats":2}`:                          `bash "JFK, SEA, 2024-05-26"`,
		`{"prompt":"` + long + `","description":"Find","kind":"explorer"}`:                   `bash "explorer, look for it look`,
		`{"patch":"*** Begin Patch\n*** Update File: a.go\n@@\n-b\n*** Add File: c.go\n+d"}`: `bash "*** Update File: a.go ⏎ *** Add File: c.go"`,
		`{"origin":`: "bash]",
		`[1]`:        "bash]",
	} {
		out, _ := maskAll(t, policy.Mask{Form: policy.FormCall}, false, ran(args, "1")...)
		if _, after, _ := strings.Cut(out.Messages()[2].ResultText(), " chars · "); !strings.HasPrefix(after, want) {
			t.Errorf("%s: %q, want %q", args, after, want)
		}
	}
}
