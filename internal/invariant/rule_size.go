package invariant

import (
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// summarySlack is the cost of a summary's tags, in addition to the cost of its text.
const summarySlack = 64

// checkBudget: the view costs at most the budget.
func (j *judge) checkBudget() {
	if n := j.Fixed + sum(j.costOut); n > j.Budget {
		j.fail(RuleBudget, "the view costs %d tokens, but the budget is %d", n, j.Budget)
	}
}

// checkGrowth: no edit makes a message larger, in tokens or in characters, and
// a compaction makes no conversation larger.
func (j *judge) checkGrowth() {
	for i, o := range j.place {
		if o < 0 {
			continue
		}
		if j.costOut[o] > j.costIn[i] {
			j.fail(RuleGrowth, "message %d went from %d to %d tokens", i, j.costIn[i], j.costOut[o])
		}
		if a, b := chars(withStandIns(j.In[i], j.Out[o])), chars(j.Out[o]); b > a {
			j.fail(RuleGrowth, "message %d went from %d to %d characters", i, a, b)
		}
	}
	if a, b := sum(j.costIn), sum(j.costOut); b > a {
		j.fail(RuleGrowth, "the view went from %d to %d tokens", a, b)
	}
}

func chars(m message.Message) int {
	n := 0
	for _, p := range m.Parts {
		n += utf8.RuneCountInString(p.Text)
	}
	return n
}

// checkTarget: a compaction that stops above the target leaves no message that could
// be summarized. Neither does a manual one.
func (j *judge) checkTarget() {
	above := j.Triggered && j.Target > 0 && j.Fixed+sum(j.costOut) > j.Target
	if !j.Summarizes || j.Fallback || j.KeepTurns == 0 || !above && !j.Manual {
		return
	}
	recent := j.in.recent(j.KeepTurns, j.KeepPairs)
	left, count := 0, 0
	for i, o := range j.place {
		if o >= 0 && !recent[i] && !j.pinnedRound[i] && !j.anchored(i) && !ours(j.In[i]) {
			left += j.costOut[o]
			count++
		}
	}
	if left > j.MaxSummaryTokens+summarySlack {
		j.fail(RuleTarget, "%d old messages of %d tokens are left", count, left)
	}
}

// checkSummary: the view has at most one summary, of the right form, smaller than the
// messages that it replaces, and within its limit.
func (j *judge) checkSummary() {
	made, newest := -1, 0
	for o, i := range j.src {
		version, _, ok := parseSummary(j.Out[o])
		if !ok || i >= 0 {
			continue
		}
		if made >= 0 {
			j.fail(RuleSummary, "there are two new summaries")
		}
		made, newest = o, version
	}
	j.checkSummaryCount(made)
	if made < 0 {
		return
	}
	replaced := 0
	for i, d := range j.Decisions {
		if version, _, ok := parseSummary(j.In[i]); ok && d == summarized && version >= newest {
			j.fail(RuleSummary, "version %d replaces version %d", newest, version)
		}
		if d == summarized {
			replaced += j.costIn[i]
		}
	}
	if j.costOut[made] >= replaced {
		j.fail(RuleSummary, "it costs %d, and the messages that it replaces cost %d", j.costOut[made], replaced)
	}
	if limit := j.MaxSummaryTokens; limit > 0 && j.costOut[made] > limit+summarySlack {
		j.fail(RuleSummary, "it costs %d, and its limit is %d", j.costOut[made], limit)
	}
}

// checkSummaryCount counts the summaries of the view. If the history had several
// summaries, they may stay unless the compaction makes a new one. A user's text, a
// protected text, and a text inside a round are not summaries, even if they look like
// one.
func (j *judge) checkSummaryCount(made int) {
	count := func(r *reading) (n int) {
		for i, m := range r.msgs {
			_, _, ok := parseSummary(m)
			if ok && m.Role == message.RoleAssistant && !j.pinned(m) && r.isOwnRound(i) {
				n++
			}
		}
		return n
	}
	before := count(j.in)
	allowed := max(before, 1)
	switch {
	case j.Earlier:
		allowed = before + 1 // the text that looks like a summary may be older
	case made >= 0:
		allowed = 1
	}
	if there := count(j.out); there > allowed {
		j.fail(RuleSummary, "there are %d", there)
	}
}
