package strategy

import (
	"cmp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// decisionLog records the decisions, step by step.
var decisionLog = register(Strategy{
	Name: "decision_log",
	Sections: []Section{
		{Title: "Decision log", Share: 0.4},
		{Title: "Open questions", Share: 0.12},
	},
	Instructions: `Record the decisions in the order in which they were made, one line each:
[step_id] decision :: rationale :: inputs (brief) :: outputs (brief)
The step_id is that of the history ([s12]). A part that the history does not give is a dash. Under "Open questions" goes what was left undecided; every item begins with [open], [blocked] or [done].`,
	Examples: []Example{
		{
			History: `[s1] user: The import is too slow.
[s2] assistant: Profiling first.
    calls bash "go test -bench Import ./importer" → exit 0, 6 lines
    BenchmarkImport-8 812 ms/op
[s3] assistant: I'll batch the inserts because each row is its own transaction.
    calls edit importer/store.go → ok, 1 line
[s4] assistant: calls bash "go test -bench Import ./importer" → exit 0, 6 lines
    BenchmarkImport-8 74 ms/op`,
			Summary: `## Decision log
- [s2] measure before changing :: the import is too slow :: go test -bench Import ./importer :: 812 ms/op
- [s3] batch the inserts :: each row was its own transaction :: importer/store.go :: 74 ms/op [s4]`,
		},
		{
			History: `[s5] user: Which queue do we take?
[s6] assistant: calls web_search "managed queue ordering guarantees" → ok, 30 lines
[s7] assistant: SQS FIFO instead of Kafka, since we need ordering per account and nobody wants to run brokers. Not decided yet: the retention.`,
			Summary: `## Decision log
- [s7] SQS FIFO instead of Kafka :: ordering per account, no brokers to run :: web search on ordering guarantees [s6] :: -
## Open questions
- [open] the retention of the queue [s7]`,
		},
	},
	Extract: extractDecisions,
})

// logFiles is the index of the section in which this strategy lists files:
// "Where things stand".
const logFiles = 3

func extractDecisions(h *History) []Line {
	var out []Line
	since := h.laterNotes()
	for i := range h.Steps {
		s := &h.Steps[i]
		if s.Role != message.RoleAssistant {
			continue
		}
		if text, value := h.logLine(i, since); text != "" {
			out = append(out, Line{Section: 0, Text: text, Value: value * h.recency(s.ID), Order: s.ID})
		}
	}
	out = append(out, h.selectionLines(0, selection.logged)...)
	out = append(out, h.planLines(1)...)
	return append(out, h.fileLines(logFiles)...)
}

// logLine returns a step as "[s12] decision :: rationale :: inputs :: outputs", and the
// value of that line. It returns "" for a step that only looks something up. since has the
// notes about what happened to effects later.
func (h *History) logLine(i int, since map[*Call]string) (string, float64) {
	s := &h.Steps[i]
	decision, why, value := h.decide(i)
	against := h.against(fact{s.ID, decision, value})
	if len(s.Calls) > 0 && claims(decision) {
		decision, value, against = "", 0, "" // the sentence would read as the outcome of these calls
	}
	if decision == "" || s.recap() {
		against = ""
	} else if against != "" {
		value = max(value, takenBackValue)
	}
	var in, out []string
	acts := 0.0
	for k := range s.Calls {
		c := &s.Calls[k]
		if k < maxLogCalls {
			in = append(in, c.name())
			if text := c.outcomeText(); text != "" {
				out = append(out, text+since[c])
			}
		}
		acts = max(acts, c.acts())
	}
	if decision == "" {
		if !slices.ContainsFunc(s.Calls, func(c Call) bool { return c.Effect() }) {
			return "", 0 // other lines report edits and commands without a reason
		}
		decision, in = strings.Join(in, "; "), nil
		if said := purpose(withoutQuotes(s.Text)); why == "" && !claims(said) {
			why = prose.Clip(prose.Squash(said), prose.MaxSentence)
		}
	}
	if value += acts; value == 0 {
		return "", 0
	}
	line := strings.Join([]string{part(decision), part(why), part(strings.Join(in, "; ")), part(strings.Join(out, "; "))}, " :: ")
	return stepID(s.ID) + " " + line + against, value
}

// maxLogCalls is the maximum number of calls that the line of a step names.
const maxLogCalls = 3

// acts returns the value of a call that changes or checks something, 0 for a call that
// only looks.
func (c *Call) acts() float64 {
	switch {
	case c.Effect():
		return 1.5
	case len(c.files) > 0 && c.files[0].Op >= fileops.Edited:
		return 0.5
	case c.Check():
		return 0.35
	}
	return 0
}

// part removes the separator from a part of a log line. An empty part becomes a
// dash.
func part(s string) string {
	if s = strings.TrimSpace(strings.ReplaceAll(s, "::", ":")); s == "" {
		return "-"
	}
	return s
}

// decide returns the strongest decision among the sentences of a step, its reason and its
// value. The reason comes from the same sentence, or else from another sentence that
// concludes or gives a reason. If the step only concludes, decide returns the conclusion
// in place of a decision, and marks it as a conclusion.
func (h *History) decide(i int) (decision, why string, value float64) {
	s := &h.Steps[i]
	text := withoutQuotes(s.Text)
	if text == "" && s.acts() { // before a look, the reasoning only supposes
		text = s.Reasoning
	}
	var chosen, cause, reason weighed
	open := h.leavesChoice(i)
	prose.EachSentence(text, func(one prose.Sentence) {
		t := one.Text
		v := decides(t)
		switch {
		case one.Heading || v == 0 || guesses(t) || boasts(t) || reports(t) || h.isOffer(i, one, open) && !h.took(i, t):
		case resolves(t):
			chosen.offer(t, v)
		case diagnoses(t):
			cause.offer(t, v)
		default:
			reason.offer(t, v)
		}
	})
	switch {
	case chosen.text == "" && cause.text == "":
		return "", prose.Clip(prose.Squash(reason.text), 200), 0
	case chosen.text == "":
		return prose.Clip(concluded+prose.Squash(cause.text), 200), prose.Clip(prose.Squash(reason.text), 200), cause.value
	}
	why = cmp.Or(cause.text, reason.text)
	decision = chosen.text
	if a, b := splitReason(decision); b != "" {
		decision, why = a, b
	}
	return prose.Clip(prose.Squash(decision), 200), prose.Clip(prose.Squash(why), 200), chosen.value
}

// A weighed keeps the sentence with the highest value.
type weighed struct {
	text  string
	value float64
}

func (b *weighed) offer(text string, value float64) {
	if value > b.value {
		*b = weighed{text, value}
	}
}

// splitReason cuts "do x because y" in two.
func splitReason(s string) (decision, why string) {
	for _, word := range []string{" because ", " since ", " so that "} {
		if a, b, ok := strings.Cut(s, word); ok && len(a) > 10 && len(b) > 5 {
			return a, b
		}
	}
	return s, ""
}

// yielded returns the text that an effect reported, mostly the name of the object that it
// created.
func (c *Call) yielded() string {
	if c.Command() != "" {
		return c.lastWords()
	}
	_, returned, _ := strings.Cut(c.answer(), ", which returned: ")
	return returned
}

// outcomeText returns the outcome of a call in a few words.
func (c *Call) outcomeText() string {
	switch {
	case !c.Answered:
		return "no result"
	case c.searchedInVain():
		return "found nothing"
	case c.Outcome == Failed:
		return prose.Clip("failed"+c.status()+colon(c.wrong()), 110)
	case c.Outcome == OK && c.Check():
		return "passed" + c.status()
	case c.Effect() && c.yielded() != "":
		return prose.Clip(c.yielded(), maxWords)
	case c.Outcome == OK && c.Exit >= 0:
		return "exit " + itoa(c.Exit)
	}
	for _, f := range c.files {
		if f.Op >= fileops.Edited {
			return f.Op.String() + " " + f.Path
		}
	}
	return ""
}
