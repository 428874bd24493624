package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func write4(t *testing.T, in Input) string {
	t.Helper()
	in.Count = func(s string) int { return (len(s) + 3) / 4 }
	return written(t, taskState, 1500, in)
}

// An excerpt quotes what a text says about the task. Lines of code, hits of a search and the note
// of a harness are not quoted, because the successor reads the file again.
func TestExcerptsAreOfTextsNotOfCode(t *testing.T) {
	msgs := []message.Message{
		message.User("Find out what flushes pending segments."),
		message.Assistant("", message.Call("1", "read", `{"path":"docs/store.md"}`)),
		message.ToolResult("1", "Pending segments are flushed by the merger of the store.\nAn error in `mergeOnce` stops it until the next start.\n"),
		message.Assistant("", message.Call("2", "read", `{"path":"store/index.go"}`)),
		message.ToolResult("2", "\tx := openSegment(rowCount)\n\tx.flushPending()\n\targs: { pending?: Segments } }\n"+strings.Repeat("\t// a long comment that says little about it\n", 80)),
		message.Assistant("", message.Call("3", "bash", `{"command":"grep -rn flushPending ."}`)),
		message.ToolResult("3", "store/batch.go:12: flushPending()\nstore/merge.go:9: // mergeSegments flushes the pending segments of each index\nstore/merge.go-10- // and it writes the pending segments of oldSegments\n"),
		message.Assistant("", message.Call("4", "read", `{"path":"docs/long.md"}`)),
		message.ToolResult("4", "The output was truncated, the pending segments are not shown.\nFull output saved to: /tmp/out/segmentsPending.txt, read the pending part of it\n"),
		message.Assistant("It is the store."),
	}
	text := write4(t, Input{Messages: msgs})
	if want := "`docs/store.md` reads “Pending segments are flushed by the merger of the store. ⏎ An error in 'mergeOnce' stops it until the next start.” [s2]"; !strings.Contains(text, want) {
		t.Errorf("%q is not in:\n%s", want, text)
	}
	for _, code := range []string{"openSegment", "pending?:", "mergeSegments", "oldSegments", "segmentsPending", "long comment"} {
		if strings.Contains(text, code) {
			t.Errorf("%q is quoted in:\n%s", code, text)
		}
	}
	if strings.Contains(text, "## "+headingReferences) || strings.Contains(text, seenVerb) {
		t.Errorf("names appear in a list:\n%s", text)
	}
}

func TestSearchHitIsRecognizedByItsPlace(t *testing.T) {
	for _, l := range []string{"store/merge.go:9: // it flushes", "store/merge.go-10- text around the hit", `src\store\rows.go:817:// it flushes`, `C:\shop\rows.go:8:text`, "./a_b.test.ts:1:x"} {
		if !searchHit(l) {
			t.Errorf("%q does not count as a hit", l)
		}
	}
	for _, l := range []string{"The file store/merge.go:9 flushes the rows.", "12:30 the export ran", "- rows.md: the rows of 2026", "v1.2 is out: 3 fixes"} {
		if searchHit(l) {
			t.Errorf("%q counts as a hit", l)
		}
	}
}

// The help of a program says nothing about the work.
func TestHelpIsNotQuoted(t *testing.T) {
	tells(t, long("Queue the rows.", append(command("1", "", "rowq configure --help 2>&1", "Usage:\n  --queue-mode string Mode of the row queue in the long form of it\n  --rowLimit int Rows of one batch in the queue of the rows\n"), message.Assistant("Seen."))...),
		[]string{"looked with `rowq configure --help"}, []string{"queue-mode", "rowLimit"})
}

// The counts of a harness at the end of a report are left out.
func TestReportIsQuotedWithoutUsage(t *testing.T) {
	for report, want := range map[string]string{
		"The cache is small.\nagentId: a1b2 (for resuming)\n<usage>total_tokens: 9\ntool_uses: 2</usage>": "The cache is small.",
		"The tag <usage> is not closed.": "The tag <usage> is not closed.",
		"agentId: a1b2":                  "agentId: a1b2",
	} {
		if got := withoutUsage(report); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

func TestNarratesRecognizesNarration(t *testing.T) {
	for _, s := range []string{"Let me search the whole code for where these are used.", "I need to read more of the store first.", "It seems that the search found nothing.", "让我先查看工作目录，然后创建一个待办事项列表。"} {
		if !narrates(s) {
			t.Errorf("%q counts as a finding", s)
		}
	}
	for _, s := range []string{"The importer still reads the column.", "`flushPending` writes the index.", "Letters are counted twice."} {
		if narrates(s) {
			t.Errorf("%q counts as narration", s)
		}
	}
	if got := plainly("Now let me create a test with a foreign key"); got != "create a test with a foreign key" {
		t.Errorf("the purpose is %q, want %q", got, "create a test with a foreign key")
	}
}

func TestDebrisIsNotASentence(t *testing.T) {
	for _, s := range []string{`"{\"@context\":\"http://schema.org\"}" is what the page says`, `No new page was opened in the last three turns.",`, `"reason": "The request is not fully satisfied because it is early.",`, "result = await self.client.create(", "example.com › best › software", "/usr/lib/x/agents/orchestrator.py:196: UserWarning: Resolved model mismatch"} {
		if quality(s) > 0.2 {
			t.Errorf("%q counts as a sentence", s)
		}
	}
}

func TestPastedTextIsFolded(t *testing.T) {
	var b strings.Builder
	b.WriteString("# AGENTS.md instructions\n")
	for range 12 {
		b.WriteString("- Every change of the wire format wants a note in the log of changes.\n- Tests stand beside the code that they are about, in the same folder.\n")
	}
	s := Step{ID: 1, Given: "x", Shown: b.String()}
	lines := s.shownLines(0)
	if len(lines) == 0 || len(lines) > 9 {
		t.Errorf("%d lines, want at most 9", len(lines))
	}
}

func TestListingCommandHasNoEffect(t *testing.T) {
	for cmd, want := range map[string]bool{
		"git tag --points-at HEAD": false, "git tag | head -3": false, "git fetch -q; git tag --sort=-v:refname": false, "git tag --merged main": false, "git tag -d v1": true, "git tag v1": true, "mkdir -p /tmp/x": false, "git commit -m x": true,
		"git merge-base HEAD main": false, "git merge main": true, "gh api repos/shop/cli/pulls/3/comments": false, "gh api -X GET search/issues -f q=repo:shop/cli": false,
		"gh api repos/shop/cli/pulls/3/comments/7/replies -f body=\"Fixed; see the test\"": true, "gh api --method PATCH repos/shop/cli/issues/3 -F state=closed": true,
		"gh api -X DELETE repos/shop/cli/git/refs/heads/old": true, "gh api graphql -f query='query { viewer { login } }'": false,
		"gh api graphql -f query='mutation { closeIssue(input: {}) { id } }'": true,
		"curl -s https://shop.test/orders":                                    false, "curl -X POST https://shop.test/orders": true,
	} {
		c := Call{Tool: "bash", Args: []Arg{{"command", cmd}}, Answered: true, Exit: 0, Outcome: OK}
		if got := c.Effect(); got != want || want && c.deed() == deedLook {
			t.Errorf("%q: %v, %v, want %v", cmd, got, c.deed(), want)
		}
	}
}

// The first line of a result that was reduced on arrival comes from this program, and not
// from the tool.
func TestReducedResultIsQuotedWithoutOurLine(t *testing.T) {
	text := write4(t, long("What is the state of the change?",
		message.Assistant("", message.Call("1", "fetch_change", `{"number":"1361"}`)),
		message.ToolResult("1", "[tidied — shape, ends and outliers of JSON · ~5133 tokens in full: recall c1f3]\n"+`{"url":"https://example.com/changes/1361","number":1361,"state":"closed","title":"Repoint the provider"}`),
	))
	if want := "which returned: url: https://example.com/changes/1361, number: 1361, state: closed, title: Repoint the provider"; !strings.Contains(text, want) || strings.Contains(text, "tidied") {
		t.Errorf("%q is not in, or our own line is:\n%s", want, text)
	}
}

// The line about a long call that created an object quotes the result, even after the next
// compaction.
func TestCreatedObjectSurvivesNextSummary(t *testing.T) {
	const returned = "url: https://example.com/changes/1510, number: 1510"
	first := write4(t, long("Open a change for it.",
		message.Assistant("", message.Call("1", "create_pull_request", `{"repository":"example/service","base":"main","head":"fix/results-sync-merge-signal-of-the-remote","title":"feat(results): signal remote pushes that merged","body_file":"docs/changes/the-signal-of-the-remote-and-what-it-means.md","draft":true,"maintainer_can_modify":true,"reviewers":"somebody, somebody-else, and a third one"}`)),
		message.ToolResult("1", `{"url":"https://example.com/changes/1510","number":1510,"state":"open"}`),
		message.Assistant("It is open."),
	))
	in := long("Go on with the next one.", message.Assistant("I do."))
	in.Previous = first
	const actions = "Outstanding actions and blockers"
	if second := write4(t, in); !strings.Contains(titledPart(first, actions), returned) || !strings.Contains(titledPart(second, actions), returned) || strings.Contains(second, "the summary before names") {
		t.Errorf("%q is not in both:\n%s\n\n%s", returned, first, second)
	}
}

// linesOf returns the texts of lines.
func linesOf(lines []Line) string {
	var out []string
	for _, l := range lines {
		out = append(out, l.Text)
	}
	return strings.Join(out, "\n")
}

// The files that were only read are named by folder, the newest first, and a file that is alone in its folder
// by its path.
func TestReadFilesAreNamedByFolder(t *testing.T) {
	msgs := []message.Message{message.User("Find out what flushes.")}
	for i, file := range []string{"docs/a.md", "store/index.go", "store/merge.go", "main.go", "go.mod"} {
		msgs = append(msgs, message.Assistant("", message.Call(itoa(i), "read", `{"path":"`+file+`"}`)), message.ToolResult(itoa(i), "text"))
	}
	h := NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1})
	if got, want := linesOf(h.readLines(0)), "looked at these in the working folder: go.mod and main.go [s8–s10]\nlooked at these in `store/`: merge.go and index.go [s4–s6]\nlooked at `docs/a.md` [s2]"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}

// A name in the arguments of a call was seen in that call.
func TestANameInArgumentsWasSeenInTheCall(t *testing.T) {
	msgs := []message.Message{message.User("Set the limits."), message.Assistant("", message.Call("1", "set_limit", `{"key":"SHOP_LIMIT_77"}`)), message.ToolResult("1", "ok"),
		message.Assistant("", message.Call("2", "set_color", `{"key":"SHOP_COLOR_78"}`)), message.ToolResult("2", "ok")}
	h := NewHistory(Request{Strategy: TaskState, Messages: msgs, First: 1})
	if got, want := linesOf(h.seenLines(0, 10, func(e *entity) bool { return strings.HasPrefix(e.Text, "SHOP_") })), "`set_color` SHOP_COLOR_78 names SHOP_COLOR_78 [s4]\n`set_limit` SHOP_LIMIT_77 names SHOP_LIMIT_77 [s2]"; got != want {
		t.Errorf("%s\nwant\n%s", got, want)
	}
}
