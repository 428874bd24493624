package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
)

func TestRenameIsOneOperation(t *testing.T) {
	for name, args := range map[string][2]string{
		"mv":         {"bash", `{"command":"mv store/old.go store/new.go"}`},
		"git mv":     {"bash", `{"command":"cd $SRC && git mv store/old.go store/new.go"}`},
		"to folder":  {"bash", `{"command":"mv old/new.go store/"}`},
		"patch":      {"apply_patch", `{"input":"*** Begin Patch\n*** Update File: store/old.go\n*** Move to: store/new.go\n@@\n-a\n+b\n*** End Patch"}`},
		"git diff":   {"apply_patch", `{"patch":"diff --git a/store/old.go b/store/new.go\nrename from store/old.go\nrename to store/new.go\n--- a/store/old.go\n+++ b/store/new.go\n@@ -1 +1 @@\n-a\n+b"}`},
		"move_file":  {"move_file", `{"source":"store/old.go","destination":"store/new.go"}`},
		"renameFile": {"rename", `{"old_path":"store/old.go","new_path":"store/new.go"}`},
	} {
		c := callOf(args[0], args[1])
		if len(c.files) != 1 || c.files[0].Op != fileops.Renamed || c.files[0].Path != "store/new.go" || !strings.HasSuffix(c.files[0].From, ".go") {
			t.Errorf("%s: files %+v, want one rename with both names", name, c.files)
		}
	}
}

func callOf(tool, args string) Call {
	p := message.Call("1", tool, args)
	c := readCall(&p)
	c.Answered, c.Result = true, "done"
	c.finish()
	return c
}

func renameSession() []message.Message {
	return []message.Message{
		message.User("Rename the store."),
		message.Assistant("", message.Call("1", "edit", `{"path":"store/old.go","old_string":"a","new_string":"func Open() {}"}`)),
		message.ToolResult("1", "The file store/old.go has been updated."),
		message.Assistant("", message.Call("2", "bash", `{"command":"git mv store/old.go store/new.go"}`)),
		message.ToolResult("2", "Exit code: 0"),
		message.Assistant("", message.Call("3", "edit", `{"path":"store/new.go","old_string":"a","new_string":"func Shut() {}"}`)),
		message.ToolResult("3", "The file store/new.go has been updated."),
		message.Assistant("That is all of it."),
	}
}

func TestRenamedFileKeepsItsChanges(t *testing.T) {
	text := write4(t, Input{Messages: renameSession()})
	for _, want := range []string{"`store/new.go`: renamed from `store/old.go`, edited twice (in Open and Shut)", "renamed `store/old.go` to `store/new.go`"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if strings.Contains(text, "deleted") || strings.Contains(text, "created") {
		t.Errorf("a rename appears as two changes:\n%s", text)
	}
	next := write4(t, Input{Previous: text, Messages: []message.Message{message.User("Go on."), message.Assistant("The store is next.", message.Call("1", "bash", `{"command":"make lint all"}`)), message.ToolResult("1", "Exit code: 0\n0 issues."), message.Assistant(strings.Repeat("The store goes on as planned. ", 30))}})
	if !strings.Contains(next, "renamed from `store/old.go`") {
		t.Errorf("the next summary has lost the rename:\n%s", next)
	}
}

// TestRenamedNewFileIsNotACopy checks that a new file with a later rename is neither a copy
// nor edited.
func TestRenamedNewFileIsNotACopy(t *testing.T) {
	said := strings.Repeat("The store goes on as planned. ", 30)
	session := []message.Message{
		message.User("Add a test of the store."),
		message.Assistant("", message.Call("1", "write", `{"path":"store/store.test.ts","content":"test()"}`)),
		message.ToolResult("1", "Wrote file successfully."),
		message.Assistant("", message.Call("2", "bash", `{"command":"mv store/store.test.ts store/store.spec.ts"}`)),
		message.ToolResult("2", "Exit code: 0"),
		message.Assistant(said),
	}
	want := "`store/store.spec.ts`: created, renamed from `store/store.test.ts` [s4]"
	text := write4(t, Input{Messages: session})
	if !strings.Contains(text, want) || strings.Contains(text, "edited") {
		t.Errorf("%q is not in:\n%s", want, text)
	}
	session = append(session[:5:5],
		message.Assistant("", message.Call("3", "edit", `{"path":"store/store.spec.ts","old_string":"a","new_string":"b"}`)),
		message.ToolResult("3", "The file store/store.spec.ts has been updated."),
		message.Assistant(said))
	text = write4(t, Input{Messages: session})
	if want = "created, renamed from `store/store.test.ts`, edited once"; !strings.Contains(text, want) {
		t.Errorf("%q is not in:\n%s", want, text)
	}
	next := write4(t, Input{Previous: text, Messages: []message.Message{message.User("Go on."), message.Assistant(said)}})
	if !strings.Contains(next, want) {
		t.Errorf("the next summary has lost it:\n%s", next)
	}
}

func TestRefusedEditNamesItsFile(t *testing.T) {
	text := write4(t, Input{Messages: []message.Message{
		message.User("Fix the store."),
		message.Assistant("", message.Call("1", "str_replace_editor", `{"command":"str_replace","path":"store/open.go","old_str":"a","new_str":"b"}`)),
		message.ToolResult("1", "No replacement was performed, old_str did not appear verbatim in store/open.go."),
		message.Assistant(strings.Repeat("The store goes on as planned. ", 30)),
	}})
	if !strings.Contains(text, "the edit of `store/open.go` was refused: No replacement was performed") || strings.Contains(text, "edited") {
		t.Errorf("the refused edit does not name its file once:\n%s", text)
	}
}

func TestSummaryNamesSpeakingAgent(t *testing.T) {
	said := message.User("The page lists four offices, two of them in Oslo.")
	said.Name = "WebSurfer"
	text := write4(t, Input{Messages: []message.Message{message.User("Where are the offices?"), said, message.Assistant(strings.Repeat("The search goes on as planned. ", 30))}})
	if !strings.Contains(text, "WebSurfer said: The page lists four offices") {
		t.Errorf("the summary does not name the speaking agent:\n%s", text)
	}
}

func TestSummaryStatesEmptySearch(t *testing.T) {
	for _, result := range []string{"No matches found", "[]", `{"results": []}`, "Found 0 files"} {
		c := Call{Tool: "Grep", Args: []Arg{{"pattern", "legacyId"}}, Result: result, Answered: true}
		if got := c.looks().tell(newIndex()); got != "found nothing for `legacyId`" {
			t.Errorf("%q: %s, want %s", result, got, "found nothing for `legacyId`")
		}
	}
}

// A script can print its failures and still end with the status zero.
func TestSummaryQuotesFailureBehindZeroStatus(t *testing.T) {
	c := Call{Tool: "bash", Args: []Arg{{"command", "python3 check_all.py"}}, Result: "Exit code: 0\nFAIL: the field is an enum\nPASS: the other one is a string", Answered: true}
	c.finish()
	if got := c.tell(); got != "ran `python3 check_all.py` (exit 0), which printed: FAIL: the field is an enum" {
		t.Errorf("the failure behind the status 0 is not quoted: %s", got)
	}
}

func TestHTTPStatusIsAnOutcome(t *testing.T) {
	for line, want := range map[string]bool{"http 404: no such page": true, "status code: 503": true, "error 403: forbidden": true, "error 500": true, "error 4031 in line 2": false, "error 12: no tty": false, "404 not found": true, "http 200 ok": false, "the 404 not found page was seen": false} {
		if got := httpError(line); got != want {
			t.Errorf("%q: httpError returns %v, want the opposite", line, got)
		}
	}
}

// Failed commands without a later successful run come first.
func TestSummaryKeepsFailingCommand(t *testing.T) {
	msgs := []message.Message{message.User("Make the script run.")}
	for i := range 60 {
		id := itoa(i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "bash", `{"command":"python3 step`+id+`.py --with some --more words"}`)),
			message.ToolResult(id, "Exit code: 0\nall rows of part "+id+" were read"))
		if i == 3 {
			msgs = append(msgs, message.Assistant("", message.Call("x", "bash", `{"command":"python3 broken.py --all"}`)), message.ToolResult("x", "Exit code: 3\nValueError: no rows"))
		}
	}
	if text := write4(t, Input{Messages: append(msgs, message.Assistant("On with it.")), MaxTokens: 500}); !strings.Contains(text, "`python3 broken.py --all` failed (exit 3): ValueError: no rows") {
		t.Errorf("the failing command is not in:\n%s", text)
	}
}

// A failed look precedes other lines as long as the same look fails. After a success, it does
// not.
func TestFailingCommandPrecedesOthers(t *testing.T) {
	look := func(id, result string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "bash", `{"command":"cat store/index.go"}`)), message.ToolResult(id, result)}
	}
	const missing = "Exit code: 1\ncat: store/index.go: No such file or directory"
	first := append([]message.Message{message.User("Fix the store.")}, look("1", missing)...)
	for name, c := range map[string]struct {
		msgs []message.Message
		open bool
	}{
		"once":                     {first, true},
		"the same look twice":      {append(first[:len(first):len(first)], look("2", missing)...), true},
		"found at the second look": {append(first[:len(first):len(first)], look("2", "Exit code: 0\npackage store")...), false},
		"found by another command": {append(first[:len(first):len(first)], message.Assistant("", message.Call("2", "bash", `{"command":"cat store/store.go"}`)), message.ToolResult("2", "Exit code: 0\npackage store")), true},
	} {
		h, open, told := NewHistory(Request{Messages: c.msgs, Count: func(s string) int { return len(s) }}), false, false
		for _, l := range h.logLines(0) {
			if strings.Contains(l.Text, "store/index.go") {
				told, open = true, open || l.Value >= failedValue
			}
		}
		if !told || open != c.open {
			t.Errorf("%s: stated %v, before other lines %v, want %v: %+v", name, told, open, c.open, h.logLines(0))
		}
	}
}

// An entry about looks names the objects that were looked at, even if they are not known files.
func TestAnEntryNamesWhatWasLookedAt(t *testing.T) {
	pages := &looks{}
	for i := range 5 {
		pages.add(calledTool("web_fetch", "A page.", "url", "https://example.org/"+itoa(i)).looks())
	}
	for want, l := range map[string]*looks{
		"read `https://example.org/0`, then `https://example.org/1` and `https://example.org/2` and 2 more": pages,
		"looked with `list_tables public`": calledTool("list_tables", "orders", "schema", "public").looks(),
		"searched for `Retry`":             calledTool("search", "a.go:1: Retry()", "query", "Retry").looks(),
		"found nothing for `Retry`":        calledTool("search", "No matches found", "query", "Retry").looks(),
	} {
		if got := l.tell(newIndex()); !strings.HasPrefix(got, want) {
			t.Errorf("%q, want %q", got, want)
		}
	}
}
