package eval

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// Facts holds the facts in removed messages that an agent needs to continue the work. The
// rules that read the facts are independent of the measured summarizer.
type Facts struct {
	User    []string    // sentences that people typed
	Runs    []Execution // commands with the status that their results state
	Tools   []Execution // calls of other tools, by name, with their results
	Changed []string    // files that edit tools changed
	Refused []string    // files whose edits were all refused
	Plan    []Item      // the last state of the plan tool
	Next    string      // announced step without a later step; "" = none
	Past    []string    // announced steps with a later step
}

// An Execution is one run of a command.
type Execution struct {
	Command string
	Result  string // on one line in lower case
	Failed  bool   // the result states a nonzero status, or a report of failed tests
	Zero    bool   // the result states the status zero
	Passed  bool   // the result states zero or a report of passed tests, and no failure
}

// An Item is one entry of a plan.
type Item struct {
	Text string
	Done bool
}

// FactsOf reads the facts of removed messages. msgs must not contain the last user message,
// because it stays in every view.
func FactsOf(msgs []message.Message) Facts {
	var f Facts
	calls := map[string]call{}
	sessions := map[string]string{} // session id → running command
	tasks := map[string]int{}
	var acted string // command of an action in a text
	for _, m := range msgs {
		if m.Role == message.RoleUser {
			if acted != "" && resultHead.MatchString(m.Text()) {
				f.run(acted, m.Text())
			} else if typed(m) {
				f.User = append(f.User, typedSentences(m.Text())...)
				f.follow("")
			}
			acted = ""
		}
		if m.Role == message.RoleAssistant {
			acted = fencedCommand(m.Text())
			f.follow(announced(m.Text()))
		}
		for i := range m.Parts {
			switch p := &m.Parts[i]; p.Kind {
			case message.KindToolCall:
				acted = ""
				c := readArguments(p)
				calls[p.CallID] = c
				f.plan(c)
			case message.KindToolResult:
				f.result(calls[p.CallID].resumed(p.Text, sessions), p.Text, tasks)
			}
		}
	}
	return f
}

// follow notes a new message of the user or the assistant: the step that was announced
// before it is past. next is the step that the message announces; "" = none.
func (f *Facts) follow(next string) {
	if f.Next != "" && f.Next != next {
		f.Past = append(f.Past, f.Next)
	}
	f.Next = next
}

// A call is a tool's name with its arguments.
type call struct {
	tool string
	args map[string]any
	raw  string
}

func readArguments(p *message.Part) call {
	c := call{tool: p.Name, raw: string(p.Args)}
	_ = json.Unmarshal(p.Args, &c.args)
	return c
}

func (c call) text(names ...string) string {
	for _, n := range names {
		if s, ok := c.args[n].(string); ok && s != "" {
			return s
		}
	}
	return ""
}

var session = lazy.Compile(`Process running with session ID (\d+)`)

// resumed returns the call that started a command, if c only waits for that command to
// end; otherwise c.
func (c call) resumed(result string, sessions map[string]string) call {
	cmd := c.text("command", "cmd")
	if n, ok := c.args["session_id"].(float64); ok && cmd == "" {
		cmd = sessions[strconv.Itoa(int(n))]
		c.args = map[string]any{"cmd": cmd}
	}
	if m := session.FindStringSubmatch(result); m != nil && cmd != "" {
		sessions[m[1]] = cmd
	}
	return c
}

// result records the facts that a result states about its call.
func (f *Facts) result(c call, text string, tasks map[string]int) {
	switch cmd := c.text("command", "cmd"); {
	case editTools[c.tool] && !errorHead.MatchString(text):
		f.edited(c, f.change)
	case editTools[c.tool] && !unrecorded.MatchString(text):
		f.edited(c, f.refuse)
	case cmd != "" && strings.ContainsAny(cmd, " \n"):
		f.run(cmd, text)
	case c.tool != "" && !editTools[c.tool] && !unrecorded.MatchString(text):
		f.Tools = append(f.Tools, Execution{Command: c.tool, Result: bare(text), Failed: errorHead.MatchString(text)})
	}
	f.task(c, text, tasks)
}

// unrecorded matches the note that a recorder writes for a lost result.
var unrecorded = lazy.Compile(`^\s*\[no tool result`)

func (f *Facts) run(cmd, text string) {
	text = colors.ReplaceAllString(text, "")
	r := Execution{Command: cmd, Result: even(text)}
	status, stated := statusOf(text)
	bad, good := reportFailed.MatchString(text), reportPassed.MatchString(text)
	r.Zero = stated && status == 0
	r.Failed = stated && status != 0 && !foundNothing(cmd, text) || !stated && bad
	r.Passed = !r.Failed && !bad && (stated && status == 0 || good)
	f.Runs = append(f.Runs, r)
}

// colors matches the color codes of a terminal.
var colors = lazy.Compile("\x1b\\[[0-9;]*m")

var (
	search = lazy.Compile(`^(?:cd \S+ ?&& ?)?(?:grep|egrep|fgrep|rg|git grep|ag) |\| ?(?:grep|egrep|fgrep|rg|ag) [^|;&]*$`)
	markup = lazy.Compile(`</?(?:output|stdout|stderr)>|\(no output\)`)
)

// statusOne matches a line that states the status 1.
var statusOne = lazy.Compile(`(?:\D|^)1(?:\D|$)`)

// foundNothing reports whether a command is a search without a match, or ends in one behind a
// pipe, judged by the status 1 and an output that is empty or the number 0.
func foundNothing(cmd, text string) bool {
	if !search.MatchString(cmd) {
		return false
	}
	for l := range strings.Lines(markup.ReplaceAllString(text, "")) {
		if l = strings.TrimSpace(l); l != "" && l != "0" && (!statusLines.MatchString(l) || !statusOne.MatchString(l)) {
			return false
		}
	}
	return true
}

// Failing returns the commands whose last run failed.
func (f *Facts) Failing() []string {
	last, order := map[string]bool{}, []string{}
	for _, r := range f.Runs {
		if _, seen := last[r.Command]; !seen {
			order = append(order, r.Command)
		}
		last[r.Command] = r.Failed
	}
	var out []string
	for _, c := range order {
		if last[c] {
			out = append(out, c)
		}
	}
	return out
}

// statusLines matches the lines in which harnesses state a status. Such lines are among
// the first or the last lines of a result.
var statusLines = lazy.Compile(`^(?:Exit code:? (-?\d+)|Process exited with code (-?\d+)|<returncode>(-?\d+)</returncode>|<shellId: \S+ completed with exit code (-?\d+)>` +
	`|\[(?:The c|C)ommand (?:completed|finished) with exit code (-?\d+)\.?\]|Command exited with code (-?\d+)|exitcode: (-?\d+) \(execution \w+\)|Exit Code: (-?\d+)|EXIT[:=] ?(\d+))$`)

const statusEdge = 6 // lines at either end that may state a status

func statusOf(text string) (int, bool) {
	lines := strings.Split(strings.TrimSpace(text), "\n")
	for i, l := range lines {
		if i >= statusEdge && i < len(lines)-statusEdge {
			continue
		}
		if m := statusLines.FindStringSubmatch(strings.TrimSpace(l)); m != nil {
			for _, n := range m[1:] {
				if n != "" {
					return len(strings.Trim(n, "-0")), true
				}
			}
		}
	}
	return 0, false
}

var (
	reportFailed = lazy.Compile(`(?m)^(?:FAIL|Found [1-9]\d* errors?\.|--- FAIL:|=+ .*\b\d+ (?:failed|error)|FAILED \(|test result: FAILED|\s*Tests:?\s+.*\b\d+ failed|\s*\d+ failing|npm ERR!|npm error|BUILD FAILED)`)
	reportPassed = lazy.Compile(`(?m)^(?:ok\s+\S+|PASS$|=+ .*\b\d+ passed|OK$|test result: ok|\s*Tests:?\s+\d+ passed|\s*\d+ passing|(?:\[[\w:.-]+\] )?0 issues\.|BUILD SUCCESS)`)
	errorHead    = lazy.Compile(`^\s*(?:<tool_use_error>|(?i:error)|Exit code [1-9]|\{"error"|apply_patch verification failed|No (?:match|change|edit)|0 (?:replacement|edit)|Unable to apply|String to replace not found|Ran into|Invalid|\[no tool result|\[No exact|Element with)`)
	resultHead   = lazy.Compile(`^\s*(?:<returncode>|Observation:|OBSERVATION:|exitcode: )`)
)

var announcement = lazy.Compile(`^(?:(?:Now|First|Next|Then),? )?(?:I['’]ll|I will|I['’]m going to|Let me|Let['’]s|Now |Next|I need to|I should|Going to) ?.{8,}`)

// progress matches sentences about the speaker's present activity; musing matches states,
// which are not steps.
var (
	progress = lazy.Compile(`^(?:Now )?I['’]m (?:now )?[a-z]+ing\b.{8,}|, then I['’]ll `)
	musing   = lazy.Compile(`^I['’]m (?:seeing|thinking|wondering|noticing|assuming|hoping|having|missing|guessing|being|feeling|considering|leaning|relying|suspecting)\b`)
)

// announced returns the last sentence of a text that announces a step.
func announced(text string) string {
	out := ""
	for _, s := range splitSentences(text) {
		if announcement.MatchString(s) || progress.MatchString(s) && !musing.MatchString(s) {
			out = s
		}
	}
	return out
}
