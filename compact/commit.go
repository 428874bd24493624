package compact

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"path"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// commit stores an outcome as a step: first the removed text, then the events, then
// the ledger. Only then does the view change. Slow work is done before the session's
// lock is taken, so that a summary of one agent does not delay another.
func (c *call) commit(ctx context.Context, r *run, out *reduce.Outcome) error {
	if c.q.observe {
		return c.pretend(ctx, out, c.fitsEdits(out))
	}
	if c.fitsEdits(out) {
		return c.appendEdits(ctx, out)
	}
	if err := c.archive(ctx, r, out); err != nil {
		return err
	}
	started := c.m.now()
	c.working = started
	c.fillResult(out)
	c.telling.made = out
	if r.late {
		c.late = true
		return c.uncommitted(ctx, r, "SummaryLate", summarize.ErrLate)
	}
	err := c.makeStep(ctx, r, out)
	c.res.Timing.Commit = max(0, c.m.since(started)-c.res.Timing.CommitWait)
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
	c.res.Timing.ArchiveWait += c.m.since(waited)
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
	c.res.Timing.CommitWait = c.m.since(waiting)
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
		c.addVolatile(step, out)
		c.settle(number)
		return nil
	}
	drafts, err := c.drafts(ctx, r, out, &step)
	if err != nil {
		return c.unstored(ctx, "index", err, step)
	}
	return c.create(ctx, r, &step, drafts)
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

// committed finishes a call whose step is in the archive.
func (c *call) committed(r *run, number int) {
	c.res.Step = number
	c.res.Archived = c.place(r.files)
	c.settle(number)
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

// addVolatile adds a step that only this process knows, with the numbers of its turns: later
// calls then know which messages are new.
func (c *call) addVolatile(step ledger.Step, out *reduce.Outcome) {
	step.Turns = c.s.number(c.history, c.q.owner(), c.ep.engine.Pins).ledger(out.Conversation, c.outChain)
	c.s.addVolatile(step)
}

// pretend commits an outcome in memory only, as a step or as edits between steps.
func (c *call) pretend(ctx context.Context, out *reduce.Outcome, edits bool) error {
	if err := c.s.committing.Lock(ctx); err != nil {
		return err
	}
	defer c.s.committing.Unlock()
	c.fillResult(out)
	step := c.ledger(&run{}, out, 0)
	step.Archive = ""
	if edits {
		step.Seq = c.s.lastEdit() + 1
		c.s.mu.Lock()
		c.s.learnEdit(step)
		c.s.mu.Unlock()
		c.rememberEdits(out, step.Seq)
		return nil
	}
	step.Step = c.s.next()
	c.res.Step = step.Step
	c.addVolatile(step, out)
	c.settle(step.Step)
	c.remember(out)
	return nil
}
