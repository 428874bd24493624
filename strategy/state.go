package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// checkLines returns lines with the last result of each check.
func (h *History) checkLines(section int) []Line {
	var out []Line
	mended, pardons := h.mended(), h.pardons()
	all := h.checks()
	for i, c := range all {
		text := c.call.tell()
		text += c.hadFailed()
		value := passedValue * h.recency(c.step)
		if i == len(all)-1 {
			value = max(value, lastCheckValue) // without this line, failures that were mended since would read as the last state
		}
		cited := stepID(c.step)
		switch step, other := mended[c.call.Command()], h.insteadOf(&c); {
		case other > 0:
			cited += elsewhere(other)
		case c.call.Outcome == Failed && step > c.step:
			value, cited = failedValue, cited+mendedSince(step)
		case c.again > 0:
			cited += "; it ran again" + c.came + " " + stepID(c.again)
		case c.call.Outcome == Failed:
			note, done := h.partsSince(&c)
			if value = max((failedValue+1)*h.recency(c.step), failedValue); done {
				value = settledValue
			}
			cited += note + pardons.of(c.step, c.call)
		}
		out = append(out, Line{Section: section, Text: text + " " + cited, Value: value, Order: c.step})
	}
	return out
}

// lastCheckValue is the least value of the last check: it is above the value of a mended
// failure.
const lastCheckValue = failedValue + 0.1

// heardLines returns lines about answers of the user and reports of sub-agents. They are
// in the log, because the assistant can have corrected a report right after it, and the
// user can have changed an answer later.
func (h *History) heardLines(section int) []Line {
	out := h.proposalLines(section)
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			out = append(out, h.reportLines(section, s, &s.Calls[k])...)
		}
	}
	return out
}

// standingLines returns lines about the state of the work: conclusions, failures of
// sub-agents, files of instructions, pasted texts, background tasks, attempts that were
// taken back, and changes since the last commit.
func (h *History) standingLines(section int) []Line {
	out := h.conclusionLines(section)
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			if line, value := s.Calls[k].standing(); line != "" {
				out = append(out, Line{Section: section, Text: line + " " + stepID(s.ID), Value: value * h.recency(s.ID), Order: s.ID})
			}
		}
		if s.Given != "" {
			out = append(out, Line{Section: section, Text: "a file of instructions was given: " + s.Given + " " + stepID(s.ID), Value: 0.4, Order: s.ID})
		}
		out = append(out, s.shownLines(section)...)
	}
	out = append(append(out, h.backgroundLines(section)...), h.processLines(section)...)
	return append(append(out, h.tookBackLines(section)...), h.uncommittedLines(section)...)
}

// passedValue is the value of a line about a check that passed.
const passedValue = 1.6

func times(n int) string {
	switch n {
	case 1:
		return "once"
	case 2:
		return "twice"
	}
	return itoa(n) + " times"
}

// A check is the last run of a command that tests, builds or lints, in any form.
type check struct {
	call   *Call
	step   int
	at     at
	before past   // earlier runs that failed
	again  int    // step of a later run whose outcome is not stated; 0 = none
	came   string // description of the end of that later run

	all, left []checks.Covering // checks of the command, and the checks that have not passed since
}

// checks returns the last run of each check whose outcome is stated, in order.
func (h *History) checks() []check {
	var out []check
	waiting := map[string][]int{} // name of a run → indexes of the results that it replaces
	quiet := h.statesOnlyFailures()
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			c := &h.Steps[i].Calls[k]
			if c.deed() != deedCheck || !c.Answered || running(c.Result) {
				continue
			}
			if c.Outcome != OK && c.Outcome != Failed {
				again(out, c, waiting, h.Steps[i].ID, quiet)
				continue
			}
			now := check{call: c, step: h.Steps[i].ID, at: at{i, k}}
			now.all = c.checks()
			now.left = now.all
			for _, part := range now.all {
				for _, was := range waiting[part.Own] {
					if old := &out[was]; old.call != nil && old.gone(&now, part.Own) {
						now.before.add(old, &now)
						old.call = nil
					}
				}
			}
			for _, part := range now.all {
				for _, name := range part.Covered {
					waiting[name] = append(waiting[name], len(out))
				}
			}
			out = append(out, now)
		}
	}
	return slices.DeleteFunc(out, func(c check) bool { return c.call == nil })
}

// again records that the checks of a call ran once more at a step, without a stated
// outcome.
func again(all []check, c *Call, waiting map[string][]int, step int, quiet bool) {
	names, came := checks.Of(c.Command()), ", with no outcome stated"
	switch {
	case c.silent():
		came = " and printed nothing"
	case c.endedWell(quiet) == ranWell:
		came = " without an error"
	}
	for _, part := range names {
		for _, i := range waiting[part.Own] {
			if all[i].call != nil && checks.Same(all[i].all, names) {
				all[i].again, all[i].came = step, came
			}
		}
	}
}

// gone reports whether the result of a later run replaces the result of c: the later run
// made the same checks, or all checks of c have passed since.
func (c *check) gone(now *check, own string) bool {
	if checks.Same(c.all, now.all) {
		return true
	}
	if now.call.Outcome == OK {
		c.left = checks.NotPassed(c.left, own)
	}
	return len(c.left) == 0
}

// settled returns the calls that checks returns.
func (h *History) settled() map[at]bool {
	out := map[at]bool{}
	for _, c := range h.checks() {
		out[c.at] = true
	}
	return out
}

// standing describes an answer of the user or the failure of a sub-agent, with the value
// of the line.
func (c *Call) standing() (string, float64) {
	switch c.deed() {
	case deedSend:
		what := c.task()
		if what == "" || !c.Answered || strings.TrimSpace(c.Result) == "" || c.startsAgent() {
			return "", 0
		}
		if c.Outcome == Failed {
			return subAgent(what) + " failed" + colon(c.wrong()), 1.5
		}
		return "", 0 // reportLines quotes its report
	case deedAsk:
		what := c.arg("question", "questions", "q", "text", "prompt", "message")
		if what == "" || !c.Answered || c.Outcome == Failed || c.repeats() || strings.TrimSpace(userAnswer(c.Result)) == "" {
			return "", 0
		}
		if pairs := c.askedAnswers(); pairs != "" {
			return pairs, 2
		}
		return "asked " + prose.Quoted(what, 120) + ", the user answered: " + prose.Clip(prose.Squash(userAnswer(c.Result)), 300), 2
	}
	return "", 0
}

// newShare defines when a result repeats its arguments: if less than 1/newShare of the
// result is new.
const newShare = 4

// repeats reports whether a result only repeats the arguments. In this case, the tool only
// shows the question, and the user answers in a message.
func (c *Call) repeats() bool {
	all := prose.Squash(c.Result)
	rest := all
	for _, a := range c.Args {
		if v := prose.Squash(a.Value); len(v) > 2 {
			rest = strings.ReplaceAll(rest, v, "")
		}
	}
	return len(rest) < len(all)/newShare
}

// userAnswer returns the user's answer without the harness's text around it.
func userAnswer(result string) string {
	text := strings.TrimPrefix(result, "User has answered your questions: ")
	text, _, _ = strings.Cut(text, ". You can now continue with")
	if answer, ok := strings.CutPrefix(text, "<answer>"); ok {
		return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(answer), "</answer>"))
	}
	if _, answer, ok := strings.Cut(text, `"="`); ok && strings.Count(text, `"="`) == 1 {
		return strings.TrimSuffix(answer, `"`)
	}
	return strings.ReplaceAll(text, `"="`, `" → "`)
}

// reportLines returns the sentences of a sub-agent's report as lines.
func (h *History) reportLines(section int, s *Step, c *Call) []Line {
	if c.deed() != deedSend || c.Outcome == Failed {
		return nil
	}
	what := c.task()
	if what == "" || !c.Answered || strings.TrimSpace(c.Result) == "" || c.startsAgent() {
		return nil
	}
	b := quoting{h: h, step: s, section: section, first: true, factor: h.recency(s.ID), value: answerValue, most: mostAnswered,
		group: stepID(s.ID) + " " + subAgent(what) + " reported"}
	report := withoutUsage(body(c.Result))
	passages(report, b.answered)
	if len(b.out) == 0 {
		b.offer(prose.CutText(prose.Squash(report), maxPassage))
	}
	// The first sentences mostly say that a report follows.
	b.out = b.out[max(0, slices.IndexFunc(b.out, func(l Line) bool { return !narrates(l.Text) })):]
	b.out[0].Value = max(b.out[0].Value, reportValue*b.factor)
	if list, files := reportFiles(report); list != "" {
		b.out = append(b.out, Line{Section: section, Text: stepID(s.ID) + " " + subAgent(what) + " named these files: " + list, Value: reportValue * b.factor, Order: s.ID, Names: files})
	}
	return b.out
}

// withoutUsage removes the lines in which a harness counts what a sub-agent used.
func withoutUsage(report string) string {
	if at := strings.LastIndex(report, "<usage>"); at >= 0 && strings.Contains(report[at:], "</usage>") {
		report = report[:at]
	}
	lines := strings.Split(strings.TrimRight(report, " \n"), "\n")
	if n := len(lines); n > 1 && strings.HasPrefix(lines[n-1], "agentId: ") {
		lines = lines[:n-1]
	}
	return strings.Join(lines, "\n")
}

// reportValue is the value of the first sentence of a sub-agent's report.
const reportValue = 1.5

// maxShown is the maximum number of lines that quote one pasted text, and maxGiven the
// maximum for a file of instructions. shownTogether is the maximum number of quoted bytes
// in a line.
const (
	maxShown      = 30
	maxGiven      = 6
	shownTogether = 360
)

// Introductions of lines that quote a pasted text or a file of instructions.
const (
	pasteSays = "the pasted text says: "
	givenSays = "the file of instructions says: "
)

// shownLines returns lines that quote a pasted text or a file of instructions. Their
// introduction marks them, because they are not requests of the user. If sentences of a
// file of instructions read like rules, only these are quoted. The sentence that leads to
// a list precedes the items, because it can forbid them.
func (s *Step) shownLines(section int) []Line {
	switch {
	case s.Shown == "":
		return nil
	case s.Given == "":
		return s.quoteShown(shownQuoter{step: s, section: section, what: pasteSays, most: maxShown})
	}
	q := shownQuoter{step: s, section: section, what: givenSays, most: maxGiven, rules: true}
	if out := s.quoteShown(q); len(out) > 0 {
		return out
	}
	q.rules = false
	return s.quoteShown(q)
}

func (s *Step) quoteShown(q shownQuoter) []Line {
	q.typed, q.alike = unmarkedText(s.Text), map[string]int{}
	prose.EachSentence(s.Shown, q.add)
	q.flush()
	return q.out
}

// unmarkedText returns a text without the marks that sentences do not have.
func unmarkedText(text string) string { return prose.Squash(strings.ReplaceAll(text, "**", "")) }

// A shownQuoter collects the lines that quote a text.
type shownQuoter struct {
	step    *Step
	section int
	what    string
	most    int
	rules   bool           // only sentences with a rule
	typed   string         // the words of the user in the same message, which need no quotation
	alike   map[string]int // number of sentences by form

	out     []Line
	text    string
	lead    string // sentence that leads to the list
	told    string // lead that the line already contains
	gap     bool   // sentences were omitted since the last quoted sentence
	example bool   // under a heading of an example
}

func (q *shownQuoter) add(one prose.Sentence) {
	t := one.Text
	if one.Heading {
		q.example, q.lead, q.gap = strings.Contains(strings.ToLower(t), "example"), "", true
		return
	}
	if strings.HasSuffix(t, ":") {
		q.lead, q.gap = t, true
		return
	}
	lead := q.lead
	if !one.Item {
		lead, q.lead = "", ""
	}
	if q.example || strings.Contains(strings.ToLower(lead), "example") || quality(t) < 0.6 && lead == "" || lineKind(t) == "log" || len(q.out) >= q.most || strings.Contains(q.typed, prose.Squash(t)) ||
		q.rules && rules.BindsInFile(t) == 0 && rules.Binds(lead) == 0 {
		q.gap = true
		return
	}
	if form := withoutDigits(t); q.alike[form] == mostAlike {
		q.gap = true
		return
	} else {
		q.alike[form]++
	}
	if len(q.text)+len(t) > shownTogether {
		q.flush()
	}
	t = prose.Clip(prose.Squash(q.led(lead, one.Later)+t), prose.MaxSentence)
	switch {
	case q.text == "":
	case q.gap:
		q.text += " … "
	case closed(q.text):
		q.text += " "
	case !one.Item:
		q.text += ". "
	default:
		q.text += "; "
	}
	q.text, q.gap = q.text+t, false
}

// led returns the text before an item: the sentence that leads to the list, once in a
// line. A mark of omission follows if the quoted sentence is not the item's first.
func (q *shownQuoter) led(lead string, later bool) string {
	if lead == "" || q.told == lead {
		return ""
	}
	if q.told = lead; later {
		return lead + " … "
	}
	return lead + " "
}

func (q *shownQuoter) flush() {
	if q.text != "" {
		q.out = append(q.out, Line{Section: q.section, Text: q.what + q.text + " " + stepID(q.step.ID), Value: 0.1, Order: q.step.ID})
	}
	q.text, q.told = "", ""
}
