package strategy

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// An event is one entry of the work log: an action, its object and its outcome.
type event struct {
	first, last int // steps
	text        string
	value       float64
	look        *looks // looks of an entry that only looks
	open        bool   // the command failed, and no later run passed
	fold        string // key of consecutive entries that fold into one; "" = never
	times       int
	ran         string   // command of a failure that a later run can settle
	failed      *Call    // last call with this failure
	command     string   // tool and arguments of failures that share the entry
	wrong       []string // errors of these failures
	chain       bool     // a call whose answer only repeats it
}

// workLog returns the events of the history in order. Consecutive steps that only look
// share one entry, and consecutive equal events do, too.
func (h *History) workLog() []event {
	var w worklog
	settled, failing := h.settled(), h.failing()
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant && s.Role != message.RoleTool {
			continue
		}
		if len(s.Calls) == 0 {
			w.spoke = w.spoke || s.Text != ""
			continue
		}
		why := purpose(s.Text)
		if lasting(lastSentence(s.Text)) {
			why = "" // saidLines quotes the purpose
		}
		for k := range s.Calls {
			if h.outdated(at{i, k}) {
				continue
			}
			events := s.Calls[k].events(s.ID, settled[at{i, k}])
			watched := h.watches()[at{i, k}]
			if len(events) == 0 {
				w.add(watched.looped(&s.Calls[k], s.ID))
			}
			for _, e := range events {
				e.open = failing[s.Calls[k].Command()] == at{i, k}
				watched.newest(&e)
				if e.look == nil && why != "" && !claims(why) {
					e.text, why = e.text+saidBefore(why), ""
				}
				w.add(e)
			}
		}
	}
	h.settleEntries(w.out)
	return w.out
}

// worklog folds events into entries.
type worklog struct {
	out   []event
	spoke bool // an answer follows the last entry
}

func (w *worklog) add(e event) {
	if e.text == "" && e.look == nil {
		return
	}
	n := len(w.out)
	if w.spoke {
		w.spoke, n = false, 0
	}
	if n > 0 && w.out[n-1].takes(&e) {
		return
	}
	if n > 1 && w.out[n-1].look != nil && e.fold != "" && w.out[n-2].takes(&e) {
		return // same file, with a look between both events
	}
	if i := entryOf(w.out, e.command); i >= 0 {
		w.out[i].fails(&e)
		return
	}
	e.times = 1
	w.out = append(w.out, e)
}

// says returns the words that introduce the text of a step: the speaker, or the user as
// the addressee.
func (s *Step) says() string {
	if s.Speaker != "" {
		return s.Speaker + " said"
	}
	return "told the user"
}

// takes folds next into the entry if both belong together, and reports whether it did.
func (e *event) takes(next *event) bool {
	switch {
	case e.look != nil && next.look != nil && e.look.n() < maxLooks:
		e.look.add(next.look)
	case e.chains(next):
	case e.fold != "" && e.fold == next.fold:
		e.times++
		e.text = next.text
	default:
		return false
	}
	e.last = next.last
	e.open = next.open
	e.value = max(e.value, next.value)
	return true
}

// entryOf returns the index of the entry of a failed command, -1 if there is
// none.
func entryOf(log []event, command string) int {
	if command == "" {
		return -1
	}
	return slices.IndexFunc(log, func(e event) bool { return e.command == command })
}

// mostWrong is the maximum number of errors in the entry of one command.
const mostWrong = 4

// fails adds a later failure of the same command to an entry, which counts equal failures.
func (e *event) fails(next *event) {
	if e.times++; len(e.wrong) > 1 || !slices.Equal(e.wrong, next.wrong) {
		e.times = 1
	}
	for _, w := range next.wrong {
		if !slices.Contains(e.wrong, w) {
			if e.wrong = append(e.wrong, w); len(e.wrong) <= mostWrong {
				e.text += "; then " + stepID(next.first) + ": " + w
			}
		}
	}
	e.last, e.open, e.failed = next.last, next.open, next.failed
	e.value = max(e.value, next.value)
}

// events returns the entries of one call. settled means that another line of the summary
// reports the outcome.
func (c *Call) events(step int, settled bool) []event {
	one := func(text, fold string, value float64) []event {
		return []event{{first: step, last: step, text: text, fold: fold, value: value}}
	}
	switch d := c.deed(); {
	case d == deedPlan, d == deedSend, d == deedAsk, settled, !c.Answered, running(c.Result), c.stops() && c.shellID() != "":
		return nil
	case d == deedLook && c.searchedInVain():
		return []event{{first: step, last: step, look: &looks{vain: []string{c.vainSearch()}}, value: 0.02}}
	case d == deedLook && c.Outcome != Failed && c.shows() != "":
		return nil // returnedLines quotes its output
	case d == deedLook && c.Outcome != Failed:
		return []event{{first: step, last: step, look: c.looks(), value: 0.02}}
	case d == deedChange && c.changedNothing():
		return one("the edit of "+c.edits()+" changed nothing"+colon(c.wrong()), "", c.refusedValue())
	case d == deedChange && c.Outcome == Failed:
		return one("the edit of "+c.edits()+" was refused"+colon(c.wrong()), "", c.refusedValue())
	case d == deedChange:
		return one(c.changeEntry())
	case c.Outcome == Failed && d == deedLook && c.Exit == 1 && c.silent(): // nothing was found, or a condition is false
		return one(c.tell(), c.tell(), silentValue)
	case c.Outcome == Failed && d == deedLook:
		e := one(c.tell(), c.tell(), 0.9)
		e[0].ran, e[0].failed = c.Command(), c
		return e
	case c.Outcome == Failed:
		e := one(c.tell(), c.tell(), failedValue+0.4)
		e[0].ran, e[0].failed = c.Command(), c
		if w := c.wrong(); w != "" {
			e[0].command, e[0].wrong = c.words(), []string{w}
		}
		return e
	case c.Effect():
		return one(c.tell(), "", 0.8)
	case d == deedCall && thinks(c.Tool):
		return nil // saidLines quotes the thought
	case d == deedCall && len(digest(body(c.Result))) > 0 && !c.shortRecord():
		return nil // returnedLines offers the members
	case d == deedCall:
		e := one(c.tell(), "", calledValue)
		e[0].chain = c.echoes()
		return e
	case confirms(c.Result):
		return one(c.tell(), c.tell(), confirmedValue)
	}
	return one(c.tell(), c.tell(), ranValue)
}

// changeEntry returns the text, the key and the value of an entry about changed files.
func (c *Call) changeEntry() (text, fold string, value float64) {
	if c.tookBack() {
		return c.changed(), "", tookBackHere
	}
	if after := c.ranAfter(); after != "" || c.files[0].From != "" {
		return c.changed() + after, "", ranValue
	}
	return c.changed(), changedFold + c.files[0].Path, 0.2
}

// changedFold begins the keys of entries that only say that a file was changed.
const changedFold = "changed "

// refusedValue returns the value of a refused edit. It is higher if the user refused the
// edit with a reason.
func (c *Call) refusedValue() float64 {
	if c.objection() != "" {
		return failedValue + 0.4
	}
	return 0.6
}

// userSaid precedes the user's words in the result of a refused call.
const userSaid = "the user said:"

// objection returns the user's words about a call that they refused, "" if there are none.
func (c *Call) objection() string {
	if !refusedCall(c.Result) {
		return ""
	}
	_, said, _ := strings.Cut(c.Result, userSaid)
	return prose.Clip(prose.Squash(said), prose.MaxSentence)
}

// silentValue is the value of a look that failed and printed nothing.
const silentValue = 0.5

// Values of calls in the log that neither changed a file nor failed.
const (
	calledValue    = 0.35
	ranValue       = 0.3
	confirmedValue = 0.7 // the result confirms an effect
)

// confirms reports whether the first or the last line of an output confirms an effect:
// an object was made, closed or sent.
func confirms(result string) bool {
	text := strings.TrimSpace(body(result))
	first, _, _ := strings.Cut(text, "\n")
	return deedDone(first) || deedDone(prose.LastLine(text))
}

var doneHeads = []string{"✓", "✔", "✅", "created ", "closed ", "updated ", "merged ", "deleted ", "removed ", "published ", "deployed ", "uploaded ", "sent ", "saved ", "installed ", "started ", "stopped ",
	"successfully ", "[main ", "[master ", "switched to ", "to https://github.com/", "https://github.com/", "moved ", "wrote ", "written ", "generated ", "booked ", "registered ", "scheduled "}

func deedDone(line string) bool {
	return prose.BeginsAny(strings.ToLower(strings.TrimSpace(line)), doneHeads)
}

// edits names the files of an editor's call.
func (c *Call) edits() string {
	names := c.patchedFiles()
	if p := c.arg("file_path", "filePath", "path", "notebook_path", "target_file", "filename", "relative_path"); p != "" {
		names = prose.AppendNew(nil, p)
	}
	if len(names) == 0 {
		return "`" + c.Tool + "`"
	}
	return joinAnd(names[:min(len(names), 4)], "`")
}

// patchedFiles returns the files that the patches among the arguments of a call name.
func (c *Call) patchedFiles() (names []string) {
	for _, a := range c.Args {
		if patchArgs[a.Name] {
			for _, f := range fileops.OfPatch(a.Value) {
				names = prose.AppendNew(names, f.Path)
			}
		}
	}
	return names
}

// changed describes the changes of a call to files.
func (c *Call) changed() string {
	var out []string
	for i, f := range c.files {
		if f.Op < fileops.Edited {
			continue
		}
		if i >= 4 {
			out = append(out, fmt.Sprintf("%d more files", len(c.files)-i))
			break
		}
		if f.From != "" {
			out = append(out, "renamed `"+f.From+"` to `"+f.Path+"`")
			continue
		}
		out = append(out, f.Op.String()+" `"+f.Path+"`"+in(f.Funcs))
	}
	return strings.Join(out, " and ")
}

// ranAfter describes the last command of a line that changes files, if it neither changes nor
// only shows them: "sed -i … && ./run-tests.sh".
func (c *Call) ranAfter() string {
	cmd := shell.WithoutHeredocs(c.Command())
	if cmd == "" || len(c.Result) > maxReport || c.Effect() { // another line tells the effect
		return ""
	}
	parts := slices.Collect(checks.SimpleCommands(cmd))
	for len(parts) > 1 && prose.BeginsAny(strings.TrimSpace(parts[len(parts)-1]), []string{"tail", "head", "grep"}) && strings.Contains(cmd, "|") {
		parts = parts[:len(parts)-1]
	}
	last := strings.TrimSpace(parts[len(parts)-1])
	if len(parts) < 2 || looksOnly(strings.ToLower(last)+" ") || slices.ContainsFunc(fileops.SimpleOps(last), func(f fileops.Op) bool { return f.Op >= fileops.Edited }) || fileops.RunsScript(last) {
		return ""
	}
	words := c.lastWords()
	if words == "" {
		return ""
	}
	return ", then ran `" + shortCommand(last) + "`" + printed(words) + c.besides(words)
}

// in returns a suffix with the functions that a change touches.
func in(funcs []string) string {
	switch len(funcs) {
	case 0:
		return ""
	case 1:
		return " (in " + funcs[0] + ")"
	case 2:
		return " (in " + funcs[0] + " and " + funcs[1] + ")"
	}
	return fmt.Sprintf(" (in %s, %s and %d more)", funcs[0], funcs[1], len(funcs)-2)
}

// line returns the entry as a line of a summary.
func (e *event) line(x *nameIndex) string {
	text := e.text
	if e.look != nil {
		text = e.look.tell(x)
	}
	if e.times > 1 {
		text += fmt.Sprintf(" (%d times)", e.times)
	}
	return span(e.first, e.last) + " " + text
}

// span returns the citation of the steps from first to last.
func span(first, last int) string {
	if first == last {
		return stepID(first)
	}
	return "[s" + strconv.Itoa(first) + "–s" + strconv.Itoa(last) + "]"
}

// logLines returns the work log as lines.
func (h *History) logLines(section int) []Line {
	var out []Line
	for _, e := range h.workLog() {
		if e.look != nil && e.look.n() == 0 {
			continue
		}
		value := e.value * h.recency(e.last)
		if e.open {
			value = max(value, failedValue)
		}
		out = append(out, Line{Section: section, Text: e.line(h.index), Value: value, Order: e.first, routine: e.look != nil || strings.HasPrefix(e.fold, changedFold)})
	}
	out = append(append(out, h.handoffLines(section)...), h.blockLines(section)...)
	return append(out, h.saidLines(section)...)
}

// failing returns the commands whose last run failed, each with that run. It omits checks
// that passed later in another form.
func (h *History) failing() map[string]at {
	out := map[string]at{}
	failed := checks.Reruns{}
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			c := &h.Steps[i].Calls[k]
			cmd := c.Command()
			switch {
			case cmd == "" || !c.Answered:
			case c.Outcome == Failed:
				out[cmd] = at{i, k}
				if c.Check() {
					failed.Wait(cmd)
				}
			default:
				delete(out, cmd)
				if c.Outcome == OK && c.Check() {
					for _, settled := range failed.Settle(cmd) {
						delete(out, settled)
					}
				}
			}
		}
	}
	return out
}

// failedValue ranks failures above successes.
const failedValue = 2
