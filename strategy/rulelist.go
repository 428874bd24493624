package strategy

import (
	"slices"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// mostListedRules is the maximum number of rules of a list that are quoted one by one. A longer
// list is a specification, which stands whole among the words of the user; quoted again, it
// would push out the other rules.
const mostListedRules = 8

// A ruleList holds the items of a message that set rules.
type ruleList struct {
	n           int
	first, last string
	at          []int // indexes of the facts that quote them
}

func (l *ruleList) add(t string) {
	if l.n++; l.n == 1 {
		l.first = t
	}
	l.last = t
}

// fold replaces the quotations of a long list by one fact. The facts of the message begin at
// index from.
func (l *ruleList) fold(all []fact, from, step int) []fact {
	if l.n <= mostListedRules || len(l.at) == 0 {
		return all
	}
	value := 0.0
	for _, i := range l.at {
		value = max(value, all[i].Value)
	}
	out := slices.Clone(all[:from])
	for i := from; i < len(all); i++ {
		switch {
		case i == l.at[0]:
			text := itoa(l.n) + " rules of a list, from " + prose.Quoted(l.first, maxOfRuleList) + " to " + prose.Quoted(l.last, maxOfRuleList) + ", stand among the words of the user"
			out = append(out, fact{step, text, value})
		case !slices.Contains(l.at, i):
			out = append(out, all[i])
		}
	}
	return out
}

// maxOfRuleList is the maximum length of the quoted first and last rule, in characters.
const maxOfRuleList = 80
