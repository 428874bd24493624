package compact

import (
	"context"
	"path"
	"slices"
	"sort"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
	"github.com/agentcompact/compact/trace"
)

// drafts returns the files that are stored with the ledger of a step: the transcript
// if it is not stored yet, the summary of this call, if any, and the index.
func (c *call) drafts(ctx context.Context, r *run, out *reduce.Outcome, step *ledger.Step) (drafts []record.Draft, err error) {
	c.summaryFile = record.Written{}
	unstored := r.isUnstored()
	if unstored {
		transcript, err := r.transcript(ctx)
		if err != nil {
			return nil, err
		}
		drafts = append(drafts, transcript)
	}
	if c.summary != nil {
		drafts = append(drafts, c.s.log.SummaryDraft(ledger.SummaryFile(step.Step, c.summary, c.s.redactor.Session)))
	}
	if !unstored {
		set, err := c.index(ctx, r, out, step)
		if err != nil {
			return nil, err
		}
		index, err := c.s.log.IndexDraft(set)
		return append(drafts, index), err
	}
	return append(drafts, c.s.log.IndexDraftOf(func(names []string) (*turnindex.Set, error) {
		r.name, step.Archive = names[0], names[0]
		return c.index(ctx, r, out, step)
	})), nil
}

// named records the file of the summary in the call, and the file of the index in the
// step.
func (c *call) named(step *ledger.Step, drafts []record.Written) {
	last := len(drafts) - 1
	if c.summary != nil {
		c.summaryFile = drafts[last-1]
	}
	step.Index.File = path.Base(drafts[last].Key.String())
}

// referring returns the step for its ledger, with the summary replaced by the name of
// its file.
func (c *call) referring(step ledger.Step) ledger.Step {
	if c.m.cfg.Storage.Repeat == repeatFull || c.summaryFile.SHA256 == "" {
		return step
	}
	step.Recipes = slices.Clone(step.Recipes)
	for i := range step.Recipes {
		if cut := step.Recipes[i].Cut; cut != nil && cut.Summary == c.summary {
			named := *cut
			named.Summary, named.SummaryIn = nil, path.Base(c.summaryFile.Key.String())
			step.Recipes[i].Cut = &named
		}
	}
	return step
}

func (c *call) place(files []record.Written) *Archived {
	a := &Archived{Adapter: c.m.adapter(), Location: c.s.log.Location(), Head: c.s.log.ManifestHead()}
	for _, w := range files {
		a.Files = append(a.Files, path.Base(w.Key.String()))
	}
	return a
}

// ledger returns the ledger of the step.
func (c *call) ledger(r *run, out *reduce.Outcome, number int) ledger.Step {
	step := ledger.Step{
		V: ledger.Version, Key: c.s.keys.Current().ID(), Step: number, Session: c.id, Agent: c.q.agent, Branch: c.q.branch, Kind: "preflight", Note: c.s.redactor.Text(c.q.note).String(),
		Model: c.ep.name, Window: c.ep.window, Preset: c.ep.cfg.Preset,
		Before: c.res.Before.Total, After: c.res.After.Total, Bound: c.upperBound(c.res.Messages, c.res.After.Total), Calibration: c.calibration(), Keep: out.Keep, Forms: c.ep.forms(),
		Archive: r.archive(), Edits: c.seenEdits,
	}
	switch {
	case c.q.manual:
		step.Kind = "manual"
	case c.res.Reason == trace.ReasonArrival:
		step.Kind = ledger.KindTidy
	case c.res.Reason == trace.ReasonEveryCall:
		step.Kind = "always"
	}
	for i := range out.Passes {
		if p := &out.Passes[i]; p.Applied > 0 {
			step.Recipes = append(step.Recipes, out.Lasting(p))
		}
	}
	if c.summary != nil {
		step.Strategy = c.ep.cfg.Policy.Strategy
	}
	if info := summaryOf(out); info != nil && info.First > 0 {
		step.Numbers = info.First + info.Input - 1
	}
	in, n := reduce.Coverage(step.Recipes)
	c.outChain = c.now.chain.Fork(firstChanged(out))
	step.In, step.Out = c.now.chain.At(c.now.conv, in), c.outChain.At(out.Conversation, n)
	return step
}

// remember puts the outcome of a committed step into the memo. A replay of the ledger
// would return the same outcome.
func (c *call) remember(out *reduce.Outcome) {
	steps, n := c.s.snapshot(), c.res.Step
	if n < 1 || n > len(steps) || steps[n-1].Owner() != c.q.owner() {
		return
	}
	made := &steps[n-1]
	if made.Out != c.outChain.At(out.Conversation, made.Out.N) {
		return
	}
	c.lane.memo.went(c.now, c, out, made)
	c.lane.memo.steps = n
}

// rememberEdits does the same for appended edits. If others have appended edits
// of the lane, it does nothing.
func (c *call) rememberEdits(out *reduce.Outcome, seq int64) {
	_, all, own := c.s.record(c.q.owner())
	if m := &c.lane.memo; own == m.edits+1 {
		at := sort.Search(len(all), func(i int) bool { return all[i].Seq >= seq })
		m.went(c.now, c, out, &all[at])
		m.edits = own
	}
}

// went replaces the memo by the outcome of a step.
func (m *memo) went(now replayed, c *call, out *reduce.Outcome, made *ledger.Step) {
	if made.Cuts() && made.In.N == now.conv.Unpinned() {
		now.room = 0 // see replay
	}
	now.chain, now.conv = c.outChain, out.Conversation
	now.went(made)
	now.edits += made.CountEdits()
	q := c.engineRequest()
	q.Conversation = out.Conversation
	now.seen = &viewCache{ep: c.ep, costs: c.costs(), observed: c.now.seen.observed, view: c.ep.engine.Settle(out.View, q)}
	m.now = now
}

// firstChanged returns the index of the first message that a run changed; 0 if
// it removed any.
func firstChanged(out *reduce.Outcome) int {
	first := out.Conversation.Len()
	for _, p := range out.Passes {
		for _, e := range p.Edits {
			if e.Cut != nil {
				return 0
			}
			first = min(first, e.Text.Index)
		}
	}
	return first
}
