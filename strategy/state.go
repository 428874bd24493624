package strategy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
)

// standingLines say where things stand: the last result of each check, what
// sub-agents returned, what did not work, which instructions were given.
func (h *History) standingLines(section int) []Line {
	var out []Line
	mended := h.mended()
	for _, c := range h.checks() {
		text := c.call.tell()
		if c.before > 0 {
			text += ", after it had failed " + times(c.before)
		}
		value := passedValue * h.recency(c.step)
		cited := stepID(c.step)
		switch step := mended[c.call.Command()]; {
		case c.call.Outcome == Failed && step > c.step:
			value, cited = failedValue, cited+mendedSince(step)
		case c.call.Outcome == Failed:
			value = max((failedValue+1)*h.recency(c.step), failedValue)
		}
		out = append(out, Line{Section: section, Text: text + " " + cited, Value: value, Order: c.step})
	}
	out = append(out, h.proposalLines(section)...)
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			if line, value := s.Calls[k].standing(); line != "" {
				out = append(out, Line{Section: section, Text: line + " " + stepID(s.ID), Value: value * h.recency(s.ID), Order: s.ID})
			}
			out = append(out, h.reportLines(section, s, &s.Calls[k])...)
		}
		if s.Given != "" {
			out = append(out, Line{Section: section, Text: "a file of instructions was given: " + s.Given + " " + stepID(s.ID), Value: 0.4, Order: s.ID})
		}
		out = append(out, s.shownLines(section)...)
	}
	out = append(out, h.tookBackLines(section)...)
	for _, f := range h.vain() {
		out = append(out, Line{Section: section, Text: "did not work: " + f.Text + " " + stepID(f.Step), Value: f.Value, Order: f.Step})
	}
	return out
}

// passedValue is what it is worth that the last run of a check passed.
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

// A check is the last run of one command that tests, builds or lints, in
// whatever form.
type check struct {
	call   *Call
	step   int
	at     at
	before int // runs of it that failed before
}

// checks returns the last run of each check whose outcome is stated, in order.
func (h *History) checks() []check {
	var out []check
	waiting := map[string][]int{} // by the name of a run: whose result it replaces
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			c := &h.Steps[i].Calls[k]
			if c.deed() != Checking || c.Outcome != OK && c.Outcome != Failed {
				continue
			}
			now := check{call: c, step: h.Steps[i].ID, at: at{i, k}}
			own, covered := rerun(cmp.Or(c.Command(), c.name()))
			for _, was := range waiting[own] {
				if old := &out[was]; old.call != nil && (c.Outcome == OK || old.is(own)) {
					now.before += old.failures()
					old.call = nil
				}
			}
			for _, name := range covered {
				waiting[name] = append(waiting[name], len(out))
			}
			out = append(out, now)
		}
	}
	return slices.DeleteFunc(out, func(c check) bool { return c.call == nil })
}

// is reports whether a check has a name.
func (c *check) is(name string) bool {
	own, _ := rerun(cmp.Or(c.call.Command(), c.call.name()))
	return own == name
}

// failures are the runs that failed, this one among them.
func (c *check) failures() int {
	if c.call.Outcome == Failed {
		return c.before + 1
	}
	return c.before
}

// settled are the calls whose outcome stands among the checks.
func (h *History) settled() map[at]bool {
	out := map[at]bool{}
	for _, c := range h.checks() {
		out[c.at] = true
	}
	return out
}

// standing says what a sub-agent returned or what the user answered.
func (c *Call) standing() (string, float64) {
	switch c.deed() {
	case Sending:
		what := c.arg("description", "task", "message", "prompt", "input")
		if what == "" || !c.Answered || strings.TrimSpace(c.Result) == "" || strings.HasPrefix(c.Result, "Async agent launched") {
			return "", 0
		}
		if c.Outcome == Failed {
			return "the sub-agent for " + quoted(what, 80) + " failed" + colon(c.wrong()), 1.5
		}
		return "", 0 // its report is told sentence by sentence
	case AskingUser:
		what := c.arg("question", "questions", "text", "prompt")
		if what == "" || !c.Answered || c.Outcome == Failed || c.repeats() {
			return "", 0
		}
		return "asked " + quoted(what, 120) + ", the user answered: " + clip(squash(choice1(c.Result)), 300), 2
	}
	return "", 0
}

// newShare is how much of a result its arguments don't have where it is more than
// a repetition of them: one part in newShare.
const newShare = 4

// repeats reports whether a result only says again what the call was given: the
// tool puts the question to the user, and who answers does so in a message.
func (c *Call) repeats() bool {
	all := squash(c.Result)
	rest := all
	for _, a := range c.Args {
		if v := squash(a.Value); len(v) > 2 {
			rest = strings.ReplaceAll(rest, v, "")
		}
	}
	return len(rest) < len(all)/newShare
}

// choice1 is what the user answered, without what the harness says around it.
func choice1(result string) string {
	text := strings.TrimPrefix(result, "User has answered your questions: ")
	text, _, _ = strings.Cut(text, ". You can now continue with")
	if _, answer, ok := strings.Cut(text, `"="`); ok && strings.Count(text, `"="`) == 1 {
		return strings.TrimSuffix(answer, `"`)
	}
	return strings.ReplaceAll(text, `"="`, `" → "`)
}

func quoted(s string, n int) string { return "“" + cutText(squash(s), n) + "”" }

// reportLines offer what a sub-agent reported, sentence by sentence.
func (h *History) reportLines(section int, s *Step, c *Call) []Line {
	if c.deed() != Sending || c.Outcome == Failed {
		return nil
	}
	what := c.arg("description", "task", "message", "prompt", "input")
	if what == "" || !c.Answered || strings.TrimSpace(c.Result) == "" || strings.HasPrefix(c.Result, "Async agent launched") {
		return nil
	}
	b := quoting{h: h, step: s, section: section, first: true, factor: h.recency(s.ID), value: answerValue, most: mostAnswered,
		group: stepID(s.ID) + " the sub-agent for " + quoted(what, 80) + " reported"}
	passages(body(c.Result), b.answered)
	if len(b.out) == 0 {
		b.offer(cutText(squash(body(c.Result)), maxPassage))
	}
	b.out[0].Value = max(b.out[0].Value, reportValue*b.factor)
	return b.out
}

// reportValue is what the first sentence of a sub-agent's report is worth.
const reportValue = 1.5

// vainWords stand in sentences about what was tried in vain.
var vainWords = []string{"didn't work", "doesn't work", "did not work", "does not work", "didn't help", "did not help", "no effect", "reverting", "reverted", "not the cause",
	"wrong approach", "that's not it", "still fails", "still failing", "won't work", "can't be used", "not possible", "backfired", "made it worse", "没有用", "无效", "失败了"}

// vainValue is what it is worth that something was tried in vain.
const vainValue = 0.8

// supposes reports whether a sentence speaks of what may be.
func supposes(low string) bool {
	return beginsAny(low, []string{"if ", "what if", "wait", "maybe", "perhaps", "but if", "let me", "i wonder"}) || hasAny(low, []string{" if ", "might", " when it "})
}

// vain returns the sentences about what was tried and did not work.
func (h *History) vain() []Fact {
	var out []Fact
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant {
			continue
		}
		n, open := 0, false
		sentences(s.Text, func(t string, heading bool) {
			low := strings.ToLower(t)
			if k := len(out) - 1; open && !heading && !leads(t) && !narrates(t) && len(out[k].Text)+len(t) < reasonLength {
				out[k].Text += " " + squash(t) // why
			}
			if open = false; !heading && n < 2 && len(t) > 25 && !leads(t) && !supposes(low) && hasAny(low, vainWords) {
				n++
				out = append(out, Fact{s.ID, clip(squash(t), maxSentence), vainValue * h.recency(s.ID)})
				open = true
			}
		})
	}
	return out
}

// maxShown is how many lines quote one pasted text, and shownTogether how much
// of it stands on one of them, in bytes.
const (
	maxShown      = 30
	shownTogether = 360
)

// shownLines quote what was pasted or given as a file, as what it is: it says
// so, nobody asks for it.
func (s *Step) shownLines(section int) []Line {
	if s.Shown == "" {
		return nil
	}
	what := "the pasted text says: "
	if s.Given != "" {
		what = "the file of instructions says: "
	}
	var out []Line
	text := ""
	flush := func() {
		if text != "" {
			out = append(out, Line{Section: section, Text: what + text + " " + stepID(s.ID), Value: 0.1, Order: s.ID})
		}
		text = ""
	}
	sentences(s.Shown, func(t string, heading bool) {
		if heading || quality(t) < 0.6 || len(out) >= maxShown || strings.Contains(s.Text, t) {
			return
		}
		t = clip(squash(t), maxSentence)
		if len(text)+len(t) > shownTogether {
			flush()
		}
		text = strings.TrimSpace(text + " " + t)
	})
	flush()
	return out
}
