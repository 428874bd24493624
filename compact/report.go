package compact

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// keepView sets the result to the conversation, for a call that compacted
// nothing.
func (c *call) keepView(conv *reduce.Conversation) {
	c.res.Messages, c.shown = conv.Messages(), conv
	c.decisions(conv, nil)
	c.sayTooLarge()
}

// fillResult fills in the result from the engine's outcome.
func (c *call) fillResult(out *reduce.Outcome) {
	c.res.Messages, c.shown = out.Conversation.Messages(), out.Conversation
	c.res.After = c.layersIn(out.View)
	c.res.Keep = out.Keep
	c.did = c.deedsOf(out)
	c.summary = nil
	for _, p := range out.Passes {
		if p.Applied > 0 && p.Recipe.Cut != nil && p.Recipe.Cut.Summary != nil && p.Recipe.Cut.Summary.Text != "" {
			c.summary = p.Recipe.Cut.Summary
		}
	}
	c.discards(out)
	c.sayTooLarge()
	c.decisions(out.Conversation, out.View)
	c.res.CallStage = c.did.stage(c.res.InvariantStatus)
	for _, p := range out.Passes {
		r := StageReport{Stage: p.Stage, Edits: len(p.Edits), Before: p.Before, After: p.After, Elapsed: p.Elapsed}
		if p.Err != nil {
			r.Err = c.m.redactor.Text(p.Err.Error()).String()
		}
		c.res.Stages = append(c.res.Stages, r)
	}
}

// undo resets the result to the unchanged history, without any edits.
func (c *call) undo() {
	r := c.res
	c.did, c.shown = nil, nil
	r.Messages, r.Sources = slices.Clone(c.input), identity(len(c.input))
	r.Bill = nil
	r.Triggered, r.Step, r.Archived, r.Replayed, r.Earlier = false, 0, nil, 0, nil
	r.Tidied = nil
	r.Decisions, r.Stages, r.Summary, r.Savings = nil, nil, nil, Savings{}
	r.KeptCount, r.TruncatedCount, r.MaskedCount, r.MaskedChars, r.SummarizedCount, r.DroppedCount = 0, 0, 0, 0, 0, 0
	r.ReductionStage, r.CallStage = ReductionNone, ReductionNone
	if r.MaxTokens > 0 { // the history was counted
		costs := make([]int, len(c.input)) // the lane's cached costs can belong to another call
		for i := range c.input {
			costs[i] = c.ep.estimator.Message(c.input[i])
		}
		r.After, r.Keep = c.layers(c.input, costs), c.ep.engine.Keep
		r.TokensIn = r.After.Total
	}
}

// discards reports stages whose edits were discarded, and summaries that
// failed.
func (c *call) discards(out *reduce.Outcome) {
	for _, p := range out.Passes {
		if p.Err != nil {
			c.res.InvariantStatus = InvariantsFallback
			c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text(failedStage(p)).String())
			c.emitDiscard(p)
			c.m.logPanic(p.Err)
		}
		if p.Summary != nil && p.Summary.Fallback == "pruning-only" && p.Applied > 0 {
			c.res.InvariantStatus = InvariantsFallback
		}
		if s := p.Summary; s != nil && s.Fallback != "" && p.Applied > 0 && p.Stage == summarize.StageName {
			c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text(noSummary(s)).String())
		}
	}
}

// failedStage returns the error of a stage with the stage's name.
func failedStage(p reduce.Pass) string {
	text := p.Err.Error()
	if name := "stage " + p.Stage; !strings.Contains(text, name) {
		text = name + ": " + text
	}
	return text
}

// instead describes, by fallback, what replaces a failed summary.
var instead = map[string]string{
	summarize.FallbackPruning:    "a notice replaces the removed messages (summarizer.fallback: pruning-only)",
	summarize.FallbackExtractive: "an extractive summary, which no model wrote, replaces it",
	summarize.FallbackBrief:      "a summary with the strategy brief replaces it",
}

// noSummary describes a failed summary and its fallback.
func noSummary(s *policy.SummaryInfo) string {
	why := "nothing was tried"
	if n := len(s.Errors); n > 0 {
		why = s.Errors[n-1]
	}
	return fmt.Sprintf("the requested summary failed (attempts: %d; %s): %s", s.Attempts, why, instead[s.Fallback])
}

// decisions sets the decision of each message, and the counts.
func (c *call) decisions(conv *reduce.Conversation, view *policy.View) {
	if view == nil {
		view = c.view()
	}
	why, costs := newReasons(view, c.res.Keep), c.costs()
	r := c.res
	r.Decisions = make([]MessageDecision, len(c.history))
	at := make([]int, len(c.history)) // index in the view, from 1
	r.Sources = make([]int, conv.Len())
	for i := range conv.Len() {
		r.Sources[i] = conv.Source(i)
		if r.Sources[i] >= 0 {
			at[r.Sources[i]] = i + 1
		}
	}
	r.KeptCount, r.TruncatedCount, r.MaskedCount, r.MaskedChars, r.SummarizedCount, r.DroppedCount = 0, 0, 0, 0, 0, 0
	r.TokensIn = c.fixed
	for i := range c.history {
		d, reason := conv.Decision(i)
		m := MessageDecision{Index: i, Role: c.history[i].Role, Decision: d, Reason: reason, TokensBefore: costs[i]}
		if k := at[i] - 1; k >= 0 {
			m.TokensAfter = view.Tokens[k]
			if d == policy.Kept {
				m.Reason = why.of(k)
			}
			if d == policy.Masked {
				r.MaskedChars += conv.MaskedChars(k)
			}
		}
		r.Decisions[i] = m
		r.TokensIn += m.TokensBefore
		*r.counter(d)++
	}
	r.Summary = c.summaryIn(view)
	r.ReductionStage = c.reduction()
	c.savings(view)
}

func (r *Result) counter(d policy.Decision) *int {
	switch d {
	case policy.Truncated:
		return &r.TruncatedCount
	case policy.Masked:
		return &r.MaskedCount
	case policy.Summarized:
		return &r.SummarizedCount
	case policy.Dropped:
		return &r.DroppedCount
	}
	return &r.KeptCount
}

// summaryIn returns the summary in the view, from this call or from the step
// that made it. It is a copy: the caller owns the result, and the step must not change.
func (c *call) summaryIn(view *policy.View) *policy.SummaryInfo {
	shown := c.summary
	if shown == nil {
		shown = c.summaryOfStep(view)
	}
	if shown == nil {
		return nil
	}
	own := *shown
	own.Errors = slices.Clone(own.Errors)
	return &own
}

// summaryOfStep returns the summary in the view, in the form in which its step stores it.
func (c *call) summaryOfStep(view *policy.View) *policy.SummaryInfo {
	for i, m := range view.Messages {
		if !view.Summary(i) {
			continue
		}
		steps := c.s.snapshot()
		for k := len(steps) - 1; k >= 0; k-- {
			for _, r := range steps[k].Recipes {
				if r.Cut != nil && r.Cut.Summary != nil && r.Cut.Summary.Text == m.Text() {
					return r.Cut.Summary
				}
			}
		}
	}
	return nil
}

// reduction returns the most severe reduction in the view.
func (c *call) reduction() ReductionStage {
	r := c.res
	return severest(r.InvariantStatus, r.SummarizedCount > 0 || r.Summary != nil, r.DroppedCount > 0, r.MaskedCount > 0, r.TruncatedCount > 0)
}

func (c *call) savings(view *policy.View) {
	s := Savings{TokensSaved: c.res.TokensIn - c.res.After.Total, ObservationTokens: c.now.seen.observed}
	for _, t := range view.Turns {
		masked := false
		for i := view.Rounds[t.First].Start; i < view.Rounds[t.Last].End && !masked; i++ {
			if !view.HasResult(i) {
				continue
			}
			for p := range view.Messages[i].Parts {
				masked = masked || view.Messages[i].Parts[p].Kind == message.KindToolResult && view.Masked(i, p)
			}
		}
		if masked {
			s.MaskedTurns++
		} else {
			s.VisibleTurns++
		}
	}
	if c.res.TokensIn > 0 {
		s.Percent = math.Round(1000*float64(s.TokensSaved)/float64(c.res.TokensIn)) / 10
	}
	c.res.Savings = s
}

// reasons explains why messages of a view were kept.
type reasons struct {
	v    *policy.View
	lots []keepReason // by message
}

// A keepReason is the reason why a partition keeps a message.
type keepReason uint8

const (
	_ keepReason = iota // the partition does not keep the message
	inRecent
	inPinned
)

func newReasons(v *policy.View, keep policy.Keep) reasons {
	p, lots := v.Partition(keep), make([]keepReason, len(v.Messages))
	for _, i := range p.Recent {
		lots[i] = inRecent
	}
	for _, i := range p.Pinned {
		lots[i] = inPinned
	}
	return reasons{v, lots}
}

func (r reasons) of(i int) string {
	lot := r.lots[i]
	switch {
	case i == r.v.Anchor:
		return "last user message"
	case lot == inRecent && i >= r.v.Open:
		return "open round"
	case lot == inRecent:
		return "recent"
	case lot == inPinned && r.v.Pinned[i]:
		return "pinned"
	case lot == inPinned:
		return "in one round with a pinned message"
	}
	return "fits the budget"
}

// standing finishes a call that got no slot: with an error, or with the current view.
func (c *call) standing(started time.Time, err error) error {
	if err != nil {
		return err
	}
	c.res.Reason = trace.ReasonBusy
	c.res.Warnings = append(c.res.Warnings, "too many sessions were compacting at once, and the deadline was near: the view fits uncompacted, and the next call retries")
	c.keepView(c.now.conv)
	c.emitDecision(started, nil)
	return nil
}

// unchanged reports why nothing was done although a compaction was due.
func (c *call) unchanged(started time.Time, r *run, q reduce.Request, out *reduce.Outcome) error {
	c.res.Triggered, c.decision, c.telling = false, nil, stepEventState{}
	switch {
	case r.late:
		c.res.Reason = trace.ReasonLate
		c.res.Warnings = append(c.res.Warnings, summarize.ErrLate.Error()+": the view fits without it; the next call uses the summary")
	case q.Only == policy.Always: // the reason why no compaction is due
	case c.q.manual:
		c.res.Reason = trace.ReasonNothingOld
	case c.offer != nil:
		c.res.Reason = trace.ReasonBelow
		c.nothingOffered()
	case c.res.Reason == trace.ReasonBytes: // sayTooLarge reports the rest
		c.res.Reason = trace.ReasonBelow
	default:
		c.res.Reason, c.floor = trace.ReasonFloor, out.View.Total()
		c.explain(out)
	}
	c.discards(out)
	c.keepView(c.now.conv)
	c.emitDecision(started, nil)
	return nil
}

// explain reports, once for each lane, why the session stays above the trigger.
func (c *call) explain(out *reduce.Outcome) {
	if c.lane.explained {
		return
	}
	c.lane.explained = true
	total, bounded := out.View.Total(), ""
	if most := c.upperBound(out.View.Messages, total); most > total {
		bounded = fmt.Sprintf(" (an estimate; the limits apply to its upper bound %d)", most)
	}
	c.res.Warnings = append(c.res.Warnings, fmt.Sprintf(
		"the view costs %d tokens%s, the target is %d, and nothing more may be removed: all messages are pinned, recent or the last user message; compaction waits until more may be removed, or until %d tokens",
		total, bounded, c.budget.Target, c.budget.Cap))
}
