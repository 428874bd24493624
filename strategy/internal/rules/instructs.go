package rules

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Instructs reports whether a sentence tells somebody to do something, and does not only
// forbid something.
func Instructs(t string) bool {
	low := bareClause(strings.ReplaceAll(strings.ToLower(t), "’", "'"))
	for _, w := range []string{"you can ", "you could ", "can you ", "could you ", "go ahead and ", "let's ", "i want you to ", "i need you to "} {
		low = strings.TrimPrefix(low, w)
	}
	return (TellsToDo(low) || ordersMore(low)) && !OnlyForbids(t)
}

// OnlyForbids reports whether a sentence forbids something and asks for nothing: "Don't
// cancel the order.".
func OnlyForbids(t string) bool {
	bans := false
	for i, c := range prose.Clauses(t) {
		c = bareClause(c)
		switch {
		case c == "":
		case prose.BeginsAny(c, banWords), handsOff.MatchString(c), leaveIt.MatchString(c), nobodyDoes.MatchString(c), strings.HasPrefix(c, "no ") && forbidsThing(c):
			bans = true
		case TellsToDo(c), ordersMore(c), Inquires(c), prose.BeginsAny(c, []string{"i want", "i need", "we need", "can you", "you can"}), i == 0 && leads(c):
			return false
		}
	}
	return bans
}

// leastLeading is the least number of words of a clause that may ask for something in words
// that no list has: "plan our spring fair: budget 400 euros, nobody gets more than half".
const leastLeading = 3

// leads reports whether the first clause of a sentence may ask for something. A clause
// that describes, or that gives a condition or a time, only precedes a prohibition.
func leads(c string) bool {
	return len(strings.Fields(c)) >= leastLeading && !describesFact(c) && !setsValue(c) && !rulesAbroad(c) && !prose.BeginsAny(c, considering) && !prose.BeginsAny(c, preceding) && !prose.HasAnyWord(c, ruleLabels)
}

// ruleLabels lists nouns of clauses that only announce a rule: "one rule of the house: …".
var ruleLabels = strings.Fields("constraint constraints rule rules note reminder policy condition conditions requirement requirements restriction restrictions guideline warning caution")

// preceding lists beginnings of clauses before a prohibition.
var preceding = []string{"when ", "while ", "until ", "till ", "before ", "after ", "as ", "for ", "in ", "on ", "at ", "with ", "from ", "during ", "since ", "because ", "unless ", "except ", "even ", "whatever ", "under ", "wenn ", "bis ", "solange ", "weil ", "bei ", "für ", "im ", "am ", "during ", "one more ", "by the way", "the ", "these ", "those ", "all ", "any ", "i ", "we ", "you ", "my ", "our ", "also ", "not ", "thanks", "important"}

// ShortTask reports whether a short sentence tells somebody to do a thing that it names:
// "Load the table.".
func ShortTask(t string) bool {
	low := bareClause(strings.ToLower(t))
	return len(strings.Fields(low)) > 1 && (TellsToDo(low) || ordersMore(low)) && !prose.BeginsAny(low, []string{"go ", "do it", "do so", "do that", "try again", "let's go", "just do it", "keep ", "please", "then ", "let me", "show me", "look", "stop"})
}
