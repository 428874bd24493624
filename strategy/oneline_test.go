package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/message"
)

// failedCheck returns a session in which a command prepares a check, and the check fails.
func failedCheck(cmd, result string) []message.Message {
	args := strings.NewReplacer("\n", `\n`, `"`, `\"`).Replace(cmd)
	return []message.Message{
		message.User("Rename the test, so that the runner finds it."),
		message.Assistant("", message.Call("1", "bash", `{"command":"`+args+`"}`)),
		message.ToolResult("1", result),
		message.Assistant(strings.Repeat("The store goes on as planned. ", 30)),
	}
}

// TestSummaryStatesPreparationOfFailedCheck checks that only the check counts as failed,
// and that the summary states the new names of the files. Otherwise, a successor would
// look for the old files, or move them again.
func TestSummaryStatesPreparationOfFailedCheck(t *testing.T) {
	for _, cmd := range []string{
		"mv components/board/board.test.tsx components/board/board.spec.tsx\nmv components/board/card.test.tsx components/board/card.spec.tsx\nnpm run test -- components/board/",
		"mv components/board/board.test.tsx components/board/board.spec.tsx && mv components/board/card.test.tsx components/board/card.spec.tsx && npm run test -- components/board/",
	} {
		text := write4(t, Input{Messages: failedCheck(cmd, "\n FAIL  components/board/card.spec.tsx\n\n Test Files  2 failed (2)\n")})
		for _, want := range []string{"npm run test -- components/board/` failed", "renamed from `components/board/board.test.tsx`", "renamed from `components/board/card.test.tsx`"} {
			if !strings.Contains(text, want) {
				t.Errorf("%q is not in:\n%s", want, text)
			}
		}
		if strings.Contains(text, "`mv ") {
			t.Errorf("the outcome is stated with the preparation:\n%s", text)
		}
	}
}

// TestSummaryOmitsFailedPreparation checks that a failed preparation is not stated as done.
func TestSummaryOmitsFailedPreparation(t *testing.T) {
	for cmd, result := range map[string]string{
		"mv components/board.test.tsx components/board.spec.tsx\nnpm test":   "mv: components/board.test.tsx: No such file or directory\n Test Files  1 failed (1)",
		"npm test && mv components/board.test.tsx components/board.spec.tsx": " Test Files  1 failed (1)",
		"mv components/board.test.tsx components/board.spec.tsx && make run": "Exit code: 2\nNo rule to make target 'run'.",
	} {
		if text := write4(t, Input{Messages: failedCheck(cmd, result)}); strings.Contains(text, "renamed") {
			t.Errorf("%q is stated as done:\n%s", cmd, text)
		}
	}
}

// TestRunnerWithoutTestsFails checks that a run without tests is a failure, because nothing
// was checked.
func TestRunnerWithoutTestsFails(t *testing.T) {
	for _, line := range []string{"No test files found, exiting with code 1", "No tests found, exiting with code 1", "error Command failed with exit code 1.", "===== no tests ran in 0.01s ====="} {
		if got, says := testReport("> web test\n\n" + line + "\nexclude:  node_modules/**\n"); got != testrun.Failure || says != line {
			t.Errorf("%q: %v, %q, want %v", line, got, says, testrun.Failure)
		}
	}
	for _, line := range []string{"Done, exiting with code 0", "the server is exiting with code paths"} {
		if got, _ := testReport(line); got == testrun.Failure {
			t.Errorf("%q is a failure", line)
		}
	}
}

// TestReasonIsNotTheStatus checks the reason of a failure: "ended with exit 1: Exit code 1"
// states the status twice, and "FAIL" does not name the failure.
func TestReasonIsNotTheStatus(t *testing.T) {
	c := Call{Tool: "bash", Args: []Arg{{"command", "gh pr diff 343 --name-only 2>/dev/null"}}, Answered: true, Result: "Exit code 1"}
	c.finish()
	if got := c.tell(); strings.Count(got, "1") > 1 {
		t.Errorf("got %q, want the status once", got)
	}
	if _, says := testReport("[lint:go] 0 issues.\nFAIL\nFAIL\tstore/cli\t13.590s\nok  \tstore/redact\t(cached)\n"); says != "FAIL store/cli 13.590s" {
		t.Errorf("the reason is %q, want the failed package", says)
	}
}

// TestCreatedObjectIsNamedByItsAddress checks that a summary names a created object by its
// address, and not by the beginning of its JSON.
func TestCreatedObjectIsNamedByItsAddress(t *testing.T) {
	c := Call{Tool: "bash", Args: []Arg{{"command", `gh api repos/shop/cli/pulls/3/comments/7/replies -f body="Fixed in 06e93767"`}}, Answered: true,
		Result: `{"url":"https://api.shop.test/comments/9","node_id":"PRRC_kw","id":9,"html_url":"https://shop.test/cli/pull/3#r9","body":"Fixed in 06e93767"}`}
	c.finish()
	if got := c.tell(); !strings.HasSuffix(got, "which printed: html_url: https://shop.test/cli/pull/3#r9") {
		t.Errorf("got %q, want the address of the comment", got)
	}
}

// TestHarnessNoticeIsNotQuoted checks that no line quotes the notice of a harness as text
// of a file: "runner.ts has “(Output capped at 50 KB …)”".
func TestHarnessNoticeIsNotQuoted(t *testing.T) {
	for line, name := range map[string]string{
		"(Output capped at 50 KB. Showing lines 1-1447. Use offset=1448 to continue.)": "1448",
		"Output too large to read at once (22.1 KB). Saved to: /tmp/out-17.txt":        "out-17",
		"...the output was truncated. Full output saved to: /tmp/out-17.txt":           "out-17",
	} {
		if got := lineWith("const retries = 3\n"+line+"\n", name); got != "" {
			t.Errorf("%q is quoted as %q, want none", line, got)
		}
	}
	if got := lineWith("the retries are 3 for each of the stores\n", "retries"); got == "" {
		t.Error("a finding is not quoted")
	}
}

// A run of more or of fewer checks that states no outcome does not count as a rerun. The failure
// stays the last result of the check.
func TestSilentRunOfOtherChecksIsNoRerun(t *testing.T) {
	for _, later := range []string{"go vet ./... 2>&1", "go vet ./a && go test ./a"} {
		log := append([]message.Message{message.User("Make it clean.")}, command("1", "", "go vet ./a 2>&1", "Exit code 1\n# x/a\na/a.go:3:2: unreachable code")...)
		text := write4(t, Input{Messages: append(append(log, command("2", "", later, "")...), steps(4)...)})
		if !strings.Contains(text, "its last run failed: `go vet ./a") || strings.Contains(text, "it ran again") {
			t.Errorf("after %q:\n%s\nwant text with %q and text without %q", later, text, "its last run failed: `go vet ./a", "it ran again")
		}
	}
}

// TestSummaryStatesSilentRerunOfCheck checks a rerun without a stated status. The summary
// says that the command printed nothing, because a reader knows what that means for a
// compiler.
func TestSummaryStatesSilentRerunOfCheck(t *testing.T) {
	failed := append([]message.Message{message.User("Make it compile.")}, command("1", "", "go build ./... 2>&1", "Exit code 1\n# x/a\na/a.go:3:2: undefined: b")...)
	for result, want := range map[string]string{
		"":                                 "; it ran again and printed nothing [s4]",
		"(Bash completed with no output)":  "; it ran again and printed nothing [s4]",
		"go: downloading example.com v1.2": "; it ran again without an error [s4]",
	} {
		text := write4(t, Input{Messages: append(append(failed[:3:3], command("2", "", "go build ./... 2>&1", result)...), steps(4)...)})
		if !strings.Contains(text, want) || strings.Contains(text, "its last run failed") {
			t.Errorf("%q: want %q in:\n%s", result, want, text)
		}
	}
}
