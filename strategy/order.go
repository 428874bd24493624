package strategy

import (
	"strconv"
	"strings"

	"github.com/agentcompact/compact/internal/material"
	"github.com/agentcompact/compact/message"
)

// An order lists the places where the order of a view differs from the order in which
// its messages were written. A summary precedes the last message of the user, even if
// the summary covers work on that message. Once the message is summarized as well, its
// number is higher than the numbers of the work on it.
type order struct {
	since int     // number of the first step after the user's message that follows the summary; 0 = there is none
	typed bool    // a person typed that message
	moved []moved // the user's messages with a number higher than their work, oldest first
}

// A moved is a message that was written before a step although that step has a lower
// number.
type moved struct{ step, before int }

// mostMoved is the maximum number of moved messages that a summary lists.
const mostMoved = 8

// Sentences of the introduction about the order.
const (
	rightAfter  = "right after this block was written before "
	workOnIt    = "; the steps from there on are work on it"
	wordsBefore = "Of the user's words, "
)

// order reads the order from the previous summary, and continues it.
func (r *Request) order() order {
	was := orderOf(r.Previous)
	now := order{moved: was.moved}
	if len(r.Messages) > 0 && was.since > 0 && material.FromUser(&r.Messages[0]) && speaks(&r.Messages[0]) {
		now.moved = append(now.moved, moved{r.First, was.since})
	}
	now.moved = now.moved[max(0, len(now.moved)-mostMoved):]
	last := len(r.Visible) - 1
	for last >= 0 && !material.FromUser(&r.Visible[last]) {
		last--
	}
	switch n := len(r.Messages); {
	case last < 0:
		return now
	case r.After == n && was.since > 0:
		now.since = was.since
	case r.After > 0:
		now.since = r.First + n - r.After
	}
	now.typed = speaks(&r.Visible[last])
	return now
}

// speaks reports whether a message of the user's role has words of the user, and not
// only words of a harness.
func speaks(m *message.Message) bool {
	speech := classify(m, false).speech
	return speech == speechTyped || speech == speechPasted
}

// sentences describes the order in words, with a space before each sentence.
func (o order) sentences() string {
	text := ""
	switch {
	case o.since > 0 && o.typed:
		text = " The user's message " + rightAfter + stepID(o.since) + workOnIt + "."
	case o.since > 0:
		text = " The message " + rightAfter + stepID(o.since) + "."
	}
	if len(o.moved) > 0 {
		pairs := make([]string, len(o.moved))
		for i, m := range o.moved {
			pairs[i] = stepID(m.step) + " was written before " + stepID(m.before)
		}
		text += " " + wordsBefore + strings.Join(pairs, ", ") + "."
	}
	return text
}

// orderOf reads the order back from a summary.
func orderOf(summary string) (o order) {
	if !strings.HasPrefix(summary, wayBack) {
		return order{}
	}
	line, _, _ := strings.Cut(summary, "\n")
	if _, rest, ok := strings.Cut(line, rightAfter); ok {
		o.since = stepAt(rest)
	}
	_, rest, _ := strings.Cut(line, wordsBefore)
	rest, _, _ = strings.Cut(rest, ".")
	for _, pair := range strings.Split(rest, ", ") {
		step, before, ok := strings.Cut(pair, " was written before ")
		if m := (moved{stepAt(step), stepAt(before)}); ok && m.step > 0 && m.before > 0 {
			o.moved = append(o.moved, m)
		}
	}
	return o
}

// stepAt returns the number of the citation at the beginning of a text, 0 if there is
// none.
func stepAt(text string) int {
	rest, ok := strings.CutPrefix(text, "[s")
	number, _, closed := strings.Cut(rest, "]")
	n, err := strconv.Atoi(number)
	if !ok || !closed || err != nil || n < 1 || n >= maxStep {
		return 0
	}
	return n
}
