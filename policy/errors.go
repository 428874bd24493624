package policy

import (
	"errors"
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/message"
)

// ErrInsufficientBudget matches every *[BudgetError] in errors.Is.
var ErrInsufficientBudget = errors.New("insufficient budget")

// A BudgetError says that even the smallest view exceeds the budget. Fixed, Largest and
// Others add up to Tokens. All sizes are in tokens.
type BudgetError struct {
	Tokens  int           // cost of the smallest view
	Budget  int           // the budget that it exceeds
	Fixed   int           // tool schemas and anything else that is not a message
	Largest []Contributor // the largest messages that must stay
	Others  []Share       // all other messages that must stay, by reason
	Stages  string        // the common name of the stages
	Advice  []string      // remedies
}

// A Contributor is a message that can't be made smaller.
type Contributor struct {
	Index  int // index of the input message, from 0; -1 = a message made by a stage
	Role   message.Role
	Tokens int
	Why    string
}

// String names the message, counted from 1 as in all texts for people, and the reason.
func (c Contributor) String() string {
	name := "a message made by a stage"
	if c.Index >= 0 {
		name = "message " + strconv.Itoa(c.Index+1)
	}
	return fmt.Sprintf("%s (%s, %s)", name, c.Role, c.Why)
}

// A Share sums up all messages that must stay for one reason.
type Share struct {
	Why      string
	Messages int
	Tokens   int
}

// The reasons why a message is part of the smallest view.
const (
	whyPinned  = "pinned"
	whyAnchor  = "last user message"
	whyRound   = "in one round with a pinned message"
	whyOpen    = "open round"
	whyTurn    = "last turn"
	whyPair    = "last tool call"
	whyKept    = "recent, and there is no stage shrink"
	whyNoStage = "no stage may remove it"
	whyIllegal = "the provider would refuse the remaining messages without it"
	whyFailed  = "the stage that removes it failed"
)

func (e *BudgetError) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "insufficient budget: the smallest view costs %s tokens, the budget is %s", thousands(e.Tokens), thousands(e.Budget))
	if e.Fixed > 0 {
		fmt.Fprintf(&b, "; tool schemas and overhead %s", thousands(e.Fixed))
	}
	for _, c := range e.Largest {
		fmt.Fprintf(&b, "; %s %s", c, thousands(c.Tokens))
	}
	for _, s := range e.Others {
		fmt.Fprintf(&b, "; %s tokens in %s", thousands(s.Tokens), e.Of(s))
	}
	if len(e.Advice) > 0 {
		b.WriteString(". " + strings.TrimSuffix(e.Guidance(), "."))
	}
	return b.String()
}

// Guidance returns the advice as a sentence, or "" if there is none.
func (e *BudgetError) Guidance() string {
	last := len(e.Advice) - 1
	if last < 0 {
		return ""
	}
	s := e.Advice[last]
	if last > 0 {
		s = strings.Join(e.Advice[:last], ", ") + " or " + s
	}
	return strings.ToUpper(s[:1]) + s[1:] + "."
}

// Of describes the messages of a share, for example "213 messages that no stage of
// preset masking may remove".
func (e *BudgetError) Of(s Share) string {
	noun := "messages"
	if s.Messages == 1 {
		noun = "message"
	}
	why := " (" + s.Why + ")"
	if s.Why == whyNoStage && e.Stages != "" {
		why = " that no stage of " + e.Stages + " may remove"
	}
	return thousands(s.Messages) + " " + noun + why
}

// Is makes errors.Is(err, ErrInsufficientBudget) true.
func (e *BudgetError) Is(target error) bool { return target == ErrInsufficientBudget }

// thousands writes a number that is not negative with commas.
func thousands(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

const namedContributors = 5

// Refusal returns the error for the case that even the smallest view does not fit.
// source returns the index of the input message that message i came from, or -1 if a
// stage made it. stages is the common name of the stages. illegal says that edits were
// not made because the provider would refuse the view. If floor is true, the stages have
// not run, and the error describes the floor. Otherwise it describes the resulting view.
func (v *View) Refusal(floor bool, stages string, source func(i int) int, illegal bool) *BudgetError {
	out := &BudgetError{Tokens: v.Total(), Budget: v.Budget.Most(), Fixed: v.Fixed, Stages: stages}
	gone, why, media := v.takes(), v.reasons(illegal), v.mediaBound()
	if floor {
		out.Tokens = v.least(gone)
	}
	for i := range v.Messages {
		c := Contributor{Index: source(i), Role: v.Messages[i].Role, Tokens: v.Tokens[i]}
		switch {
		case floor && gone[i]:
			continue
		case floor:
			c.Tokens = v.leastOf(i, media)
			fallthrough
		case !gone[i]:
			c.Why = why.stays(i)
		default:
			c.Why = why.left
		}
		out.Largest = append(out.Largest, c)
	}
	out.Advice = v.advice(out.Largest)
	sort.SliceStable(out.Largest, func(a, b int) bool { return out.Largest[a].Tokens > out.Largest[b].Tokens })
	if n := min(len(out.Largest), namedContributors); n < len(out.Largest) {
		out.Others = shares(out.Largest[n:])
		out.Largest = out.Largest[:n:n]
	}
	return out
}

// shares sums up contributors by reason, the largest share first.
func shares(all []Contributor) (out []Share) {
	for _, c := range all {
		at := slices.IndexFunc(out, func(s Share) bool { return s.Why == c.Why })
		if at < 0 {
			at, out = len(out), append(out, Share{Why: c.Why})
		}
		out[at].Messages++
		out[at].Tokens += c.Tokens
	}
	sort.SliceStable(out, func(a, b int) bool { return out[a].Tokens > out[b].Tokens })
	return out
}

// A staying holds the data that explains why messages of a view must stay.
type staying struct {
	v    *View
	left string // the reason why a message that a stage may remove is still there

	turn, pair, least []bool // rounds of the last turn, of the last pair, and of the smallest keep counts
}

func (v *View) reasons(illegal bool) staying {
	s := staying{v: v, left: whyFailed}
	s.turn, s.pair, s.least = v.recentRounds(Keep{Turns: 1}), v.recentRounds(Keep{Pairs: 1}), v.recentRounds(v.Smallest())
	if illegal {
		s.left = whyIllegal
	}
	return s
}

// stays returns the reason why message i must stay.
func (s staying) stays(i int) string {
	v, r := s.v, s.v.round[i]
	switch {
	case v.Pinned[i]:
		return whyPinned
	case i == v.Anchor:
		return whyAnchor
	case v.pinnedRound(r):
		return whyRound
	case i >= v.Open:
		return whyOpen
	case s.turn[r]:
		return whyTurn
	case s.pair[r]:
		return whyPair
	case s.least[r] && v.reach != nil && len(v.reach.takers) > 0:
		return whyKept
	}
	return whyNoStage
}

// advice returns remedies. These are the missing stages that would free enough, or, if
// there are none, remedies that depend on the content of the smallest view.
func (v *View) advice(parts []Contributor) (out []string) {
	if missing := v.missing(); len(missing) > 0 {
		return []string{"add " + strings.Join(missing, " and ") + " to policy.stages", "use a model with a larger window"}
	}
	pinned := func(c Contributor) bool { return c.Why == whyPinned || c.Why == whyRound }
	if slices.ContainsFunc(parts, pinned) {
		out = append(out, "protect fewer messages")
	}
	if len(parts) > 0 {
		out = append(out, "shorten the largest messages")
	}
	if v.Fixed > 0 {
		out = append(out, "send fewer tool schemas")
	}
	return append(out, "use a model with a larger window")
}

// missing returns the smallest set of stages that would make the view fit. It returns
// nil if the configured stages could make the view fit (one of them failed then), or if the
// view would not fit even with all stages.
func (v *View) missing() []string {
	for _, names := range [][]string{
		nil, {"summarize"}, {"squeeze"}, {"shrink"}, {"summarize", "shrink"}, {"summarize", "squeeze"}, {"shrink", "squeeze"}, {"summarize", "shrink", "squeeze"},
	} {
		if v.with(names).Floor() <= v.Budget.Most() {
			return names
		}
	}
	return nil
}

// with returns the view for the configured stages together with the named ones. It
// expects no further savings from stages that edit, because they have already reached
// their limit.
func (v *View) with(names []string) *View {
	w, r := *v, *v.reach
	w.reach, r.edits = &r, false
	for _, name := range names {
		switch name {
		case "summarize":
			r.takers = append(slices.Clone(r.takers), oldRounds{})
		case "shrink":
			w.Rigid = false
		case "squeeze":
			r.cuts = true
		}
	}
	return &w
}

// oldRounds stands in for a stage that summarizes: Takes returns all messages that such a
// stage can remove. No other method of oldRounds is called.
type oldRounds struct{ Stage }

func (oldRounds) Takes(v *View) []int { return v.Partition(v.Smallest()).Remainder }
