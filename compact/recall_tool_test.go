package compact_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"github.com/agentcompact/compact/internal/testkey"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/memory"
)

// numbers returns a text of n lines.
func numbers(n int) string {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf("line %d", i+1)
		if i%100 == 49 {
			lines[i] += " ERROR"
		}
	}
	return strings.Join(lines, "\n")
}

// recallRig returns a session with a removed long result, and the tool.
func recallRig(t *testing.T, text string, opts ...compact.ToolOption) (call func(arguments string) string, ref string, r *rig) {
	t.Helper()
	r = newRig(t, compact.Config{MaxContextTokens: 8_000})
	history := loop(100, 200)
	history[3] = message.ToolResult("call_0", text)
	r.preflight(history)
	tool := compact.RecallTool(r.CompactManager, opts...)
	return func(arguments string) string {
		t.Helper()
		got, err := tool.Call(t.Context(), "s", json.RawMessage(arguments))
		if err != nil {
			t.Fatalf("%s: %v", arguments, err)
		}
		return got
	}, testkey.Ref(history[3].Parts[0]), r
}

func TestRecallToolReturnsTheRequestedText(t *testing.T) {
	call, ref, _ := recallRig(t, numbers(1000))
	for arguments, want := range map[string]string{
		`{"ref":"REF","head":2}`:                               "line 1\nline 2",
		`{"ref":"REF","tail":1}`:                               "line 1000",
		`{"ref":"REF","lines":"49-51"}`:                        "line 49\nline 50 ERROR\nline 51",
		`{"ref":"REF","lines":"7"}`:                            "line 7",
		`{"ref":"REF","lines":"999-2000"}`:                     "line 999\nline 1000",
		`{"ref":"REF","lines":"2000-3000"}`:                    "[the text has 1000 lines]",
		`{"ref":"REF","pattern":"^line (49|51)$"}`:             "49:line 49\n51:line 51",
		`{"ref":"REF","pattern":"^line (3|900)$","context":1}`: "2-line 2\n3:line 3\n4-line 4\n--\n899-line 899\n900:line 900\n901-line 901",
		`{"ref":" REF ","pattern":"warning"}`:                  "[no line of 1000 matches]",
		`{"ref":"REF"}`:                                        numbers(1000),
		`{"ref":"turn:1:action"}`:                              `read_file {"path":"pkg/file_0.go"}`,
		`{"ref":"REF"}{}`:                                      "recall: the arguments are more than one JSON object",
		`{}`:                                                   "recall: ref is missing: use the reference in a placeholder, or give only a pattern to search everything that was removed",
		`null`:                                                 "recall: ref is missing: use the reference in a placeholder, or give only a pattern to search everything that was removed",
		`{"ref":"REF","head":1,"tail":1}`:                      "recall: give at most one of head, tail, lines and pattern",
		`{"ref":"REF","head":-1}`:                              "recall: head and tail are at least 1, context is 0 to 50",
		`{"ref":"REF","context":51,"pattern":"x"}`:             "recall: head and tail are at least 1, context is 0 to 50",
		`{"ref":"REF","lines":"5-3"}`:                          `recall: lines "5-3" is not FROM-TO, counted from 1`,
		`{"ref":"ffffffffffff"}`:                               `recall: this conversation has no text with the reference "ffffffffffff"; copy the reference exactly from a placeholder`,
		`{"ref":"turn:900"}`:                                   `recall: this conversation has no text with the reference "turn:900"; turns 1 to 90 were removed`,
		`{"ref":"s900"}`:                                       `recall: this conversation has no text with the reference "s900"; s1 to s142 were removed`,
		`{"ref":"../../etc/passwd"}`:                           `recall: this conversation has no text with the reference "../../etc/passwd"; copy the reference exactly from a placeholder`,
		`{"ref":"REF","pattern":"` + strings.Repeat("a", 1001) + `"}`: "recall: the pattern is longer than 1000 bytes",
	} {
		arguments = strings.ReplaceAll(arguments, "REF", ref)
		if got := call(arguments); got != want {
			t.Errorf("%s: got %.200q, want %.200q", arguments, got, want)
		}
	}
	for arguments, want := range map[string]string{
		``:                                "recall: the arguments can't be read: ",
		`{"ref":"REF","head":"two"}`:      "recall: the arguments can't be read: ",
		`{"ref":"REF","session":"x"}`:     `recall: the arguments can't be read: unknown field "session"`,
		`{"ref":"REF","pattern":"(a"}`:    "recall: the pattern is not a regular expression: ",
		`{"ref":"REF","pattern":"a{2,1"}`: "[no line of",
	} {
		arguments = strings.ReplaceAll(arguments, "REF", ref)
		if got := call(arguments); !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %.200q, want %q", arguments, got, want)
		}
	}
}

func TestRecallToolBoundsItsAnswerAndExplainsHowToContinue(t *testing.T) {
	const bytes = 600
	call, ref, _ := recallRig(t, numbers(1000), compact.ToolBytes(bytes), compact.ToolName("look_up"))
	for _, c := range []struct{ arguments, first, last string }{
		{`{"ref":"REF"}`, "line 1", "[lines 1-55 of 1000; 8515 bytes are left out; ask for lines 56-1000, or for a pattern]"},
		{`{"ref":"REF","lines":"500-900"}`, "line 500", "[lines 500-547 of 1000; 3200 bytes are left out; ask for lines 548-900, or for a pattern]"},
		{`{"ref":"REF","tail":300}`, "[lines 953-1000 of 1000; those before are left out]", "line 1000"},
		{`{"ref":"REF","pattern":"line"}`, "1:line 1", "[41 of 1000 lines with matches; 12412 bytes are left out; ask with a narrower pattern, or for lines]"},
	} {
		got := call(strings.ReplaceAll(c.arguments, "REF", ref))
		lines := strings.Split(got, "\n")
		if len(got) > bytes || lines[0] != c.first || lines[len(lines)-1] != c.last {
			t.Errorf("%s: %d bytes, from %q to %q; want %q to %q", c.arguments, len(got), lines[0], lines[len(lines)-1], c.first, c.last)
		}
	}
	// The arguments in the note continue exactly where the answer ended.
	var whole []string
	for next := 1; next <= 1000; {
		got := call(strings.ReplaceAll(fmt.Sprintf(`{"ref":"REF","lines":"%d-1000"}`, next), "REF", ref))
		for _, l := range strings.Split(got, "\n") {
			if !strings.HasPrefix(l, "[") {
				whole = append(whole, l)
				next++
			}
		}
	}
	if strings.Join(whole, "\n") != numbers(1000) {
		t.Error("the pages, joined, differ from the text")
	}
	if got := call(`{"ref":""}`); !strings.HasPrefix(got, "look_up: ") {
		t.Errorf("the tool calls itself %q, want text that begins with %q", got, "look_up: ")
	}
}

func TestRecallToolCutsOneLongLine(t *testing.T) {
	call, ref, _ := recallRig(t, strings.Repeat("ä", 20_000), compact.ToolBytes(1000))
	for _, more := range []string{"", `,"tail":5`, `,"pattern":"ä"`} {
		got := call(`{"ref":"` + ref + `"` + more + `}`)
		if len(got) > 1000 || !strings.Contains(got, "left out") || strings.ContainsRune(got, '�') || strings.Count(got, "ä") < 300 {
			t.Errorf("%s: %d bytes: %.60q … %q, want at most 1000 and text with %q", more, len(got), got, got[max(0, len(got)-150):], "left out")
		}
	}
}

func TestRecallToolReadsTheCallersSessionOnly(t *testing.T) {
	_, ref, r := recallRig(t, numbers(100))
	tool := compact.RecallTool(r.CompactManager)
	got, err := tool.Call(t.Context(), "somebody else's", json.RawMessage(`{"ref":"`+ref+`"}`))
	if err != nil || !strings.Contains(got, "has no text with the reference") {
		t.Errorf("%q, %v; want text with %q and no error", got, err, "has no text with the reference")
	}
	if _, err := tool.Call(t.Context(), "", json.RawMessage(`{"ref":"`+ref+`"}`)); !errors.Is(err, compact.ErrSession) {
		t.Errorf("without session: %v, want ErrSession", err)
	}
}

func TestRecallToolReportsAFailingArchive(t *testing.T) {
	_, ref, r := recallRig(t, numbers(100))
	tool := compact.RecallTool(r.CompactManager)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	got, err := tool.Call(ctx, "s", json.RawMessage(`{"ref":"`+ref+`"}`))
	if !errors.Is(err, compact.ErrArchiveFailed) || !errors.Is(err, context.Canceled) || got != "recall: the archive can't be read now" {
		t.Errorf("%q, %v; want %q, ErrArchiveFailed and Canceled", got, err, "recall: the archive can't be read now")
	}
}

func TestRecallToolReturnsNoSecrets(t *testing.T) {
	secret := "ghp_" + strings.Repeat("a1B2", 9)
	call, ref, _ := recallRig(t, "token: "+secret+"\n"+text(300))
	if got := call(`{"ref":"` + ref + `"}`); strings.Contains(got, secret) || !strings.Contains(got, "REDACTED") {
		t.Errorf("%.100q, want text without %q and text with %q", got, secret, "REDACTED")
	}
}

func TestRecallToolIsDefinedForEveryWireAndCounted(t *testing.T) {
	r := newRig(t, compact.Config{Archive: memory.New()})
	tool := compact.RecallTool(r.CompactManager)
	var schema struct {
		Properties map[string]struct{ Type, Description string }
		Required   []string
	}
	if err := json.Unmarshal(tool.Parameters, &schema); err != nil || len(schema.Properties) != 6 || len(schema.Required) != 0 {
		t.Fatalf("%+v, %v, want 6 properties, none of them required", schema, err)
	}
	for wire, at := range map[string][2]string{
		"openai": {"function.name", "function.parameters"}, "responses": {"name", "parameters"}, "anthropic": {"name", "input_schema"},
		"gemini": {"functionDeclarations.0.name", "functionDeclarations.0.parametersJsonSchema"},
	} {
		def, err := tool.For(wire)
		if err != nil {
			t.Fatal(err)
		}
		if name, kind := field(t, def, at[0]), field(t, def, at[1]+".properties.ref.type"); name != "recall" || kind != "string" {
			t.Errorf("%s: its name is %v, ref is of type %v in %s; want %v and %v", wire, name, kind, def, "recall", "string")
		}
		res := r.preflight(turns(1, 10), compact.WithTools(json.RawMessage("["+string(def)+"]")))
		if n := res.After.ToolsSchema; n < 100 || n > 400 {
			t.Errorf("%s: the recall tool costs %d tokens, want at least 100 and at most 400", wire, n)
		}
	}
	if _, err := tool.For("telegraph"); err == nil {
		t.Error("an unknown wire causes no error")
	}
}

func field(t *testing.T, data json.RawMessage, path string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		t.Fatal(err)
	}
	for key := range strings.SplitSeq(path, ".") {
		switch at := v.(type) {
		case map[string]any:
			v = at[key]
		case []any:
			v = at[0]
		default:
			return nil
		}
	}
	return v
}
