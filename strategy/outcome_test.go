package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// ranCommand reads a command with its result.
func ranCommand(cmd, result string) *Call {
	c := Call{Tool: "bash", Args: []Arg{{"command", cmd}}, Result: result, Answered: true}
	c.finish()
	return &c
}

func TestExitStatusReadsLinesOfKnownHarnesses(t *testing.T) {
	for result, want := range map[string]int{
		"Exit code 2\nboom": 2,
		"Chunk ID: 1\nWall time: 1 s\nProcess exited with code 3\nx": 3,
		"<returncode>0</returncode>\n<output>x</output>":             0,
		"out\n<shellId: 4 completed with exit code 5>":               5,
		"out\n[The command completed with exit code 6.]":             6,
		"out\n\nCommand exited with code 7":                          7,
		"exitcode: 1 (execution failed)\nCode output: x":             1,
		`{"output":"x","metadata":{"exit_code":9}}`:                  9,
		"vet: undefined: x\nexit status 1":                           1,
		"Exit code: -1\nkilled":                                      -1,
	} {
		if n, ok := exitStatus(result); !ok || n != want {
			t.Errorf("%q: %d, %v; want %d", result, n, ok, want)
		}
	}
	for _, result := range []string{"", "the exit code 3 is documented on page 7", "Exit code abc", "func exit() { code = 1 }", "exit code 99999999999999999999"} {
		if n, ok := exitStatus(result); ok {
			t.Errorf("%q states %d", result, n)
		}
	}
}

func TestOutcomeIsTheOneThatTheResultStates(t *testing.T) {
	for _, c := range []struct {
		name, cmd, result string
		want              Outcome
	}{
		{"a status of zero", "go test ./...", "Exit code: 0\nok  \ta\t0.1s", OK},
		{"a report of success", "go test ./...", "ok  \ta\t0.1s", OK},
		{"a report of failure before a pipe", "go test ./... | tail -3", "Exit code: 0\n--- FAIL: TestX\nFAIL\ta\t0.1s", Failed},
		{"zero of a pipe, no report", "make test | tail -3", "Exit code: 0\nsomething", Unknown},
		{"zero of a later command", "make test; echo done", "Exit code: 0\ndone", Unknown},
		{"pytest", "pytest -q", "===== 2 failed, 7 passed in 0.3s =====", Failed},
		{"pytest passed", "pytest -q", "===== 7 passed in 0.3s =====", OK},
		{"jest", "npx jest", "Tests:       1 failed, 8 passed, 9 total", Failed},
		{"vitest", "npx vitest run", "      Tests  9 passed (9)", OK},
		{"cargo", "cargo test", "test result: ok. 3 passed; 0 failed", OK},
		{"cargo failed", "cargo test", "test result: FAILED. 2 passed; 1 failed", Failed},
		{"lint", "golangci-lint run ./...", "0 issues.", OK},
		{"a compiler", "npx tsc --noEmit", "a.ts(3,1): error TS2304: Cannot find name 'x'.", Failed},
		{"no output", "go build ./...", "", Unknown},
		{"a line of code in a run that passed", "bun run test", "[Limiter] Task 2 failed: 86 |\n89 | \tthrow new Error(\"Item 3 failed\");\n 1241 pass\n 0 fail\nRan 1241 tests across 56 files.", OK},
		{"counts that begin a line", "bun test", " 12 pass\n 3 fail\n", Failed},
		{"no test was run", "go test ./a -run X", "ok  \ta\t0.1s [no tests to run]", Unknown},
		{"a log of words", "cat notes.txt", "the build failed yesterday", Unknown},
		{"declined", "git push", "The user doesn't want to proceed with this tool use.", Failed},
		{"still running", "npm run dev", "Process running with session ID 7\nOutput:\nready", Unknown},
		{"no such command", "gti status", "bash: gti: command not found", Failed},
	} {
		if got := ranCommand(c.cmd, c.result).Outcome; got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

func TestErrorResultReplacesTheResult(t *testing.T) {
	for result, want := range map[string]Outcome{
		"Error: flight HAT138 is not available":                   Failed,
		`{"error": "no such user"}`:                               Failed,
		"<tool_use_error>String to replace not found in file.":    Failed,
		"javascript_tool failed: SyntaxError: x":                  Failed,
		"1\tError: is what this file begins with":                 Unknown,
		"The function returns an error when the path is empty":    Unknown,
		"The file /src/a.go has been updated successfully.":       OK,
		"The file a.go is a text":                                 Unknown,
		"[observation masked — 4200 chars]":                       Unknown,
		"[truncated: kept first ~8000 of ~52000 tokens (head)]\n": Unknown,
	} {
		h := NewHistory(Request{Strategy: taskState, First: 1, Messages: []message.Message{
			message.Assistant("", message.Call("1", "lookup", `{"id":"x"}`)), message.ToolResult("1", result)}})
		if got := h.Steps[0].Calls[0].Outcome; got != want {
			t.Errorf("%q: %v, want %v", result, got, want)
		}
	}
}

func TestWaitingCallEndsRunningCommand(t *testing.T) {
	h := NewHistory(Request{Strategy: taskState, First: 1, Messages: []message.Message{
		message.Assistant("", message.Call("1", "exec_command", `{"cmd":"go test ./slow"}`)),
		message.ToolResult("1", "Chunk ID: 1\nProcess running with session ID 71\nOutput:\n"),
		message.Assistant("", message.Call("2", "write_stdin", `{"session_id":71,"chars":""}`)),
		message.ToolResult("2", "Process exited with code 1\nOutput:\n--- FAIL: TestTorn (0.1s)\nFAIL\tslow\t9s"),
	}})
	checks := h.checks()
	if len(checks) != 1 || checks[0].call.tell() != "`go test ./slow` failed (exit 1): --- FAIL: TestTorn (0.1s)" {
		t.Errorf("checks %+v, want one check with the outcome of the waiting call", checks)
	}
}

func TestLogLineUsesWordsOfTheSource(t *testing.T) {
	for _, c := range []struct{ cmd, result, want string }{
		{"cd /src && go test ./storage/...", "Exit code 1\n--- FAIL: TestTornWrite\n    got 3 files, want 2\nFAIL", "`go test ./storage/...` failed (exit 1): --- FAIL: TestTornWrite"},
		{"make lint", "<returncode>0</returncode>\n<output>\n0 issues.\n</output>", "`make lint` passed (exit 0): 0 issues."},
		{"git push", "The user doesn't want to proceed with this tool use. Stop.", "`git push` was not carried out: The user doesn't want to proceed with this tool use. Stop."},
		{"ls nowhere", "Exit code 1\n", "`ls nowhere` ended with exit 1"},
		{"./gen.sh all", "wrote 3 files", "ran `./gen.sh all`, which printed: wrote 3 files"},
	} {
		if got := ranCommand(c.cmd, c.result).tell(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// The argument "command" of an editor can name an operation. In this case the call runs no
// command. A refused edit changes nothing.
func TestRefusedEditChangesNothing(t *testing.T) {
	for result, want := range map[string]Outcome{
		"ERROR:\nNo replacement was performed, old_str `x` did not appear verbatim in /a/b.go.": Failed,
		"ERROR:\nParameter `old_str` is required for command: str_replace.":                     Failed,
		"The file /a/b.go has been edited. Here's the result of running `cat -n` on a snippet":  OK,
	} {
		c := Call{Tool: "str_replace_editor", Args: []Arg{{"command", "str_replace"}, {"path", "/a/b.go"}}, Result: result, Answered: true}
		c.finish()
		if c.Outcome != want || c.Command() != "" {
			t.Errorf("%q: %v, command %q; want %v and none", result, c.Outcome, c.Command(), want)
		}
		if want == Failed && (strings.HasPrefix(c.ErrorLine(), "ERROR") || c.Target() != "/a/b.go") {
			t.Errorf("%q: error %q of %s", result, c.ErrorLine(), c.Target())
		}
		if changed := len(c.files) > 0; changed != (want == OK) {
			t.Errorf("%q: files %v", result, c.files)
		}
	}
	if c := ranCommand("make", "ok"); c.Command() != "make" {
		t.Errorf("the command make is read as %q, want %q", c.Command(), "make")
	}
}
