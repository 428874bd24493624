package compact

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"slices"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
	"github.com/agentcompact/compact/trace"
)

// attempts limits how often a call decides again because another process committed a
// step of its lane.
const attempts = 5

// maxTries limits how many numbers one outcome tries. Each failed try means that
// another process has taken a number.
const maxTries = 1000

var (
	errStale = errors.New("compact: another process committed a step of this agent and branch first")
	errTaken = errors.New("compact: another process took the number of this step")
)

// commit stores an outcome as a step: first the removed text, then the events, then
// the ledger. Only then does the view change. Slow work is done before the session's
// lock is taken, so that a summary of one agent does not delay another.
func (c *call) commit(ctx context.Context, r *run, out *reduce.Outcome) error {
	if c.q.observe {
		return c.pretend(ctx, out, c.small(out))
	}
	if c.small(out) {
		return c.appendEdits(ctx, out)
	}
	if err := c.archive(ctx, r, out); err != nil {
		return err
	}
	started := c.m.now()
	c.working = started
	c.took(out)
	c.telling.made = out
	if r.late {
		c.late = true
		return c.uncommitted(ctx, r, "SummaryLate", summarize.ErrLate)
	}
	err := c.makeStep(ctx, r, out)
	c.res.Timing.Commit = c.m.now().Sub(started) - c.res.Timing.CommitWait
	if err != nil {
		c.res.Step = 0
		return err
	}
	c.remember(out)
	return nil
}

// archive waits until the removed text is stored, unless it can be stored together
// with the step.
func (c *call) archive(ctx context.Context, r *run, out *reduce.Outcome) error {
	var originals []int
	if !c.q.manual && c.res.Reason == trace.ReasonEveryCall {
		originals = c.taken(out)
	}
	r.once.Do(func() {
		if r.withStep = originals == nil && r.canStoreWithStep(ctx); !r.withStep {
			r.begin(ctx, originals)
		}
	})
	if r.withStep {
		return nil
	}
	waited := c.m.now()
	select {
	case <-r.done:
	case <-ctx.Done():
		return ctx.Err()
	}
	c.res.Timing.ArchiveWait += c.m.now().Sub(waited)
	return r.archiving(ctx)
}

// makeStep commits the outcome under the next free number. Steps that others
// committed in the meantime are ignored, except steps of the call's own lane, which
// the decision should have included.
func (c *call) makeStep(ctx context.Context, r *run, out *reduce.Outcome) error {
	waiting := c.m.now()
	if err := c.s.committing.Lock(ctx); err != nil {
		return err
	}
	defer c.s.committing.Unlock()
	c.res.Timing.CommitWait = c.m.now().Sub(waiting)
	if c.s.isVolatile() {
		if err := r.storeNow(ctx); err != nil {
			return err
		}
	}
	if r.err == nil && c.s.isVolatile() && !c.s.shadow {
		if err := c.s.restore(ctx, r.written); err != nil {
			if err := c.archiveFailed(ctx, "commit", err); err != nil {
				return err
			}
		}
	}
	taken := 0 // number of the previous try
	for try := range maxTries {
		mine, err := c.catchUp(ctx, r, out)
		if taken > 0 && mine == 0 {
			c.lost(taken)
		}
		switch {
		case mine > 0: // our own commit, whose answer was lost
			c.committed(r, mine)
			return nil
		case errors.Is(err, errStale) && c.lastAttempt:
			return c.uncommitted(ctx, r, "Conflict", fmt.Errorf("%w: %w", ErrConflict, errStale))
		case err != nil:
			return err
		}
		taken = c.s.next()
		if err := c.tryStep(ctx, r, out, taken); !errors.Is(err, errTaken) {
			return err
		}
		if err := backOff(ctx, try); err != nil {
			return err
		}
	}
	c.lost(taken)
	return c.uncommitted(ctx, r, "Conflict", fmt.Errorf("%w: %w", ErrConflict, errTaken))
}

// catchUp reads the steps of others. It returns errStale if there is an unseen step of
// this call's lane. If that step holds the same outcome as this call, it returns the
// step's number.
func (c *call) catchUp(ctx context.Context, r *run, out *reduce.Outcome) (mine int, err error) {
	if c.s.isVolatile() {
		return 0, nil
	}
	if err := c.s.reload(ctx); err != nil {
		return 0, c.archiveFailed(ctx, "read", err)
	}
	for _, step := range c.s.snapshot()[c.seen:] {
		if step.Owner() != c.q.owner() {
			continue
		}
		if c.isOwn(r, out, &step) {
			return step.Step, nil
		}
		return 0, errStale
	}
	return 0, nil
}

// isOwn reports whether a step is the one that this call tried to commit. The
// transcript alone does not prove it: this call can use the transcript of an earlier,
// failed call, and the step of that call, with another summary, may be stored after
// all.
func (c *call) isOwn(r *run, out *reduce.Outcome, step *ledger.Step) bool {
	return c.outChain != nil && r.err == nil && step.Archive == path.Base(r.written.Key.String()) &&
		step.Out == c.outChain.At(out.Conversation, step.Out.N)
}

// tryStep stores the step under a number. errTaken means that another process has
// taken the number.
func (c *call) tryStep(ctx context.Context, r *run, out *reduce.Outcome, number int) error {
	if c.s.isVolatile() {
		if err := r.storeNow(ctx); err != nil {
			return err
		}
	}
	c.res.Step = number
	step := c.ledger(r, out, number)
	if r.err != nil || c.s.isVolatile() {
		c.s.addVolatile(step)
		c.settle(number)
		return nil
	}
	drafts, err := c.drafts(ctx, r, out, &step)
	if err != nil {
		return c.unstored(ctx, "index", err, step)
	}
	return c.create(ctx, r, &step, drafts)
}

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

// create creates the ledger of a step, which commits it. The step's lines of the audit
// log are durable before that, and name its files.
func (c *call) create(ctx context.Context, r *run, step *ledger.Step, drafts []record.Draft) error {
	op, unstored := "commit", r.isUnstored()
	var files []record.Written
	if !unstored {
		files = []record.Written{r.written}
	}
	done, err := c.store(ctx, record.Step{
		Number: step.Step, Files: files, Drafts: drafts,
		Ledger: func(drafts []record.Written) (pieces []redact.Text, err error) {
			c.named(step, drafts)
			err = c.m.computeNow(func() error {
				pieces, err = ledger.Pieces(c.s.toStore(c.referring(*step)), c.s.redactor.Session)
				return err
			})
			return pieces, err
		},
		Beside: func(ctx context.Context, _ []record.Written) (err error) {
			var audit bool
			if audit, err = c.beside(ctx, r, step.Step, unstored); audit && err != nil {
				op = "events"
			}
			return err
		},
	})
	switch {
	case errors.Is(err, storage.ErrExists):
		return errTaken
	case err != nil:
		c.summaryFile, step.Index = record.Written{}, nil // it is unknown which files exist
		if r.isUnstored() {
			r.recordTranscript(ctx, record.Written{}, err)
		}
		if r.err != nil {
			op, err = "transcript", r.err
		}
		return c.unstored(ctx, op, err, *step)
	}
	r.files = append(append(files, done.Drafts...), done.Ledger)
	c.s.add(*step)
	c.committed(r, step.Step)
	return nil
}

// beside writes the step's lines of the audit log while its drafts are stored, and
// reports whether it wrote them. If the transcript is one of the drafts, beside waits
// until the transcript is stored.
func (c *call) beside(ctx context.Context, r *run, number int, unstored bool) (audit bool, err error) {
	if unstored {
		if err := r.awaitTranscript(ctx); err != nil {
			return false, err
		}
	}
	lines := c.stepLines(number)
	c.logStep()
	return true, c.s.writeEvents(ctx, append(lines, c.takeEvents()...)...)
}

// store calls CommitStep of an archive, which can panic.
func (c *call) store(ctx context.Context, step record.Step) (done record.Committed, err error) {
	defer c.m.rescue("the archive", &err)
	return c.s.log.CommitStep(ctx, step)
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

// committed finishes a call whose step is in the archive.
func (c *call) committed(r *run, number int) {
	c.res.Step = number
	c.res.Archived = c.place(r.files)
	c.settle(number)
}

func (c *call) place(files []record.Written) *Archived {
	a := &Archived{Adapter: c.m.adapter(), Location: c.s.log.Location(), Head: c.s.log.ManifestHead()}
	for _, w := range files {
		a.Files = append(a.Files, path.Base(w.Key.String()))
	}
	return a
}

// uncommitted finishes a call whose view has no step in the ledger. The removed text
// is archived; the next call reads the steps of the ledger instead.
func (c *call) uncommitted(ctx context.Context, r *run, kind string, why error) error {
	if err := r.storeNow(ctx); err != nil {
		return err
	}
	c.res.Step = 0
	if r.err == nil {
		c.res.Archived = c.place([]record.Written{r.written})
	}
	c.settle(0)
	c.res.Warnings = append(c.res.Warnings, "the view is archived, but it is not a step of the ledger: "+why.Error())
	if !c.lateTold {
		c.emitError(kind, "uncommitted", why)
	}
	return nil
}

// unstored finishes a call whose step the archive did not store: with the error, or
// in memory if the configuration says to continue.
func (c *call) unstored(ctx context.Context, op string, err error, step ledger.Step) error {
	if err := c.archiveFailed(ctx, op, err); err != nil {
		return err
	}
	c.s.addVolatile(step)
	c.settle(step.Step)
	return nil
}

// archiveFailed returns a failure of the archive as the error of the call. If the
// configuration says to continue, it adds a warning, and later steps of the
// session stay in memory. A scrubbed session is always an error.
func (c *call) archiveFailed(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	c.m.forsake(c.s, err)
	failed := &ArchiveError{Op: op, Session: c.id, Err: err}
	if errors.Is(err, record.ErrScrubbed) {
		return failed // the caller retries
	}
	if c.m.cfg.Storage.OnError != "continue" {
		return failed
	}
	c.res.Warnings = append(c.res.Warnings, c.m.redactor.Text("nothing was archived (storage.on_error: continue): "+failed.Error()).String())
	c.emitError("ArchiveFailed", "continue", failed)
	c.unarchived, c.logged = true, -1 // the line of the call is written again
	c.s.setVolatile()
	return nil
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
	for _, p := range out.Passes {
		if p.Applied > 0 {
			step.Recipes = append(step.Recipes, p.Recipe)
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

// backOff waits for a random time of at most a quarter of a second, and not at
// all on the first try.
func backOff(ctx context.Context, try int) error {
	if try == 0 {
		return ctx.Err()
	}
	t := time.NewTimer(rand.N(time.Millisecond << min(try, 8)))
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
