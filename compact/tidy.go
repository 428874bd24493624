package compact

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// The reduction of results on arrival is not a compaction, because it changes nothing
// that was sent. Such a call makes no step; it appends to edits.jsonl, with a short
// time limit. Results that were not archived in time are sent whole. If their line is
// stored after all, a void line follows; a void line states that no view used the edit.

// sending records the new results that this call sends unreduced.
func (c *call) sending(failed error) {
	if c.q.dry || !c.tidies() {
		return
	}
	msgs := c.res.Messages
	if failed != nil {
		msgs = c.history
	}
	c.lane.sent = wholeResults{from: afterAnswer(c.history), results: resultsOf(msgs[afterAnswer(msgs):])}
}

// arrivalSuffices reports whether a compaction that is due becomes unnecessary because
// the new results, which no prompt has contained yet, are reduced. A compaction would
// change a prefix that the provider has cached.
func (c *call) arrivalSuffices(ctx context.Context, q reduce.Request, due int) bool {
	if !c.tidies() || c.tooLarge() || c.s.isVolatile() && !c.q.observe {
		return false
	}
	arrival := *c.ep.engine
	arrival.Steps = slices.DeleteFunc(slices.Clone(arrival.Steps), func(s reduce.Step) bool { return s.Stage.Name() != tidy.StageName })
	q.Only = policy.Always
	out, err := arrival.Run(ctx, q)
	if err != nil || !out.Changed() {
		return false
	}
	c.unsent = c.res.Before.Total - out.View.Total()
	return c.upperBound(out.View.Messages, out.View.Total()) < due
}

// onlyTidied reports whether a run without a due compaction only reduced new
// results.
func onlyTidied(q reduce.Request, out *reduce.Outcome) bool {
	if q.Only != policy.Always {
		return false
	}
	for i := range out.Passes {
		if p := &out.Passes[i]; p.Applied > 0 && p.Stage != tidy.StageName {
			return false
		}
	}
	return true
}

// tidied finishes a call that reduced results on arrival. It returns false if the archive
// did not store their originals in time, so that the results have to be sent whole.
func (c *call) tidied(ctx context.Context, started time.Time, r *run, out *reduce.Outcome) (bool, error) {
	before := *c.res
	c.res.Triggered, c.res.Reason = true, trace.ReasonArrival
	if c.q.dry || c.q.observe {
		c.emitDecision(started, r.view)
		if c.q.observe {
			return true, c.pretend(ctx, out, true)
		}
		c.fillResult(out)
		return true, nil
	}
	c.fillResult(out)
	step, lines, err := c.editLines(out)
	if err != nil {
		return false, err
	}
	if !c.s.isVolatile() && !c.s.sentWhole(&step) {
		appended := c.m.now()
		w, why := c.appendInTime(ctx, step, lines)
		if why == nil {
			return true, c.tidiedAs(ctx, started, r, out, step, w, appended)
		}
		if ctx.Err() != nil {
			return false, ctx.Err()
		}
		before.Warnings = append(before.Warnings, c.m.redactor.Text("tidy: "+why.Error()+"; the results were sent whole").String())
	}
	*c.res, c.did = before, nil
	c.countTidied(nil)
	return false, nil
}

// appendInTime appends lines, and waits at most tidy.wait for the append. If it returns
// an error, the lines are not stored, or not in time, and are void for this process. A
// void line follows them, which makes them void for other processes if they are stored
// after all.
func (c *call) appendInTime(ctx context.Context, step ledger.Step, lines []redact.Text) (record.EditsWritten, error) {
	type answer struct {
		w   record.EditsWritten
		err error
	}
	written, late := make(chan answer, 1), make(chan struct{})
	s := c.s
	ended := c.m.appends.begin()
	begun := c.m.uses.start(ctx, func(ctx context.Context) {
		defer ended()
		var err error
		defer c.m.rescue("the archive", &err)
		var w record.EditsWritten
		w, err = s.appendLines(ctx, lines)
		written <- answer{w, err}
		<-late
		if err != nil || len(written) > 0 { // a part may be stored, or the call did not wait for the append to end
			_ = s.appendVoid(ctx, &step)
		}
	})
	if !begun {
		ended()
		close(late)
		return record.EditsWritten{}, ErrClosed
	}
	defer close(late)
	wait := time.NewTimer(c.ep.cfg.Tidy.Wait)
	defer wait.Stop()
	select {
	case a := <-written:
		if a.err != nil {
			s.makeVoid(&step) // a part may be stored
		}
		return a.w, a.err
	case <-wait.C:
		s.makeVoid(&step)
		return record.EditsWritten{}, fmt.Errorf("the archive did not store the originals within %s (tidy.wait)", c.ep.cfg.Tidy.Wait)
	case <-ctx.Done():
		s.makeVoid(&step)
		return record.EditsWritten{}, ctx.Err()
	}
}

// tidiedAs finishes a call whose originals are archived.
func (c *call) tidiedAs(ctx context.Context, started time.Time, r *run, out *reduce.Outcome, step ledger.Step, w record.EditsWritten, appended time.Time) error {
	c.emitDecision(started, r.view)
	c.tellStored(c.editsStored(w, nil, len(step.Evicted), appended))
	c.telling.made = out
	step.Appended(w)
	c.s.mu.Lock()
	c.s.learnEdit(step)
	c.s.mu.Unlock()
	if c.wasOvertaken(ctx, w) && !c.lastAttempt {
		return errStale
	}
	c.rememberEdits(out, step.Seq)
	c.res.Archived = c.place([]record.Written{w.Written})
	err := c.tellEdits(ctx)
	c.res.Timing.Commit = c.m.since(appended)
	return err
}
