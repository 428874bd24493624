package policy

import (
	"errors"
	"fmt"
	"sort"
	"strings"

	"github.com/agentcompact/compact/message"
)

// ErrInsufficientBudget is what a *[BudgetError] is.
var ErrInsufficientBudget = errors.New("insufficient budget")

// A BudgetError says that not even the smallest view fits the budget.
type BudgetError struct {
	Tokens  int // what the smallest view costs
	Budget  int // what it may cost
	Fixed   int // tool schemas and what else is not a message
	Largest []Contributor
}

// A Contributor is a message that can't be made smaller.
type Contributor struct {
	Index  int // in the history as it came in; -1 = our own summary
	Role   message.Role
	Tokens int
	Why    string
}

func (e *BudgetError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "insufficient budget: the smallest view costs %d tokens, the budget is %d", e.Tokens, e.Budget)
	if e.Fixed > 0 {
		fmt.Fprintf(&b, "; tool schemas and overhead %d", e.Fixed)
	}
	for _, c := range e.Largest {
		fmt.Fprintf(&b, "; message %d (%s, %s) %d", c.Index, c.Role, c.Why, c.Tokens)
	}
	b.WriteString(". Protect fewer messages, shorten the largest, send fewer tool schemas, or use a model with a larger window")
	return b.String()
}

// Is makes errors.Is(err, ErrInsufficientBudget) true.
func (e *BudgetError) Is(target error) bool { return target == ErrInsufficientBudget }

const namedContributors = 5

// budgetError names what the smallest view is made of.
func (v *View) budgetError(tokens int) *BudgetError {
	e := &BudgetError{Tokens: tokens, Budget: v.Budget.Cap, Fixed: v.Fixed}
	gone := map[int]bool{}
	for _, i := range v.Partition(Keep{Turns: 1, Pairs: 1}).Remainder {
		gone[i] = true
	}
	for i := range v.Messages {
		if !gone[i] {
			e.Largest = append(e.Largest, Contributor{Index: i, Role: v.Messages[i].Role, Tokens: v.least(i), Why: v.why(i)})
		}
	}
	sort.SliceStable(e.Largest, func(a, b int) bool { return e.Largest[a].Tokens > e.Largest[b].Tokens })
	e.Largest = e.Largest[:min(len(e.Largest), namedContributors)]
	return e
}

// refuse is the error that not even the smallest view fits, in terms of the
// messages that came in.
func (o *Outcome) refuse(tokens int) *BudgetError {
	e := o.View.budgetError(tokens)
	for i := range e.Largest {
		e.Largest[i].Index = o.Conversation.Source(e.Largest[i].Index)
	}
	return e
}

func (v *View) why(i int) string {
	switch {
	case v.Pinned[i]:
		return "pinned"
	case i == v.Anchor:
		return "last user message"
	case v.pinnedRound(v.round[i]):
		return "in one round with a pinned message"
	case i >= v.Open:
		return "open round"
	}
	return "last turn"
}
