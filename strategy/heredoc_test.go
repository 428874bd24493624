package strategy

import (
	"strconv"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// TestQuotedScriptShowsWhatRanAfterItsTexts: the last command of a script determines the outcome
// of the script. A label with the first command, which only writes a file, would attribute the
// outcome to the wrong command.
func TestQuotedScriptShowsWhatRanAfterItsTexts(t *testing.T) {
	for _, c := range []struct{ script, want string }{
		{"cat > try.py << 'EOF'\nimport shop\nprint(shop.total())\nEOF\npython try.py", "cat > try.py << 'EOF' …; python try.py"},
		{"cat > notes.md <<EOF\n# Notes\nEOF", "cat > notes.md <<EOF"},
		{"git commit -m \"$(cat <<'EOF'\nfix: rounding\n\nEUR only\nEOF\n)\"", "git commit -m '$(cat <<'EOF' …)'"},
		{"git commit -m \"$(cat <<'EOF'\nfix: rounding\nEOF\n)\" && git push", "git commit -m '$(cat <<'EOF' …)' && git push"},
		{"cat > a_very_long_name_of_a_script_that_checks_the_totals.py <<'EOF'\nx = 1\nEOF\ncp shop.py shop.bak\ngo test ./orders/...\nrm shop.bak", "…; go test ./orders/..."},
		{"cat > a_very_long_name_of_a_script_that_checks_the_totals.py <<'EOF'\nx = 1\nEOF\npython a_very_long_name_of_a_script_that_checks_the_totals.py", "…; python a_very_long_name_of_a_script_that_checks_the_totals.py"},
		{"python3 - <<'PY'\nprint(1)", "python3 - <<'PY'"}, // not ended
	} {
		c.want = strings.ReplaceAll(c.want, `"`, "'")
		if got := strings.ReplaceAll(shortCommand(c.script), `"`, "'"); got != c.want {
			t.Errorf("%q:\n got %s\nwant %s", c.script, got, c.want)
		}
	}
}

// TestTextOfAScriptIsNoEffect: a file that names a command is data. If a summary said that the
// command was done, the agent would not run it.
func TestTextOfAScriptIsNoEffect(t *testing.T) {
	for script, want := range map[string]bool{
		"cat > release.sh <<'EOF'\nnpm publish\ngit push --tags\nEOF":       false,
		"cat > release.sh <<'EOF'\nnpm publish\nEOF\nsh release.sh":         false, // nobody can tell what the script does
		"cat > release.sh <<'EOF'\nset -e\nEOF\ngit push --tags":            true,
		"ssh web1 <<'EOF'\nsystemctl restart shop\nEOF":                     true,
		"git commit -m \"$(cat <<'EOF'\nadd the release script\nEOF\n)\"":   true,
		"git add a.go\n# then npm publish\ngit status":                      false,
		"cat <<'EOF'\nkubectl delete pod web-1\nEOF\necho printed; ls -l /": false,
	} {
		c := &Call{Tool: "bash", Args: []Arg{{Name: "command", Value: script}}, Result: "done", Answered: true, Outcome: OK}
		if got := c.attempts(); got != want {
			t.Errorf("%q: effect %v, want %v", script, got, want)
		}
	}
}

// Thirty lines about created issues would leave no room for other lines. Issues that the summary
// does not mention would be created again.
func TestManyEffectsOfOneKindAreCounted(t *testing.T) {
	var msgs []message.Message
	for i := range 9 {
		id := strconv.Itoa(i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "bash", `{"command":"bd create item-`+id+`"}`)), message.ToolResult(id, "Created issue: av-"+id))
	}
	msgs = append(msgs, message.Assistant("", message.Call("p", "bash", `{"command":"npm run publish"}`)), message.ToolResult("p", "+ shop@1.2.0"))
	var lines []string
	for _, f := range NewHistory(Request{Strategy: taskState, Messages: msgs, First: 1}).effects() {
		lines = append(lines, f.Text)
	}
	if len(lines) != mostOfGroup+1 {
		t.Fatalf("%d lines:\n%s\nwant %d", len(lines), strings.Join(lines, "\n"), mostOfGroup+1)
	}
	if !strings.Contains(lines[0], "item-6") || !strings.Contains(lines[0], "earlier also 6 `bd` commands [s1–s11]") || !strings.Contains(lines[mostOfGroup], "npm run publish") {
		t.Errorf("the lines are:\n%s", strings.Join(lines, "\n"))
	}
}

// TestStashThatComesBackTakesNothingBack: "git stash; go test; git stash pop" runs the tests
// without the change, and does not take the change back.
func TestStashThatComesBackTakesNothingBack(t *testing.T) {
	told := func(commands ...string) bool {
		var msgs []message.Message
		for i, c := range commands {
			id := strconv.Itoa(i)
			msgs = append(msgs, message.Assistant("", message.Call(id, "bash", `{"command":"`+c+`"}`)), message.ToolResult(id, "done"))
		}
		return len(NewHistory(Request{Strategy: taskState, Messages: msgs, First: 1}).tookBackLines(0)) > 0
	}
	for _, c := range []struct {
		commands []string
		want     bool
	}{
		{[]string{"git stash"}, true},
		{[]string{"git stash && go test ./x; git stash pop"}, false},
		{[]string{"git stash", "go test ./x", "git stash pop"}, false},
		{[]string{"git stash pop", "git stash"}, true},
		{[]string{"git checkout -- a.go && git stash", "git stash pop"}, true},
	} {
		if got := told(c.commands...); got != c.want {
			t.Errorf("%q: took back %v, want %v", c.commands, got, c.want)
		}
	}
}

// If one message has several calls, a "git stash pop" restores only a stash of an earlier call.
func TestStashAfterAPopInTheSameMessageTakesBack(t *testing.T) {
	for _, c := range []struct {
		first, second string
		want          bool
	}{{"git stash pop", "git stash", true}, {"git stash", "git stash pop", false}} {
		msgs := []message.Message{
			message.Assistant("", message.Call("1", "bash", `{"command":"`+c.first+`"}`), message.Call("2", "bash", `{"command":"`+c.second+`"}`)),
			message.ToolResult("1", "done"), message.ToolResult("2", "done"),
		}
		h := NewHistory(Request{Strategy: taskState, Messages: msgs, First: 1})
		if got := len(h.tookBackLines(0)) > 0; got != c.want {
			t.Errorf("%s, %s: took back %v, want %v", c.first, c.second, got, c.want)
		}
	}
}

func TestProgramThatNamesItselfFailed(t *testing.T) {
	for _, c := range []struct {
		command, output string
		want            Outcome
	}{
		{"pg_dump -t orders prod > /backup/orders.sql", "pg_dump: error: could not write: No space left on device", Failed},
		{"cp big.bin /mnt/x/big.bin", "cp: error writing '/mnt/x/big.bin': No space left on device", Failed},
		{"cd /srv && sudo mail -s Sum a@b.example < out.txt", "mail: cannot send message: Connection refused", Failed},
		{"./deploy.sh staging", "Deploying ...\nHealth check: 502\nRolled back to v118", Failed},
		{"kubectl rollout restart deploy/web", "Error from server (Forbidden): deployments.apps \"web\" is forbidden", Failed},
		{"cat errors.log", "mail: cannot send message", Unknown}, // another program's words
		{"grep -r error .", "grep: note", Unknown},
		{"tail -3 app.log", "tail of the day\nmail: error", Unknown},
	} {
		msgs := []message.Message{message.Assistant("", message.Call("1", "bash", `{"command":`+strconv.Quote(c.command)+`}`)), message.ToolResult("1", c.output)}
		h := NewHistory(Request{Strategy: taskState, Messages: msgs, First: 1})
		if got := h.Steps[0].Calls[0].Outcome; got != c.want {
			t.Errorf("%s: %v, want %v", c.command, got, c.want)
		}
	}
}

// The outcome of an effect is quoted in the form that a terminal shows at the end. For a publish,
// the quotation has the version and not the remarks after it.
func TestOutcomeOfAnEffectIsQuotedByItsResult(t *testing.T) {
	for _, c := range []struct{ command, output, want string }{
		{"git rebase main", "Rebasing (1/2)\rRebasing (2/2)\rSuccessfully rebased and updated refs/heads/totals.", "Successfully rebased and updated refs/heads/totals."},
		{"npm run publish", "+ shop@1.2.0\nnpm warn publish Skipping workspace web, marked as private", "+ shop@1.2.0"},
		{"npm run publish", "+ shop@1.2.0\nAll packages of the workspace are in the registry", "+ shop@1.2.0"},
		{"terraform apply", "Error: timeout while waiting for the state\nApply complete! Resources: 1 added.", "Apply complete! Resources: 1 added."},
	} {
		call := &Call{Tool: "bash", Args: []Arg{{Name: "command", Value: c.command}}, Result: c.output, Answered: true, Exit: -1}
		if got := call.lastWords(); got != c.want {
			t.Errorf("%s: %q, want %q", c.command, got, c.want)
		}
	}
}
