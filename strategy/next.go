package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// nextLines returns lines about the next steps: a request without a reply, the step
// announced last, a check that fails, a question without an answer, the assistant's
// last list, and the work that it called open.
func (h *History) nextLines(section int) []Line {
	var out []Line
	add := func(f fact, prefix string) {
		if f.Text != "" {
			out = append(out, Line{Section: section, Text: prefix + f.Text + " " + stepID(f.Step), Value: f.Value, Order: f.Step})
		}
	}
	add(h.inWork(), "in work: ")
	add(h.waiting(), notReplied)
	announced, how := h.announcedHow()
	add(announced, how)
	add(h.lastLook(), "")
	add(h.remaining(), "announced with it, and not begun in this part: ")
	if f := h.stillFailing(); f.Step != announced.Step { // the line of the announced step states the failure already
		add(f, "its last run failed: ")
	}
	question := h.unanswered()
	add(question, h.questionHow(question.Step))
	add(h.lastList(), writtenPlan)
	for _, f := range h.next() {
		if f.Text == announced.Text {
			continue
		}
		add(f, stillOpen)
	}
	return out
}

// announcedHow returns the step that was announced last, with its introduction.
// It returns nothing if the step was run and other steps followed, or if later calls
// carried it out.
func (h *History) announcedHow() (fact, string) {
	f := h.announced()
	acts := h.actsOn(f.Step)
	switch begun := h.begun(acts); {
	case f.Text == "" || begun && h.wentOn(acts) || !begun && h.ledOn(f):
		return fact{}, ""
	case begun:
		f.Text += h.cameOut(acts)
		return f, "the last step: "
	case h.answeredSince(f.Step):
		return f, "announced last, before the user spoke again: "
	default:
		return f, "announced last: "
	}
}

// wentOn reports whether anybody acted or wrote after a step.
func (h *History) wentOn(step int) bool {
	for i := len(h.Steps) - 1; i >= 0 && h.Steps[i].ID > step; i-- {
		if s := &h.Steps[i]; len(s.Calls) > 0 || s.Text != "" {
			return true
		}
	}
	return false
}

// mostOutcomes is the maximum number of calls of the last step whose outcome a
// line states.
const mostOutcomes = 2

// cameOut describes the outcome of the calls of a step, as a suffix.
func (h *History) cameOut(step int) string {
	s := h.step(step)
	if s == nil {
		return ""
	}
	var out []string
	for k := range s.Calls {
		c := &s.Calls[k]
		text := ""
		switch d := c.deed(); {
		case d == deedPlan || d == deedSend || d == deedAsk || running(c.Result):
		case d == deedLook && c.Outcome != Failed: // one line of the output says little
			text = "looked with " + c.name()
		case d == deedChange && c.Outcome != Failed:
			text = c.changed() + c.ranAfter()
		default:
			text = c.tell()
		}
		if text != "" && len(out) < mostOutcomes {
			out = append(out, text)
		}
	}
	if len(out) == 0 {
		return ""
	}
	return " — " + strings.Join(out, "; ")
}

// step returns the step with a number, nil if there is none.
func (h *History) step(id int) *Step {
	for i := range h.Steps {
		if h.Steps[i].ID == id {
			return &h.Steps[i]
		}
	}
	return nil
}

// thens separate the action of a step from actions announced for later.
var thens = []string{", then i'll ", ", then i’ll ", ", then i will ", " and then i'll ", " and then i’ll ", " and then i will "}

// remaining returns the work that the last step announced for the time after it, if the
// step made one call and nothing followed.
func (h *History) remaining() fact {
	f := h.announced()
	s := h.step(f.Step)
	if s == nil || len(s.Calls) != 1 || !h.begun(f.Step) || h.wentOn(f.Step) {
		return fact{}
	}
	low := strings.ToLower(f.Text)
	for _, then := range thens {
		if i := strings.Index(low, then); i >= 0 && len(low) == len(f.Text) {
			return fact{f.Step, f.Text[i+len(then):], announcedValue}
		}
	}
	return fact{}
}

// stillFailing returns the check that failed last, unless a later run settled the
// failure or the session continued with other work.
func (h *History) stillFailing() fact {
	mended := h.mended()
	all := h.checks()
	for i := len(all) - 1; i >= 0; i-- {
		c := all[i].call
		if h.wentOver(all[i].step) {
			return fact{}
		}
		if c.Outcome == Failed && all[i].again == 0 && !refusedCall(c.Result) && !c.misspelled() && mended[c.Command()] <= all[i].step {
			note, done := h.partsSince(&all[i])
			if done {
				continue
			}
			pardons := h.pardons()
			return fact{all[i].step, c.name() + note + pardons.of(all[i].step, c), announcedValue - 1}
		}
	}
	return fact{}
}

// laterRequests is the number of later user messages after which a failure no longer
// counts as a next step.
const laterRequests = 3

// wentOver reports whether a session left a failed check unsettled after a step: a
// commit was made since, or the user spoke several times.
func (h *History) wentOver(step int) bool {
	spoke := 0
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.ID <= step {
			continue
		}
		if s.user() && s.Text != "" {
			spoke++
		}
		for k := range s.Calls {
			if c := &s.Calls[k]; c.commits() && c.Effect() && c.showsCommit() {
				return true
			}
		}
	}
	return spoke >= laterRequests
}

// showsCommit reports whether an output has git's line about a new commit.
func (c *Call) showsCommit() bool {
	for line := range strings.Lines(c.Result) {
		if committed(strings.TrimSpace(line)) {
			return true
		}
	}
	return false
}

// lastQuestion returns the last question of a text, "" for none. A question that ends a list
// is the whole list, with the line before it: "Would you like to: 1. cancel, or 2. change?".
func lastQuestion(text string) string {
	question := ""
	prose.Sentences(text, func(t string, _ bool) {
		if strings.HasSuffix(t, "?") || strings.HasSuffix(t, "？") {
			question = t
		}
	})
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	end := slices.IndexFunc(lines, func(line string) bool { return question != "" && strings.HasSuffix(line, question) })
	from := end
	for from > 0 && isItem(lines[from]) {
		from--
	}
	if from < end && strings.HasSuffix(lines[from], ":") {
		question = strings.Join(lines[from:end+1], " ")
	}
	return prose.Clip(prose.Squash(question), prose.MaxSentence)
}

// questionHow returns the introduction of an unanswered question. The user's message that
// follows the summary is not an answer if it was written before the question.
func (h *History) questionHow(step int) string {
	if h.asked != "" && (h.order.since == 0 || step < h.order.since) {
		return "asked the user last, whose next message follows this block: "
	}
	return "asked the user, and no answer stands in this part: "
}

// waiting returns the newest request if the assistant has replied only with calls and
// the text beside the calls. It returns nothing if a request stays in view, because the
// visible request may be newer.
func (h *History) waiting() fact {
	if h.asked != "" {
		return fact{}
	}
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		switch {
		case s.Role == message.RoleAssistant && s.Speaker == "" && s.Text != "" && s.onlySpeaks():
			return fact{}
		case s.user() && s.Text != "":
			if len(wanted(s.ID, s.Text)) > 0 && len(h.goals()) > 0 {
				return fact{s.ID, newestHere, announcedValue}
			}
			if rules.OnlyForbids(s.Text) {
				continue // the work on the previous request continues
			}
			return fact{}
		}
	}
	return h.stillWaiting()
}

// inWork returns the request that follows the summary, if the summary covers work on this
// request.
func (h *History) inWork() fact {
	if h.order.since == 0 || !h.order.typed {
		return fact{}
	}
	return fact{h.order.since, "the user's message right after this block, since", announcedValue + 1}
}

// Introductions of lines about next steps that more than one function uses.
const (
	stillOpen   = "said to be still open: "
	writtenPlan = "a plan that the assistant wrote, which later steps may have carried out: "
)

// Text of a request without a reply. The section of the user's words quotes the request.
const (
	notReplied = "not replied to in this part: "
	newestHere = "the newest request"
)

// stillWaiting returns the request that the previous summary reports as not
// replied to.
func (h *History) stillWaiting() (f fact) {
	h.Previous.all(func(lines []string) []string {
		for _, l := range lines {
			if rest, ok := strings.CutPrefix(l, notReplied); ok {
				f = fact{lastStep(rest), withoutSteps(rest), announcedValue}
			}
		}
		return lines
	})
	return f
}

// announcements lists beginnings of sentences that announce a step.
var announcements = []string{"i'll ", "i will ", "i'm going to ", "i am going to ", "let me ", "let's ", "now let me ", "now i'll ", "now i ", "now let's ", "next,", "next:", "next i", "i have to ", "next step", "i need to ", "i should ",
	"going to ", "then i'll", "first, i'll ", "first i'll", "now ", "next ", "接下来", "现在", "让我", "次に", "これから", "als nächstes ", "ich werde ", "je vais ", "ensuite, je ", "ensuite je ", "voy a ", "a continuación", "vou ", "sto per "}

// nextUp lists words within such sentences in other languages: "Ich binde das als Nächstes an".
var nextUp = []string{" als nächstes ", " je m'en occupe maintenant", " ensuite je "}

// refrains lists beginnings of sentences that announce that something is not done.
var refrains = []string{"i will not ", "i won't ", "i'll not ", "i'm not going to ", "i am not going to ", "let's not ", "now i won't ", "now i will not ", "i have to admit", "i have to say", "i have to confess", "i have to disagree", "ich werde nicht ", "ich werde das nicht "}

// describes reports whether a sentence that begins with "now" describes a present
// behavior: "Now searches the main branch first". "Now tests" announces a step.
func describes(low string) bool {
	rest, ok := strings.CutPrefix(low, "now ")
	verb := strings.TrimRight(firstField(rest), ",.:")
	if ok && slices.Contains(statedOf, verb) {
		return true
	}
	return ok && len(verb) > 3 && strings.HasSuffix(verb, "s") && !strings.HasSuffix(verb, "ss") && !slices.Contains([]string{"let's", "this", "tests", "docs", "changes", "types"}, verb)
}

// statedOf lists words that begin a statement after "now": "now it is done".
var statedOf = []string{"it", "it's", "that", "that's", "there", "there's", "everything", "all", "both", "they", "you", "only", "he", "she"}

// announces reports whether a sentence announces a step.
func announces(t string) bool {
	low := strings.ReplaceAll(strings.ToLower(t), "’", "'")
	if describes(low) || strings.HasPrefix(low, "let me know") || strings.HasPrefix(low, "next speaker") || prose.BeginsAny(low, refrains) {
		return false
	}
	return prose.BeginsAny(low, announcements) || strings.Contains(low, ", then i'll ") || prose.HasAny(low, nextUp) || atIt(low)
}

// states lists verbs of states, which are not activities.
var states = []string{"seeing", "thinking", "wondering", "noticing", "assuming", "hoping", "having", "missing", "guessing", "being", "feeling", "considering", "leaning", "relying", "suspecting"}

// atIt reports whether a sentence states the speaker's present activity: "I'm marking
// the task as done".
func atIt(low string) bool {
	for _, head := range []string{"i'm ", "i am ", "now i'm "} {
		rest, ok := strings.CutPrefix(low, head)
		if !ok {
			continue
		}
		verb, _, _ := strings.Cut(strings.TrimPrefix(rest, "now "), " ")
		return strings.HasSuffix(verb, "ing") && !slices.Contains(states, verb)
	}
	return false
}

// announced returns the sentence in which the assistant last announced a step.
func (h *History) announced() fact {
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant || s.Text == "" || s.recap() || browserReport(s.Text) {
			continue
		}
		last, after := "", 0
		prose.EachSentence(s.Text, func(one prose.Sentence) {
			t := one.Text
			after += len(t)
			if _, rest, ok := strings.Cut(t, ". "); ok && !announces(t) {
				t = rest // "Good catch. Let me look again"
			}
			if one.Item && s.onlySpeaks() && prose.BeginsAny(strings.ToLower(t), []string{"now "}) {
				return // an item of a report describes the present state
			}
			if !one.Heading && len(t) > 8 && announces(t) && (len(s.Calls) > 0 || !strings.HasSuffix(t, ":")) {
				last, after = t, 0
			}
		})
		if last != "" && !(s.onlySpeaks() && after > longFollow && prose.BeginsAny(strings.ToLower(last), []string{"let me ", "now let me ", "让我"})) {
			return fact{s.ID, prose.Clip(prose.Squash(last), prose.MaxSentence), announcedValue}
		}
	}
	return fact{}
}

// longFollow is the number of bytes after an announcement in an answer: the answer itself
// carries it out. "Let me add that up: …"
const longFollow = 200

// begun reports whether a step has calls and all of them were answered. Then the
// announced work was done, or at least tried.
func (h *History) begun(step int) bool {
	s := h.step(step)
	return s != nil && s.begun()
}

func (s *Step) begun() bool {
	for k := range s.Calls {
		if !s.Calls[k].Answered {
			return false
		}
	}
	return len(s.Calls) > 0
}

// answeredSince reports whether the user wrote something after a step.
func (h *History) answeredSince(step int) bool {
	for i := len(h.Steps) - 1; i >= 0 && h.Steps[i].ID > step; i-- {
		if s := &h.Steps[i]; s.user() && s.Text != "" {
			return true
		}
	}
	return false
}

// announcedValue ranks the next step above plain facts.
const announcedValue = 5

// unanswered returns the question at the end of the history, if the history ends with one.
func (h *History) unanswered() fact {
	for i := len(h.Steps) - 1; i >= 0; i-- {
		s := &h.Steps[i]
		if s.user() && s.Text != "" {
			return fact{}
		}
		for k := range s.Calls {
			if c := &s.Calls[k]; c.deed() == deedAsk && !c.Answered {
				return fact{s.ID, prose.Quoted(c.arg("question", "questions", "text", "prompt"), 200), announcedValue}
			}
		}
		if len(s.Calls) > 0 {
			return fact{} // the assistant went on without an answer
		}
		if s.Role != message.RoleAssistant || s.Text == "" {
			continue
		}
		return fact{s.ID, lastQuestion(s.Text), announcedValue}
	}
	return fact{}
}
