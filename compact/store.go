package compact

import (
	"context"
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/trace"
)

// run is one run of the engine with what happens beside it: the archive is
// written while a summarizer is asked.
type run struct {
	c *call

	once     sync.Once
	done     chan struct{}
	number   int // in the name of what is archived; often, not always, that of the step
	stored   stored
	written  storage.Written
	err      error
	began    time.Time                  // when the archive was
	took     time.Duration              // what it took
	archived func(step int) trace.Event // says that it worked
	failure  *trace.Event               // the exporters have heard that it did not
	give     context.CancelCauseFunc    // ends the engine: what it works for can't be stored
	summary  storage.Written
	files    []storage.Written // of the step that is tried
	stop     context.CancelFunc
	ahead    bool // nothing is compacted: a summary is begun that a later call will need

	content          *storage.Content // of the transcript, and the steps that there were before it; nil = not laid out yet
	seen             int
	withStep         bool       // the transcript is stored with its step
	name             string     // of it then, while that is not certain
	transcriptStored chan error // what came of it
	ended            sync.Once

	ctx      context.Context
	view     *policy.View       // before the run
	decision func(*policy.View) // says that this call compacts
	desk     desk
	observed
}

func newRun(ctx context.Context, c *call) *run {
	return &run{c: c, ctx: ctx, done: make(chan struct{}), desk: desk{m: c.m}}
}

// reserve returns a number for the names of files whose step is not known yet:
// the lowest that is neither a step's nor anybody's else. Where lanes commit in
// the order in which they began, it is the number of the step.
func (s *session) reserve() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.steps) + 1
	for s.reserved[n] {
		n++
	}
	s.reserved[n] = true
	return n
}

func (s *session) unreserve(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.reserved, n)
}

// startArchive begins to store what the step will take out.
func (r *run) startArchive(ctx context.Context, originals []int) {
	r.once.Do(func() { r.begin(ctx, originals) })
}

func (r *run) begin(ctx context.Context, originals []int) {
	if r.c.q.dry {
		r.finish()
		return
	}
	r.number, r.began = r.c.s.reserve(), r.c.m.now()
	ctx, r.stop = context.WithCancel(ctx)
	go func() {
		defer r.finish()
		defer r.c.m.rescue("the archive", &r.err)
		r.write(ctx, originals)
	}()
}

// write stores the whole transcript, or the originals alone.
func (r *run) write(ctx context.Context, originals []int) {
	c := r.c
	count := len(c.history)
	switch {
	case originals != nil:
		count = len(originals)
		lines := c.s.lines(c.history, originals)
		r.stored = storedLines(lines, originals)
		r.written, r.err = c.s.log.Originals(ctx, r.number, lines)
		r.stored.in(r.archive())
	case c.lane.shelf.holds(c.history):
		r.stored, r.written = c.lane.shelf.stored, c.lane.shelf.written
	default:
		if r.err = r.layOut(ctx); r.err == nil {
			r.written, r.err = c.s.log.TranscriptOf(ctx, r.number, r.content)
		}
		r.shelve()
	}
	r.wrote(ctx, count)
}

// layOut makes the whole history the content of a transcript: what the lane has stored
// before is referred to.
func (r *run) layOut(ctx context.Context) error {
	if r.content != nil {
		return nil
	}
	c := r.c
	seen := len(c.s.snapshot())
	known := c.known(ctx)
	return c.m.compute(ctx, func() error {
		r.content, r.stored = layOut(c.s.pieces(c.history), known)
		r.seen = seen
		return nil
	})
}

// shelve keeps what is known of a transcript that is stored.
func (r *run) shelve() {
	if r.err != nil {
		return
	}
	r.stored.in(r.archive())
	r.c.lane.shelf = &shelf{r.c.history, r.stored, r.written}
	r.c.lane.filed.Store(&filed{r.archive(), r.seen, r.stored.lines})
}

// wrote makes the event of what was stored, or was not.
func (r *run) wrote(ctx context.Context, count int) {
	c := r.c
	p := trace.Archival{
		SessionID: c.id, ArchivedCount: count, Bytes: r.written.Bytes,
		StorageAdapter: c.m.adapter(), SHA256: r.written.SHA256, ManifestHead: c.s.log.ManifestHead(),
	}
	ended := c.m.now()
	r.took = ended.Sub(r.began)
	if r.err != nil {
		r.failed(ctx, p, ended)
		return
	}
	c.s.unarchived.Store(false)
	p.FilePath, p.S3Key = place(r.written)
	p.ReadWith = c.readWith(r.written)
	r.archived = func(step int) trace.Event {
		p.Step = step
		return c.eventAt(p, r.began, ended)
	}
}

// failed tells of an archive that took nothing, at once, and ends what the engine
// is doing: it could not be stored. A call that gave up is no failure of the
// archive.
func (r *run) failed(ctx context.Context, p trace.Archival, at time.Time) {
	if ctx.Err() != nil {
		return
	}
	c := r.c
	if errors.Is(r.err, storage.ErrScrubbed) { // the call is made again
		r.give(errGiven)
		return
	}
	p.ErrorType, p.Cause, p.Bytes, p.ManifestHead = "ArchiveFailed", causeOf(r.err), 0, ""
	e := c.eventAt(p, r.began, at)
	r.failure = &e
	c.export(e)
	c.s.unarchived.Store(true)
	if c.m.cfg.Storage.OnError != "continue" {
		r.give(errGiven)
	}
}

// errGiven ends a run of the engine whose archive failed.
var errGiven = errors.New("compact: what would be taken out cannot be stored")

// archiving takes what came of the archive into the call: the event that says so,
// and the error.
func (r *run) archiving(ctx context.Context) error {
	c := r.c
	c.res.Timing.Archive = r.took
	if r.archived != nil {
		c.hold(r.archived)
	}
	if r.err == nil {
		return nil
	}
	c.working = r.began
	return c.archiveFailed(ctx, "transcript", r.err)
}

// given returns why the engine was stopped, where it was because the archive
// failed, and otherwise what it said.
func (r *run) given(ctx, engine context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(engine), errGiven) {
		return err
	}
	<-r.done
	return r.archiving(ctx)
}

// archiveFirst waits for the archive before a model is paid for a summary, where
// the last one of the session failed.
func (r *run) archiveFirst() {
	if !r.c.s.unarchived.Load() {
		return
	}
	ctx := r.driven
	if until := r.c.until(r.ctx); !until.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, until)
		defer cancel()
	}
	waited := r.c.m.now()
	select {
	case <-r.done:
	case <-ctx.Done():
	}
	r.waited += r.c.m.now().Sub(waited)
}

// place says where a file is: an absolute path, or a key in a bucket. What is kept
// elsewhere has neither.
func place(w storage.Written) (file, s3 string) {
	switch {
	case strings.HasPrefix(w.Location, "s3://"):
		return "", w.Location
	case w.Location == "", w.Location == w.Key.String(): // nobody could say where it is
		return "", ""
	}
	file, err := filepath.Abs(w.Location)
	if err != nil {
		file = w.Location
	}
	return file, ""
}

// cancel ends an archive that turned out not to be needed.
func (r *run) cancel() {
	r.once.Do(r.finish)
	if r.withStep {
		r.finish()
	}
	if r.stop != nil {
		r.stop()
	}
	<-r.done
}

// finish says that nothing more is stored beside the run.
func (r *run) finish() { r.ended.Do(func() { close(r.done) }) }

// end ends the run, whatever came of it.
func (r *run) end() {
	r.desk.give()
	r.cancel()
	if r.failure != nil {
		r.c.events = append(r.c.events, r.c.auditLine(*r.failure))
	}
	r.c.s.unreserve(r.number)
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

// changed returns the input messages that the run edited or took out.
func (c *call) changed(out *policy.Outcome) []int { return c.now.conv.Redecided(out.Conversation) }

// writeEvents appends the waiting lines of the audit log, and more.
func (s *session) writeEvents(ctx context.Context, more ...redact.Text) error {
	return s.audit.write(ctx, more...)
}
