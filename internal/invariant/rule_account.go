package invariant

import (
	"strconv"

	"github.com/agentcompact/compact/message"
)

const resultKind = message.KindToolResult

// checkAccounts: each message of the history is in the view or has the decision
// summarized or dropped, and the compaction made every other message of the view.
func (j *judge) checkAccounts() {
	for i, d := range j.Decisions {
		if there := j.place[i] >= 0; there != j.survives(i) {
			j.fail(RuleAccount, "message %d is %s, and in the view: %v", i, d, there)
		}
	}
	for o, i := range j.src {
		if i < 0 && !ours(j.Out[o]) {
			j.fail(RuleAccount, "message %d of the view (%s) comes neither from the history nor from the compaction", o, j.Out[o].Role)
		}
	}
}

// checkDecisions: a kept message is unchanged, and a truncated or masked one has the
// form of its decision.
func (j *judge) checkDecisions() {
	for i, d := range j.Decisions {
		o := j.place[i]
		if o < 0 {
			continue
		}
		changed := !same(j.In[i], j.Out[o])
		switch d {
		case kept:
			if changed {
				j.fail(RuleDecision, "message %d is kept and was changed", i)
			}
		case truncated, masked:
			if !changed && !j.alreadyEdited(i) {
				j.fail(RuleDecision, "message %d is %s and was not changed", i, d)
			}
			if is := j.newlyMasked(i, o); changed && is != (d == masked) {
				j.fail(RuleDecision, "the decision on message %d is %s, but one of its results is masked: %v", i, d, is)
			}
		}
	}
	j.checkStandIn()
}

// alreadyEdited reports whether an earlier compaction edited message i.
func (j *judge) alreadyEdited(i int) bool {
	for p, part := range j.In[i].Parts {
		if part.Kind == resultKind && (j.cameMasked(i, p) || j.originOf(i, p) != part.Text) || mediaForm.MatchString(part.Text) {
			return true
		}
	}
	return false
}

// newlyMasked reports whether a result of message i was masked.
func (j *judge) newlyMasked(i, o int) bool {
	for p, part := range j.In[i].Parts {
		if is := j.Out[o].Parts[p].Text; part.Kind == resultKind && is != part.Text && j.isMasked(i, p, is) || standsFor(part, j.Out[o].Parts[p]) {
			return true
		}
	}
	return false
}

// checkStandIn: a summary or a notice replaces removed messages, and the notice
// counts them.
func (j *judge) checkStandIn() {
	condensed, gone := j.gone()
	summaries, notices := 0, 0
	for o, i := range j.src {
		if _, ok := parseNotice(j.Out[o]); ok && i < 0 {
			notices++
		} else if i < 0 {
			summaries++
		}
	}
	if condensed > 0 && summaries == 0 && !j.Earlier {
		j.fail(RuleDecision, "%d messages are summarized, and there is no summary", condensed)
	}
	if gone > 0 && summaries+notices == 0 && j.fitsNotice() {
		j.fail(RuleDecision, "%d messages were removed, and neither a summary nor a notice replaces them", gone)
	}
	if gone == 0 && summaries+notices > 0 {
		j.fail(RuleDecision, "no message was removed, but the view has a summary or a notice")
	}
	if condensed == 0 {
		j.checkNotice()
	}
}

func (j *judge) gone() (condensed, all int) {
	for i, d := range j.Decisions {
		switch {
		case d == summarized:
			condensed++
			all++
		case d == dropped && !j.copied(i):
			all++
		}
	}
	return condensed, all
}

// fitsNotice reports whether a notice fits the budget. If it does not, a view
// without a notice is allowed.
func (j *judge) fitsNotice() bool {
	notice := message.System("[conversation truncated — " + strconv.Itoa(len(j.In)) + " older messages omitted]")
	return j.Fixed+sum(j.costOut)+j.Cost(notice) <= j.Budget
}

// checkNotice: the notice states the number of dropped messages, including the number
// in the previous notice. A dropped summary may be counted.
func (j *judge) checkNotice() {
	least, most := 0, 0
	for i, d := range j.Decisions {
		if d != dropped || j.copied(i) {
			continue
		}
		n, notice := parseNotice(j.In[i])
		if !notice {
			n = 1
		}
		most += n
		if _, _, summary := parseSummary(j.In[i]); !summary {
			least += n
		}
	}
	for o, i := range j.src {
		if n, ok := parseNotice(j.Out[o]); ok && i < 0 && (n < least || n > most) {
			j.fail(RuleDecision, "the notice speaks of %d messages, and %d are gone", n, most)
		}
	}
}

// checkIdle: a call that compacts nothing changes nothing, except results that no
// call has sent yet.
func (j *judge) checkIdle() {
	if j.Triggered || j.Manual || j.Earlier {
		return
	}
	in, out := j.In, j.Out
	if j.Tidies && len(in) == len(out) {
		n := len(in)
		for n > 0 && in[n-1].Role != message.RoleAssistant {
			n--
		}
		in, out = in[:n], out[:n]
	}
	for _, v := range Same("no compaction", in, out) {
		j.fail(RuleDecision, "%s", v.Detail)
	}
}

// checkReported: the numbers of the result equal the counted ones.
func (j *judge) checkReported() {
	r := j.Reported
	if r == nil {
		return
	}
	if n := j.Fixed + sum(j.costIn); r.In != n {
		j.fail(RuleReported, "the result states %d tokens for the history, which costs %d", r.In, n)
	}
	if n := j.Fixed + sum(j.costOut); r.Out != n {
		j.fail(RuleReported, "the result states %d tokens for the view, which costs %d", r.Out, n)
	}
	if r.Messages == nil {
		return
	}
	if len(r.Messages) != len(j.In) {
		j.fail(RuleReported, "the result has token counts for %d messages, but the history has %d", len(r.Messages), len(j.In))
		return
	}
	for i, said := range r.Messages {
		after := 0
		if o := j.place[i]; o >= 0 {
			after = j.costOut[o]
		}
		if said != [2]int{j.costIn[i], after} {
			j.fail(RuleReported, "message %d: the result states %d tokens before and %d after, but it has %d and %d", i, said[0], said[1], j.costIn[i], after)
		}
	}
}
