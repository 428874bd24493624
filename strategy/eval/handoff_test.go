package eval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
)

// build returns a session with a fact of each kind.
func build() []message.Message {
	var msgs []message.Message
	call := func(text, tool, args, result string) {
		id := tool + string(rune('a'+len(msgs)))
		msgs = append(msgs, message.Assistant(text, message.Call(id, tool, args)), message.ToolResult(id, result))
	}
	msgs = append(msgs, message.User("Make the importer faster. Never touch db/schema.sql."))
	call("", "TodoWrite", `{"todos":[{"content":"Batch the inserts","status":"completed"},{"content":"Measure again","status":"pending"}]}`, "ok")
	call("", "bash", `{"command":"go test ./importer/..."}`, "Exit code 1\n--- FAIL: TestRows")
	call("", "bash", `{"command":"make lint all"}`, "Exit code: 0\n0 issues.")
	call("", "Edit", `{"file_path":"/src/importer/store.go","old_string":"a","new_string":"b"}`, "The file has been updated.")
	call("", "Edit", `{"file_path":"/src/importer/gone.go","old_string":"a","new_string":"b"}`, "Error: no such file")
	msgs = append(msgs, message.User("<system-reminder>be brief</system-reminder>"), message.User("<returncode>1</returncode>\n<output>x</output>"))
	return append(msgs, message.Assistant("That did it. Let me measure the importer again."))
}

func TestFactsAreReadFromTheSession(t *testing.T) {
	f := FactsOf(build())
	if d := cmp.Diff([]string{"Make the importer faster.", "Never touch db/schema.sql."}, f.User); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"go test ./importer/..."}, f.Failing()); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]string{"/src/importer/store.go"}, f.Changed); d != "" {
		t.Error(d)
	}
	if d := cmp.Diff([]Item{{"Batch the inserts", true}, {"Measure again", false}}, f.Plan); d != "" {
		t.Error(d)
	}
	if f.Next != "Let me measure the importer again." {
		t.Errorf("next %q, want the announced measurement", f.Next)
	}
}

func TestJudgeCountsStatedFacts(t *testing.T) {
	f := FactsOf(build())
	good := `## What the user said
[s1] Make the importer faster. Never touch db/schema.sql.

## Where things stand
- [done] Batch the inserts was the first step
- [open] Measure again when that is in
- the command go test ./importer/... failed with exit code 1: TestRows
- the command make lint all passed with 0 issues.
- the file importer/store.go was edited
- announced: Let me measure the importer again.`
	want := Handoff{User: 2, UserOf: 2, Failed: 1, FailedOf: 1, Stated: 2, Changed: 1, ChangedOf: 1, UnmadeOf: 1, Plan: 2, PlanOf: 2, Next: 1, NextOf: 1}
	if d := cmp.Diff(want, f.judge(good)); d != "" {
		t.Error(d)
	}
	if m := f.Misses(good); len(m) > 0 {
		t.Errorf("misses %q, want nothing", m)
	}
}

func TestListOfNamesStatesNoFacts(t *testing.T) {
	f := FactsOf(build())
	list := "importer/store.go db/schema.sql TestRows make_lint go_test edited_files failed_1 store.go importer/... batch_inserts measure_again"
	h := f.judge(list)
	if h.User+h.Failed+h.Changed+h.Plan+h.Next != 0 || bag(list) != len(list) {
		t.Errorf("got %+v, want no facts and a list as long as the text", h)
	}
	if n := len(f.Misses(list)); n < 4 {
		t.Errorf("%d misses, want at least 4", n)
	}
}

func TestFalseOutcomeIsCounted(t *testing.T) {
	f := FactsOf(build())
	for text, wrong := range map[string]int{
		"the command go test ./importer/... passed in the end": 1,
		"the command make lint all failed with an error":       1,
		"the command go test ./importer/... failed at first":   0,
		"nothing is said of any command here, it passed":       0,
	} {
		if h := f.judge(text); h.False != wrong {
			t.Errorf("%q: %d false, want %d", text, h.False, wrong)
		}
	}
}

func TestListsAreDistinguishedFromSentences(t *testing.T) {
	for text, list := range map[string]bool{
		"- Files: a.go b.go c/d.go e_f.go":                                               true,
		"- edited a.go because it was slow":                                              false,
		"- read a.go and b.go and c.go before the change":                                false,
		"- in the folder c/d/ the files a.go, b.go, e.go, f.go":                          true,
		"- `a_test.go` names USE_TZ and ModuleType, settings.configured and sys.modules": true,
		"- `a_test.go` names USE_TZ, which nobody sets":                                  false,
		"- edited a.go, b.go and c.go so that d_e is closed before f_g is opened":        false,
	} {
		if got := bag(text) > 0; got != list {
			t.Errorf("%q: counts as a list: %v, want the opposite", text, got)
		}
	}
}

func TestRunningCommandIsOneRun(t *testing.T) {
	f := FactsOf([]message.Message{
		message.Assistant("", message.Call("1", "exec_command", `{"cmd":"go test ./slow"}`)),
		message.ToolResult("1", "Process running with session ID 7\n"),
		message.Assistant("", message.Call("2", "write_stdin", `{"session_id":7}`)),
		message.ToolResult("2", "Process exited with code 1\nOutput:\nFAIL"),
	})
	if d := cmp.Diff([]string{"go test ./slow"}, f.Failing()); d != "" {
		t.Error(d)
	}
}

func TestReportIsATableOrCommaSeparated(t *testing.T) {
	r := Report{Rows: []Row{{Setting: Settings()[0], Name: "mine", Source: "x", Sessions: 2, Handoff: Handoff{User: 3, UserOf: 4}, Needed: 8, Found: 2}}}
	var table, csv strings.Builder
	if err := r.Write(&table); err != nil {
		t.Fatal(err)
	}
	if err := r.WriteCSV(&csv); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(table.String(), "75.0") || !strings.Contains(table.String(), "25.0") {
		t.Errorf("got %s, want the shares 75.0 and 25.0", table.String())
	}
	lines := strings.Split(strings.TrimSpace(csv.String()), "\n")
	if len(lines) != 2 || strings.Count(lines[0], ",") != strings.Count(lines[1], ",") || !strings.HasPrefix(lines[1], "8000,1500,mine,x,2,3,4,") {
		t.Errorf("%q, want a heading and a row of the same number of fields", lines)
	}
}

// An announced step is not the next step any more after a later message of the assistant or of
// the user.
func TestFactsOmitNextStepThatAnotherStepFollowed(t *testing.T) {
	read := []message.Message{message.Assistant("Let me read the importer first of all.", message.Call("1", "read", `{"path":"a.go"}`)), message.ToolResult("1", "package a")}
	for name, c := range map[string]struct {
		more []message.Message
		next bool
	}{
		"nothing":       {nil, true},
		"a call":        {[]message.Message{message.Assistant("", message.Call("2", "read", `{"path":"b.go"}`)), message.ToolResult("2", "package b")}, false},
		"an answer":     {[]message.Message{message.Assistant("It reads each row twice.")}, false},
		"the user":      {[]message.Message{message.User("Stop, what about the exporter?")}, false},
		"the next step": {[]message.Message{message.Assistant("Now let me measure how long it takes.")}, false},
	} {
		f := FactsOf(append(read[:len(read):len(read)], c.more...))
		told := f.judge("## What is next\n- announced last: Let me read the importer first of all. [s1]")
		if told.Next != count(c.next) || told.Stale != count(!c.next) {
			t.Errorf("%s: %+v, facts %+v", name, told, f)
		}
	}
}
