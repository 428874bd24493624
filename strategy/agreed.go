package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/rules"
)

// number matches a number of two or more digits, mostAgreed is the maximum number of words of a
// sentence that agrees to one.
var number = lazy.Compile(`\d[\d.,]*\d`)

const mostAgreed = 5

// agreesTo reports whether a short sentence of the user in step i agrees to a number with which the
// assistant asked to replace the number of a rule: "yes 416" to "412 was refused; should I use 416?".
func (h *History) agreesTo(i int, rule, t string) bool {
	if i == 0 || h.Steps[i-1].Role != message.RoleAssistant || !strings.Contains(h.Steps[i-1].Text, "?") || len(strings.Fields(t)) > mostAgreed || rules.Inquires(strings.ToLower(t)) || rules.Forbids(t) {
		return false
	}
	given, old, asked := numbersIn(t), numbersIn(rule), numbersIn(h.Steps[i-1].Text)
	return len(given) == 1 && !slices.Contains(old, given[0]) && slices.Contains(asked, given[0]) &&
		slices.ContainsFunc(old, func(n string) bool { return slices.Contains(asked, n) })
}

// numbersIn returns the numbers of two or more digits in a text.
func numbersIn(text string) (out []string) {
	text, _, _ = strings.Cut(text, " [s")
	for _, m := range number.FindAllStringSubmatch(text, mostNumbers) {
		out = append(out, m[0])
	}
	return out
}

// mostNumbers is the maximum number of numbers that are read of one text.
const mostNumbers = 40
