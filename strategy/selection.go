package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

const (
	longestAnswer = 600 // maximum bytes of an answer; a longer answer explains itself
	maxOption     = 200 // characters of an option that are quoted
	maxQuestion   = 140 // characters of the question that are quoted
	manyOptions   = 4   // options of one answer that are quoted
	nearLines     = 8   // maximum lines between a question and the list below it

	selectionValue = fileValue - 0.1
	halving        = 6 // a selection has half of its value if this many newer ones exist
)

// An option is an item of a list from which the user is asked to choose.
type option struct {
	mark string // in upper case: "2", "B"
	text string // the item on one line, mark included
	line int    // line number in the message
}

// optionLine matches a list item or table row that begins with a number or a letter.
// Punctuation must follow a number: "2 files were changed" is not an option.
var optionLine = lazy.Compile(`^(?:(?i:option|approach|choice|plan|variant|alternative)\s+)?(?:([A-Z]|[a-z]|\d{1,2})\)|([A-Z]|\d{1,2})(?:[.:]|\s+[|–—-]))\s*(\S.*)$`)

// options returns the items that a message numbers or letters.
func options(text string) []option {
	var out []option
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimSpace(strings.ReplaceAll(strings.TrimLeft(line, " \t#>*-+•|"), "**", ""))
		m := optionLine.FindStringSubmatch(strings.TrimLeft(line, "("))
		if m == nil {
			continue
		}
		out = append(out, option{mark: strings.ToUpper(m[1] + m[2]), text: cells(line), line: n})
	}
	return out
}

// isIn reports whether a sentence is part of the option or refers to its mark.
func (o option) isIn(t string) bool {
	if strings.Contains(o.text, t) {
		return true
	}
	for _, m := range byName.FindAllStringSubmatch(t, -1) {
		if slices.Contains(oneMark.FindAllString(m[1], -1), o.mark) {
			return true
		}
	}
	return false
}

// cells joins the cells of a table row.
func cells(row string) string {
	parts := strings.Split(strings.Trim(row, "| \t"), "|")
	for i := range parts {
		parts[i] = strings.TrimSpace(parts[i])
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), " — ")
}

// marks matches one or more marks: "2", "B", "1, 2 and 4". A letter within a
// sentence must be in upper case, because "a" is a word.
const marks = `((?:[A-HJ-Z]|\d{1,2})(?:(?:\s*[,/&+]\s*|\s*,?\s+(?i:and|or)\s+)(?:[A-HJ-Z]|\d{1,2}))*)`

// An answer that consists of marks, or that contains a phrase such as "option 2", names
// an option, independently of the question.
var (
	onlyMarks = lazy.Compile(`^(?i)\(?#?(?:[a-z]|\d{1,2})(?:\)?(?:\s*[,/&+]\s*|\s+and\s+|\s+)\(?#?(?:[a-z]|\d{1,2}))*[).!]*$`)
	byName    = lazy.Compile(`\b(?i:options?|choice|approach|variant|alternative)\s+\(?#?` + marks + `(?:\W|$)`)
)

// Other references count only if the assistant asked a question, or if it made an offer
// and the answer is short: a long answer may number its own items. A number within a
// sentence must follow a verb of choice: "wait for 5 minutes" is not a reference.
var byPlace = []*lazy.Pattern{
	lazy.Compile(`(?m)^\s*\(?#?` + marks + `(?:[.),:;!]?\s*$|[.),:;!]\s|\s+[–—-]\s)`),
	lazy.Compile(`[.!]\s+\(?` + marks + `\)\s`),
	lazy.Compile(`\b(?i:with|do|pick|take|choose|prefer|think|want|like|go|fix|address|implement|examine|skip|drop)\s+\(?#?` + marks + `(?:[.),:;!]?\s*$|[.),:;!]\s|\s+(?i:please|first|then|but|is|for)\b)`),
}

var oneMark = lazy.Compile(`(?i)\b(?:[a-z]|\d{1,2})\b`)

// chosen returns the options of a message that an answer names, in the order of
// the list, and the question of the message.
func chosen(text, answer string) ([]option, string) {
	answer = strings.TrimSpace(answer)
	all := options(text)
	if len(all) < 2 || answer == "" || len(answer) > longestAnswer || inquiresAtOnce(answer) {
		return nil, ""
	}
	question := questionAt(text, all)
	named := map[string]bool{}
	name := func(s string) {
		for _, m := range oneMark.FindAllString(s, -1) {
			named[strings.ToUpper(m)] = true
		}
	}
	if onlyMarks.MatchString(answer) {
		name(answer)
	}
	ways := []*lazy.Pattern{byName}
	if question != "" || offers(text) && len(answer) <= shortAnswer {
		ways = append(ways, byPlace...)
	}
	for _, r := range ways {
		for _, m := range r.FindAllStringSubmatch(answer, -1) {
			name(m[1])
		}
	}
	var out []option
	for _, o := range slices.Backward(all) { // if there are several lists, the last one counts
		if named[o.mark] {
			out, named[o.mark] = append(out, o), false
		}
	}
	slices.Reverse(out)
	if len(out) > 0 {
		question = questionAt(text, listOf(all, out[0]))
	}
	return out[:min(len(out), manyOptions)], question
}

// listOf returns the options of o's list up to the end of all. A message may
// have several lists.
func listOf(all []option, o option) []option {
	i := slices.Index(all, o)
	for i > 0 && all[i].line-all[i-1].line <= nearLines && all[i-1].mark < all[i].mark && prose.IsDigits(all[i-1].mark) == prose.IsDigits(all[i].mark) {
		i--
	}
	return all[i:]
}

// inquiresAtOnce reports whether an answer begins with a question.
func inquiresAtOnce(answer string) bool {
	end := strings.IndexAny(answer, ".!?\n？。")
	return end >= 0 && (answer[end] == '?' || strings.HasPrefix(answer[end:], "？"))
}

// A selection is an answer of the user that names options of the previous
// message.
type selection struct {
	step, from                int // step numbers of the answer and of the list
	answer, question, options string
}

// selections returns the user's choices with their lists, oldest first. An answer such as
// "B" says nothing without the list. A later message that names another option of the last
// list replaces the choice: "use option 1 after all".
func (h *History) selections() []selection {
	var out []selection
	for i := 1; i < len(h.Steps); i++ {
		s, before := &h.Steps[i], &h.Steps[i-1]
		if !s.user() {
			continue
		}
		var taken []option
		question, answer := "", s.Text
		if before.Role == message.RoleAssistant && len(before.Calls) == 0 {
			taken, question = chosen(before.Text, s.Text)
		}
		if n := len(out) - 1; len(taken) == 0 && n >= 0 {
			list := h.step(out[n].from)
			if list == nil {
				continue
			}
			if t := list.rechosen(s.Text); t != "" {
				taken, question = chosen(list.Text, t)
				before, answer, out = list, t, out[:n]
			}
		}
		if len(taken) == 0 {
			continue
		}
		var quoted []string
		for _, o := range taken {
			quoted = append(quoted, "“"+quotable(o.text, maxOption)+"”")
		}
		out = append(out, selection{s.ID, before.ID, quotable(answer, shortAnswer), quotable(question, maxQuestion), strings.Join(quoted, " and ")})
	}
	return out
}

// rechosen returns the sentence of a later message that switches to another option of a
// list, named by the word "option". It returns "" if there is none.
func (s *Step) rechosen(later string) string {
	found := ""
	prose.Sentences(later, func(t string, heading bool) {
		low := strings.ToLower(t) + " "
		if heading || !byName.MatchString(t) || rules.Inquires(low) || rules.Forbids(t) || prose.HasAny(low, []string{"instead of option", "rather than option"}) {
			return
		}
		if rules.TurnsBack(t) || prose.HasAny(low, []string{"after all", "instead", "switch to", "go back to", "rather", "doch ", "stattdessen", "lieber"}) {
			if taken, _ := chosen(s.Text, t); len(taken) > 0 {
				found = t
			}
		}
	})
	return found
}

// quotable returns the beginning of a text on one line. It removes backticks,
// because in a summary they mark commands with outcomes.
func quotable(text string, n int) string {
	return prose.Clip(prose.Squash(strings.ReplaceAll(text, "`", "")), n)
}

// asked returns the question, if any, and the user's answer after it.
func (s selection) asked() string {
	text := "the user answered “" + s.answer + "”"
	if s.question != "" {
		text = "to “" + s.question + "” " + text
	}
	return text
}

// line describes a selection in a sentence.
func (s selection) line() string {
	return s.asked() + " " + stepID(s.step) + ", of the list: " + s.options + " " + stepID(s.from)
}

// logged describes a selection in the format of decision_log. The decision is the user's
// answer, not the option: an answer that names an option can also reject it.
func (s selection) logged() string {
	return strings.Join([]string{stepID(s.step) + " " + part(s.asked()), "-", "of the list: " + part(s.options), "-"}, " :: ")
}

// selectionLines returns a line for each selection. The newest selections have the highest
// values, because in a long session the oldest selections were mostly carried out.
func (h *History) selectionLines(section int, line func(selection) string) []Line {
	var out []Line
	all := h.selections()
	for i, s := range all {
		newer := float64(len(all) - 1 - i)
		out = append(out, Line{Section: section, Text: line(s), Value: selectionValue / (1 + newer/halving), Order: s.step})
	}
	return out
}

// questionAt returns the question that belongs to a list: the last question within
// nearLines above it, or else the last question below it.
func questionAt(text string, list []option) string {
	above, below, n := "", "", 0
	first, isOption := list[0].line, map[int]bool{}
	for _, o := range list {
		isOption[o.line] = true
	}
	for l := range strings.Lines(text) {
		if n++; isOption[n] {
			continue
		}
		prose.Sentences(l, func(t string, heading bool) {
			switch {
			case heading || !strings.HasSuffix(t, "?") && !strings.HasSuffix(t, "？"):
			case n > first:
				below = t
			case first-n <= nearLines:
				above = t
			}
		})
	}
	if above != "" {
		return above
	}
	return below
}
