package compact

import (
	"context"
	"encoding/json"
	"errors"
	"path"
	"sync"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/trace"
)

// errLost: another process committed the step first.
var errLost = errors.New("compact: another process committed this step")

// run is one run of the engine with what happens beside it: the archive is
// written while a summariser is asked.
type run struct {
	c    *call
	step int

	once     sync.Once
	done     chan struct{}
	stored   stored
	written  storage.Written
	err      error
	archived trace.Event
	stop     context.CancelFunc

	ctx      context.Context
	view     *policy.View       // before the run
	decision func(*policy.View) // says that this call compacts
	observed
}

func newRun(ctx context.Context, c *call) *run {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	return &run{c: c, ctx: ctx, step: len(c.s.steps) + 1, done: make(chan struct{})}
}

// startArchive begins to store what the step will take out.
func (r *run) startArchive(ctx context.Context, originals []int) {
	r.once.Do(func() {
		if r.c.q.dry {
			close(r.done)
			return
		}
		ctx, r.stop = context.WithCancel(ctx)
		go func() {
			defer close(r.done)
			r.write(ctx, originals)
		}()
	})
}

// write stores the whole transcript, or the originals alone.
func (r *run) write(ctx context.Context, originals []int) {
	c, started := r.c, r.c.m.now()
	r.stored = stored{c.s.lines(c.history, originals), originals}
	if originals == nil {
		r.written, r.err = c.s.log.Transcript(ctx, r.step, r.stored.lines)
	} else {
		r.written, r.err = c.s.log.Originals(ctx, r.step, r.stored.lines)
	}
	count := len(c.history)
	if originals != nil {
		count = len(originals)
	}
	p := trace.Archival{
		SessionID: c.id, Step: r.step, ArchivedCount: count, Bytes: r.written.Bytes,
		StorageAdapter: c.m.adapter(), SHA256: r.written.SHA256, ManifestHead: c.s.log.ManifestHead(),
	}
	p.FilePath, p.S3Key = place(r.written)
	if r.err != nil {
		p.ErrorType = "ArchiveFailed"
	}
	r.archived = c.event(p, started)
}

// place says where a file is: a path, or a key in a bucket.
func place(w storage.Written) (file, s3 string) {
	if len(w.Location) > 5 && w.Location[:5] == "s3://" {
		return "", w.Location
	}
	return w.Location, ""
}

// cancel ends an archive that turned out not to be needed.
func (r *run) cancel() {
	r.once.Do(func() { close(r.done) })
	if r.stop != nil {
		r.stop()
	}
	<-r.done
}

// lines writes messages as the archive keeps them: one redacted JSON object a
// line, whose "meta" names the content by its fingerprint, so that what a
// placeholder refers to can be found again.
func (s *session) lines(history []message.Message, only []int) []redact.Text {
	if only == nil {
		out := make([]redact.Text, len(history))
		for i := range history {
			out[i] = s.line(history[i])
		}
		return out
	}
	out := make([]redact.Text, len(only))
	for k, i := range only {
		out[k] = s.line(history[i])
	}
	return out
}

// commit stores what was taken out, then the events, then the ledger, which
// makes the step. Only then the view changes.
func (c *call) commit(ctx context.Context, r *run, out *policy.Outcome) error {
	var originals []int
	if !c.q.manual && c.res.Reason == trace.ReasonEveryCall {
		originals = c.changed(out)
	}
	r.startArchive(ctx, originals)
	waited := c.m.now()
	select {
	case <-r.done:
	case <-ctx.Done():
		r.cancel()
		return ctx.Err()
	}
	c.res.Timing.Archive = c.m.now().Sub(waited)
	c.emit(r.archived)
	if r.err != nil {
		if err := c.archiveFailed(ctx, "transcript", r.err); err != nil {
			return err
		}
	}
	started := c.m.now()
	c.res.Step = r.step
	c.took(out)
	step := c.ledger(r, out)
	sum, err := c.storeSummary(ctx, r)
	if err == nil {
		c.emitOutcome(r, out, sum)
		err = c.store(ctx, r, out, step, sum)
	}
	c.res.Timing.Commit = c.m.now().Sub(started)
	if err != nil {
		c.res.Step = 0
		return err
	}
	return nil
}

// storeSummary writes the summary that this call made, if any: before the
// events, which say where it is.
func (c *call) storeSummary(ctx context.Context, r *run) (storage.Written, error) {
	if c.summary == nil || r.err != nil || c.s.isVolatile() {
		return storage.Written{}, nil
	}
	w, err := c.s.log.Summary(ctx, r.step, c.s.summaryFile(r.step, c.summary))
	if err != nil {
		return storage.Written{}, c.archiveFailed(ctx, "summary", err)
	}
	return w, nil
}

// store writes index, events and ledger, and learns the step.
func (c *call) store(ctx context.Context, r *run, out *policy.Outcome, step ledgerStep, sum storage.Written) error {
	if r.err != nil || c.s.isVolatile() {
		c.s.addVolatile(step)
		return nil
	}
	files := []string{path.Base(r.written.Key.String())}
	if !sum.Key.IsZero() {
		files = append(files, path.Base(sum.Key.String()))
	}
	if err := c.index(ctx, r, out, &step); err != nil {
		return c.unstored(ctx, "index", err, step)
	}
	files = append(files, step.Index.File)
	c.logParent(nil)
	if err := c.s.writeEvents(ctx, c.takeEvents()...); err != nil {
		return c.unstored(ctx, "events", err, step)
	}
	raw, err := json.Marshal(step)
	if err != nil {
		return err
	}
	w, err := c.s.log.Commit(ctx, r.step, c.s.redactor.Record(raw))
	switch {
	case errors.Is(err, storage.ErrExists):
		c.emitLost(r.step)
		return errLost
	case err != nil:
		return c.unstored(ctx, "commit", err, step)
	}
	c.s.add(step)
	files = append(files, path.Base(w.Key.String()))
	c.res.Archived = &Archived{Adapter: c.m.adapter(), Location: c.s.log.Location(), Files: files, Head: c.s.log.ManifestHead()}
	return nil
}

// unstored ends a step that the archive did not take: with the error, or, where
// the configuration says to go on, by keeping it in memory.
func (c *call) unstored(ctx context.Context, op string, err error, step ledgerStep) error {
	if err := c.archiveFailed(ctx, op, err); err != nil {
		return err
	}
	c.s.addVolatile(step)
	return nil
}

// archiveFailed turns a failure of the archive into the error of the call, or
// into a warning where the configuration says to go on.
func (c *call) archiveFailed(ctx context.Context, op string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	failed := &ArchiveError{Op: op, Session: c.id, Err: err}
	if c.m.cfg.Storage.OnError != "continue" {
		return failed
	}
	c.res.Warnings = append(c.res.Warnings, "nothing was archived (storage.on_error: continue): "+failed.Error())
	c.emitError("ArchiveFailed", "continue", failed)
	c.s.setVolatile()
	return nil
}

// ledger writes down what the step did.
func (c *call) ledger(r *run, out *policy.Outcome) ledgerStep {
	step := ledgerStep{
		V: ledgerVersion, Step: r.step, Session: c.id, Agent: c.q.agent, Branch: c.q.branch, Kind: "preflight", Note: c.s.redactor.Text(c.q.note).String(),
		Model: c.ep.name, Window: c.ep.window,
		Before: c.res.Before.Total, After: c.res.After.Total, Bound: c.upperBound(c.res.Messages, c.res.After.Total), Calibration: c.calibration(), Keep: out.Keep, Forms: c.ep.forms(),
		Archive: path.Base(r.written.Key.String()),
	}
	switch {
	case c.q.manual:
		step.Kind = "manual"
	case c.res.Reason == trace.ReasonEveryCall:
		step.Kind = "always"
	}
	for _, p := range out.Passes {
		if p.Applied > 0 {
			step.Recipes = append(step.Recipes, p.Recipe)
		}
	}
	in, n := policy.Coverage(step.Recipes)
	step.In = policy.Link{N: in, Hash: c.now.chain[in]}
	step.Out = policy.Link{N: n, Hash: out.Conversation.Chain()[n]}
	return step
}

// changed returns the input messages that the run edited or took out.
func (c *call) changed(out *policy.Outcome) []int {
	at := []int{}
	for i := range c.history {
		before, _ := c.now.conv.Decision(i)
		if after, _ := out.Conversation.Decision(i); after != before {
			at = append(at, i)
		}
	}
	return at
}

func (s *session) add(step ledgerStep) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if step.Step == len(s.steps)+1 {
		s.learn(step)
	}
}

// addVolatile learns a step that only this process knows.
func (s *session) addVolatile(step ledgerStep) {
	step.Volatile = true
	s.add(step)
}

func (s *session) setVolatile() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.volatile = true
}

func (s *session) isVolatile() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.volatile
}

// writeEvents appends the waiting lines of the audit log, and more.
func (s *session) writeEvents(ctx context.Context, more ...redact.Text) error {
	s.flush.Lock()
	defer s.flush.Unlock()
	if err := s.writeJournal(ctx); err != nil {
		return err
	}
	s.mu.Lock()
	lines := append(s.pending, more...)
	s.pending = nil
	s.mu.Unlock()
	if len(lines) == 0 {
		return nil
	}
	if err := s.log.Events(ctx, lines); err != nil {
		s.mu.Lock()
		s.pending = append(lines, s.pending...)
		s.mu.Unlock()
		return err
	}
	return nil
}
