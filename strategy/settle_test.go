package strategy

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// logOf returns the entries of the log for some commands.
func logOf(runs ...run) string {
	out := ""
	for _, l := range historyOf(runs...).logLines(0) {
		out += l.Text + "\n"
	}
	return out
}

// The line about a failure states how it ended, because the line about the success may have no
// room.
func TestFailureStatesItsEnd(t *testing.T) {
	const locked = "Exit code 128\nfatal: Unable to create '/p/.git/index.lock': File exists."
	for _, c := range []struct {
		name string
		runs []run
		want string
	}{
		{"the same check, without a status", []run{{"go test ./cli -run TestV", "Exit code 1\n--- FAIL: TestV"}, {"go test ./cli -run TestV", "ok  \tx/cli\t0.1s"}, {"go test ./api", "ok  \tx/api\t0.1s"}}, "; passed in the end [s3]"},
		{"the same command", []run{{"git checkout main && git pull", locked}, {"git checkout main && git pull", "Switched to branch 'main'"}}, "; ran without an error in the end [s3]"},
		{"the end of a chain", []run{{"rm a.lock && git checkout main && git pull", "Exit code 1\nrm: a.lock: No such file"}, {"git checkout main && git pull", "Switched to branch 'main'"}}, "; its `git checkout main && git pull` ran without an error in the end [s3]"},
		{"a chain that has it", []run{{"git commit -m rows", "Exit code 1\nhusky failed"}, {"git add a.go && git commit -m rows", "[main 1a2b3c4] rows"}}, "; ran without an error in the end [s3]"},
		{"the end of a chain, with a status", []run{{"git add a.go && git commit -m rows", "Exit code: 1\nno a.go"}, {"git commit -m rows", "Exit code: 0\n[main 1a2b3c4] rows"}}, "; its `git commit -m rows` ended with exit 0 in the end [s3]"},
		{"the beginning of a chain", []run{{"git add a.go && git commit -m rows", "Exit code 1\nhusky failed"}, {"git add a.go", ""}}, ""},
		{"another command", []run{{"git commit -m rows", "Exit code 1\nhusky failed"}, {"git commit -m tables", "[main 1a2b3c4] tables"}}, ""},
		{"a hidden status", []run{{"make rows", "Exit code 2\nmake: *** [rows] Error 1"}, {"make rows | tail -3", "rows"}}, ""},
		{"in the background", []run{{"make rows", "Exit code 2\nmake: *** [rows] Error 1"}, {"make rows", "Command running in background with ID: b1"}}, ""},
		{"interrupted", []run{{"make rows", "Exit code 2\nmake: *** [rows] Error 1"}, {"make rows", "[Request interrupted by user]"}}, ""},
		{"of another folder", []run{{"make rows", "Exit code 2\nmake: *** [rows] Error 1"}, {"cd b && make rows", "rows"}}, ""},
		{"where each status is stated", []run{{"make rows", "Exit code: 2\nmake: *** [rows] Error 1"}, {"make cells", "Exit code: 0\ncells"}, {"make rows", "still at it"}}, ""},
		{"once more", []run{{"make rows", "Exit code 2\nmake: *** [rows] Error 1"}, {"make rows", "rows"}, {"make rows", "Exit code 2\nmake: *** [rows] Error 1"}}, ""},
	} {
		first, _, _ := strings.Cut(logOf(c.runs...), "\n")
		if got := first[strings.LastIndex(first, ";")+1:]; c.want == "" && strings.Contains(first, "in the end") || c.want != "" && ";"+got != c.want {
			t.Errorf("%s: %q, want %q", c.name, first, c.want)
		}
	}
}

// A run of a part of a check does not count as a run of the check.
func TestCheckCountsOnlyItsOwnRuns(t *testing.T) {
	const failed, passed = "Exit code 1\n--- FAIL: TestV", "ok  \tx/cli\t0.1s"
	for _, c := range []struct {
		before []string
		last   string
		want   string
	}{
		{[]string{"go test ./cli/... -v | tail -100"}, "go test ./cli/... 2>&1 | tail -30", ", after it had failed once"},
		{[]string{"go test ./cli/... -run TestV", "go test ./cli/... -run TestW"}, "go test ./cli/...", ", after narrower runs had failed twice"},
		{[]string{"go test ./cli/... -run TestV", "go test ./cli/..."}, "go test ./cli/...", ", after it had failed once and narrower runs had failed once"},
		{[]string{"mise run test", "mise run lint"}, "mise run test && mise run lint", ", after narrower runs had failed twice"},
		{[]string{"mise run lint -v && mise run test"}, "mise run lint && mise run test && mise run build", ", after narrower runs had failed once"},
	} {
		var runs []run
		for _, cmd := range c.before {
			runs = append(runs, run{cmd, failed})
		}
		lines := historyOf(append(runs, run{c.last, passed})...).checkLines(0)
		if !slices.ContainsFunc(lines, func(l Line) bool { return strings.Contains(l.Text, "0.1s"+c.want+" [s") }) {
			t.Errorf("after %q: lines %+v, want one with the number of runs", c.before, lines)
		}
	}
}

// A failure in the previous summary states how it ended later, even if the line about the success
// is gone.
func TestFailureOfPreviousSummaryStatesItsEnd(t *testing.T) {
	carried := func(line string, runs ...run) string {
		var msgs []message.Message
		for i, r := range runs {
			msgs = append(msgs, command(itoa(i), "", r.cmd, r.result)...)
		}
		h := NewHistory(Request{Strategy: taskState, Previous: "## What happened\n- " + line, Messages: msgs, First: 20})
		for _, l := range h.carried(taskState, nil) {
			if strings.HasPrefix(l.Text, "[s3]") {
				return strings.TrimPrefix(l.Text, line)
			}
		}
		return "no line"
	}
	test := "[s3] `go test ./store -run TestD` failed (exit 1): --- FAIL: TestD"
	for _, c := range []struct {
		line string
		runs []run
		want string
	}{
		{test, []run{{"go build ./... && go test ./store", "ok  \tx/store\t0.3s"}}, "; passed later [s20]"},
		{test, []run{{"cd /src/x && go test ./store -run TestD", "ok  \tx/store\t0.3s"}}, "; passed later [s20]"},
		{test, []run{{"cd /src/x && go test ./store -run TestD", "ok  \tx/store\t0.3s"}, {"cd /src/y && ls", "a"}}, ""}, // the folder of the failed check is unknown
		{test, []run{{"go test ./cache", "ok  \tx/cache\t0.3s"}}, ""},
		{test + "; passed in the end [s7]", []run{{"go test ./store", "ok  \tx/store\t0.3s"}}, ""},
		{"[s3] `git commit -m rows` failed (exit 1): husky failed", []run{{"git add a && git commit -m rows", "[main 1a2b3c4] rows"}}, "; ran without an error later [s20]"},
		{"[s3] `git commit -m rows` failed (exit 1): husky failed", []run{{"git add a && git commit -m rows", "[main 1a2b3c4] rows"}, {"ls a", "Exit code: 0\na"}}, ""},
	} {
		if got := carried(c.line, c.runs...); got != c.want {
			t.Errorf("%q after %q: %q, want %q", c.line, c.runs[0].cmd, got, c.want)
		}
	}
}

// A failed command does not show a newer state, so the state before it is still current.
func TestAFailedCommandShowsNoNewerState(t *testing.T) {
	for result, want := range map[string]bool{" M a.go\n a.go | 2 +-": true, "Exit code: 128\nfatal: not a git repository": false} {
		h := historyOf(run{"git status --short", " M a.go"}, run{"git status --short && git diff --stat", result})
		if got := h.outdated(at{0, 0}); got != want {
			t.Errorf("after %q: outdated %v, want %v", result, got, want)
		}
	}
}
