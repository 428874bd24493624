package compact

import (
	"errors"
	"fmt"
	"math"
	"strconv"

	"github.com/agentcompact/compact/trace"
)

// story returns the title of a call in a list of traces. The titles of a
// session show how its size develops. It holds only numbers and fixed words.
func (c *call) story(err error) string {
	r := c.res
	switch {
	case err != nil:
		return "FAILED " + c.failure(err)
	case r.Triggered && r.Reason == trace.ReasonArrival:
		return fmt.Sprintf("reduced at arrival: %s, %s", c.way(), messages(c.did.all()))
	case r.Triggered && c.kind() == ReductionFallback:
		return fmt.Sprintf("%sFALLBACK: %s without a summary, %s", stepNumber(r.Step), messages(c.did.all()), c.way())
	case r.Triggered && r.CallStage != ReductionNone:
		return fmt.Sprintf("%s%s: %s, %s", stepNumber(r.Step), c.kind(), c.way(), messages(c.did.all()))
	case r.Triggered:
		return fmt.Sprintf("%s, nothing to remove (%s)", c.level(r.After.Total), r.Reason)
	}
	return c.level(r.After.Total)
}

// kind returns the word for the changes of this call. If the call dropped messages
// from a view with an earlier summary, the word is "pruning", because such a
// change is no fallback.
func (c *call) kind() ReductionStage {
	if c.res.CallStage == ReductionFallback && c.res.ReductionStage == ReductionSummarization {
		return "pruning"
	}
	return c.res.CallStage
}

// wouldStory returns the title of an observed call: the sent size, and the
// change that it would have made.
func (c *call) wouldStory(sent int, err error) string {
	line := "observed: " + c.level(sent)
	switch {
	case err != nil:
		return line + "; would have FAILED " + c.failure(err)
	case c.res.Triggered && c.res.Reason == trace.ReasonArrival:
		return line + fmt.Sprintf("; would be %s tokens by reduction at arrival", grouped(c.res.After.Total))
	case c.res.Triggered:
		return line + fmt.Sprintf("; would be %s tokens by %s", grouped(c.res.After.Total), c.kind())
	}
	return line
}

// level describes how full the window is.
func (c *call) level(tokens int) string {
	return fmt.Sprintf("%s, %s of %s", share(tokens, c.ep.window), grouped(tokens), grouped(c.ep.window))
}

// way describes the tokens before and after a compaction.
func (c *call) way() string {
	before, after := c.res.Before.Total, c.res.After.Total
	return fmt.Sprintf("%s → %s tokens (%s → %s)", grouped(before), grouped(after), share(before, c.ep.window), share(after, c.ep.window))
}

// failure describes the reason of a failure without the text of the error,
// which can be long and is in compact.error.
func (c *call) failure(err error) string {
	var e *BudgetError
	if errors.As(err, &e) {
		return fmt.Sprintf("%s: %s tokens must stay, %s fit", kindOf(err), grouped(e.Tokens), grouped(e.Budget))
	}
	return fmt.Sprintf("%s at %s tokens", kindOf(err), grouped(c.res.Before.Total))
}

func stepNumber(step int) string {
	if step == 0 {
		return ""
	}
	return "#" + strconv.Itoa(step) + " "
}

// share returns a/b in whole percent.
func share(a, b int) string {
	if b <= 0 {
		return "? %"
	}
	return strconv.Itoa(int(math.Round(100*float64(a)/float64(b)))) + " %"
}

// grouped formats a number with commas between thousands.
func grouped(n int) string {
	s := strconv.Itoa(n)
	for i := len(s) - 3; i > 0 && s[i-1] != '-'; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// messages counts messages, in words.
func messages(n int) string {
	if n == 1 {
		return "1 message"
	}
	return grouped(n) + " messages"
}
