package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestRerunRecognizesOtherFormsOfACheck(t *testing.T) {
	for _, c := range []struct {
		first, later string
		settles      bool
	}{
		{"bun run test 2>&1", "bun run test 2>&1 | tail -5", true},
		{"cd web && npm test > out.txt", "cd web/ && CI=1 npm test -- --silent", true},
		{"go test ./storage -run TestTorn -v", "go test ./...", true},
		{"go test ./storage -run TestTorn", "go test ./storage", true},
		{"pytest tests/test_a.py -k name -x", "pytest", false}, // -x is unknown
		{"pytest tests/test_a.py -k name", "python -m pytest", false},
		{"pytest tests/test_a.py -q", "pytest", true},
		{"go test ./storage", "go test ./policy", false},
		{"go test", "go test ./storage", false}, // a part proves nothing about the rest
		{"go test ./...", "go test", false},     // only the package of the folder
		{"go test ./...", "go test 2>/dev/null", false},
		{"go test", "go test .", true},
		{"go test -run TestTorn", "go test ./...", true},
		{"go test -race ./...", "go test ./...", false},
		{"go test ./...", "go vet ./...", false},
		{"cd a && npm test", "cd b && npm test", false},
		{"cd a && npm test && cd ../b && npm test", "cd a && npm test", false}, // b did not run again
		{"cd a && npm test && cd ../b && npm test", "cd a && npm test && cd ../b && npm test 2>&1", true},
		{"cd a && cd b && npm test", "cd a/b && npm test", true},
		{"cd a && npm run lint && cd - && npm test", "npm test && cd ./a && npm run lint", true},
		{"cd /w/a && npm test", "cd /w && npm run lint && cd a/ && npm test", true},
		{"cd ~/w && npm test", "cd a && cd ~/w/ && npm test", true},
		{"(cd a && npm test) && (cd b && npm test)", "cd a && npm test", false},
		{"(cd a && npm test) && npm run lint", "npm run lint && cd a && npm test", true},
		{"((cd a && npm test) && npm run lint)", "npm run lint && (cd a && npm test)", true},
		{"cd a && go test $(go list ./...) && npm test", "cd a && npm test && go test $(go list ./...)", true},
		{"timeout 60 go test ./a", "go test ./a", true},
		{"CI=1 timeout -k 5 2m npm test", "sudo env CI=1 timeout 90s npm test", true},
		{"timeout --signal=KILL 1.5h npm test", "time npm test -- --silent", true},
		{"timeout 60 npm test", "timeout 60 npm run lint", false},
		{"npm run test:unit", "npm run test", false},
		{"pnpm run build", "pnpm run lint", false},
		{"nx test web", "nx build web", false},
		{"npm run lint && npm test", "npm test", false},
		{"mvn -q test", "mvn -q package", false},
		{"go test ./a\ngo test ./b", "go test ./a", false},
		{"pytest -q", "python - <<'E'\nprint(1)\nE\npytest -q", true},
		{"cat > a.txt <<'E'\ngo vet ./a\nE\nnpm test", "npm test", true},
	} {
		failed := reruns{}
		failed.wait(c.first)
		if got := len(failed.settle(c.later)) > 0; got != c.settles {
			t.Errorf("%q settles %q: %v", c.later, c.first, got)
		}
	}
}

// The consecutive checks of one command can be settled together or one by one.
func TestChecksOfOneCommandAreSettledOneByOne(t *testing.T) {
	for _, c := range []struct {
		first string
		later []string
		want  int // number of runs that settle the check; 0 = never
	}{
		{"mise run test && mise run lint", []string{"mise run test 2>&1 | tail -30", "mise run lint"}, 2},
		{"mise run test && mise run lint 2>&1", []string{"mise run test && mise run lint"}, 1},
		{"npm run lint && npm test", []string{"npm test", "npm test"}, 0},
		{"npm run lint; npm test", []string{"npm run lint", "npm test"}, 0}, // the failed check is unknown
		{"npm run lint; npm test", []string{"npm run lint 2>&1; npm test | tail -3"}, 1},
		{"npm --prefix ui run build", []string{"npm --prefix api run build", "npm --prefix ui run build 2>&1"}, 2},
		{"go test ./a -run TestOne && go vet ./a", []string{"go vet ./a", "go test ./..."}, 2},
	} {
		failed, got := reruns{}, 0
		failed.wait(c.first)
		for i, later := range c.later {
			if len(failed.settle(later)) > 0 && got == 0 {
				got = i + 1
			}
		}
		if got != c.want {
			t.Errorf("%q is settled by run %d of %q, want %d", c.first, got, c.later, c.want)
		}
	}
}

// After each check of a command with several checks has passed, a summary no longer
// states the failure of the command.
func TestSummaryStatesLatestStateOfSeveralChecks(t *testing.T) {
	run := func(id, cmd, result string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "bash", `{"command":"`+cmd+`"}`)), message.ToolResult(id, result)}
	}
	msgs := append([]message.Message{message.User("Make it green.")}, run("1", "mise run test && mise run lint 2>&1", "Exit code: 1\nFAIL")...)
	msgs = append(msgs, run("2", "mise run lint", "Exit code: 0\n0 issues.")...)
	told := func(msgs []message.Message) string {
		out := ""
		for _, l := range NewHistory(Request{Messages: msgs, First: 1}).checkLines(0) {
			out += l.Text + "\n"
		}
		return out
	}
	if text := told(msgs); !strings.Contains(text, "failed (exit 1): FAIL [s2]") || !strings.Contains(text, "0 issues. [s4]") {
		t.Errorf("after one of two:\n%s", text)
	}
	msgs = append(msgs, run("3", "mise run test | tail -3", "ok  \tstore\t0.1s")...)
	if text := told(msgs); strings.Contains(text, "failed (exit") || !strings.Contains(text, "after runs with other checks had failed once [s6]") {
		t.Errorf("after both:\n%s", text)
	}
}

func TestRepeatedCheckOfPreviousSummaryAppearsOnce(t *testing.T) {
	long := message.User(strings.Repeat("Go on with the rows of the store. ", 30))
	count := func(s string) int { return len(s) / 4 }
	messages := func(cmd, result string) []message.Message {
		return append([]message.Message{long}, message.Assistant("", message.Call("1", "bash", `{"command":"`+cmd+`"}`)), message.ToolResult("1", result))
	}
	first := written(t, taskState, 1500, Input{Messages: messages("go test ./store 2>&1", "ok  \tstore\t0.1s"), Count: count})
	if !strings.Contains(first, "`go test ./store 2>&1` passed") {
		t.Fatal(first)
	}
	for cmd, want := range map[string]bool{"go test ./store 2>&1 | tail -5": false, "go test ./cache 2>&1": true} {
		next := written(t, taskState, 1500, Input{Previous: first, Messages: messages(cmd, "ok  \tstore\t0.2s"), Count: count})
		if strings.Contains(next, "`go test ./store 2>&1` passed") != want || !strings.Contains(next, "`"+cmd+"` passed") {
			t.Errorf("after %s:\n%s", cmd, next)
		}
	}
}
