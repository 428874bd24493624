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
	for _, c := range prose.Clauses(t) {
		c = bareClause(c)
		switch {
		case c == "":
		case prose.BeginsAny(c, banWords), handsOff.MatchString(c), leaveIt.MatchString(c), nobodyDoes.MatchString(c), strings.HasPrefix(c, "no ") && forbidsThing(c):
			bans = true
		case TellsToDo(c), ordersMore(c), Inquires(c), prose.BeginsAny(c, []string{"i want", "i need", "we need", "can you", "you can"}):
			return false
		}
	}
	return bans
}

// ShortTask reports whether a short sentence tells somebody to do a thing that it names:
// "Load the table.".
func ShortTask(t string) bool {
	low := bareClause(strings.ToLower(t))
	return len(strings.Fields(low)) > 1 && (TellsToDo(low) || ordersMore(low)) && !prose.BeginsAny(low, []string{"go ", "do it", "do so", "do that", "try again", "let's go", "just do it", "keep ", "please", "then ", "let me", "show me", "look", "stop"})
}
