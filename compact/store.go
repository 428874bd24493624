package compact

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// run is one run of the engine. The archive is written concurrently while a
// summarizer works.
type run struct {
	c *call

	once     sync.Once
	done     chan struct{}
	number   int // number in the names of the archived files; mostly the step's number
	stored   stored
	written  record.Written
	err      error
	began    time.Time               // start of the archival
	took     time.Duration           // its duration
	archived *archival               // nil = no archival, or it failed
	failure  *trace.Event            // event of a failed archival, which exporters have got
	give     context.CancelCauseFunc // stops the engine if its outcome can't be stored
	files    []record.Written        // files of the step that is being stored
	stop     context.CancelFunc
	ahead    bool // the run only prepares a summary for a later call

	content          *record.Content // content of the transcript; nil = not laid out yet
	seen             int             // number of the session's steps when content was laid out
	withStep         bool            // the transcript is stored with its step
	name             string          // preliminary name of the transcript in that case
	transcriptStored chan error      // its outcome
	ended            sync.Once

	ctx      context.Context
	view     *policy.View       // view before the run
	decision func(*policy.View) // emits the decision of this call
	desk     desk
	observed
}

func newRun(ctx context.Context, c *call) *run {
	return &run{c: c, ctx: ctx, done: make(chan struct{}), desk: desk{m: c.m}}
}

// reserve returns a number for the names of files whose step number is not known yet:
// the lowest free number. If lanes commit in the order in which they began, it is the
// number of the step.
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

// startArchive starts storing the messages that the step will remove.
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

// write stores the whole transcript, or only the originals.
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

// layOut lays out the whole history as a transcript, with references to messages that
// the lane has stored before.
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

// shelve keeps a stored transcript for a retry of the call, and the places of its
// lines, to which later transcripts can refer.
func (r *run) shelve() {
	if r.err != nil {
		return
	}
	r.stored.in(r.archive())
	r.c.lane.shelf = &shelf{r.c.history, r.stored, r.written}
	r.c.lane.filed.Store(&filed{r.archive(), r.seen, r.stored.lines})
}

// wrote creates the event of the archival.
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
	r.archived = &archival{p, r.began, ended}
}

// failed emits the event of a failed archival at once, and stops the engine,
// whose outcome could not be stored, unless the configuration says to continue. A
// canceled call is not a failure of the archive.
func (r *run) failed(ctx context.Context, p trace.Archival, at time.Time) {
	if ctx.Err() != nil {
		return
	}
	c := r.c
	if errors.Is(r.err, record.ErrScrubbed) { // the caller retries
		r.give(errGiven)
		return
	}
	unarchived(&p, r.err)
	e := c.eventAt(p, r.began, at)
	r.failure = &e
	c.export(e)
	c.s.unarchived.Store(true)
	if c.m.cfg.Storage.OnError != "continue" {
		r.give(errGiven)
	}
}

// unarchived sets the failure of an archival.
func unarchived(p *trace.Archival, err error) {
	p.ErrorType, p.Cause = "ArchiveFailed", causeOf(err)
	p.OutputText = fmt.Sprintf("archiving %s failed: %s", messages(p.ArchivedCount), p.ErrorType)
	p.ArchivedCount, p.Bytes, p.ManifestHead = 0, 0, ""
}

// errGiven is the cause that stops an engine whose archive failed.
var errGiven = errors.New("compact: the text to remove cannot be stored")

// archiving records the outcome of the archival in the call, and returns its
// error.
func (r *run) archiving(ctx context.Context) error {
	c := r.c
	c.res.Timing.Archive = r.took
	if r.archived != nil {
		c.tellStored(r.archived)
	}
	if r.err == nil {
		return nil
	}
	c.working = r.began
	return c.archiveFailed(ctx, "transcript", r.err)
}

// given returns the archive's error if it stopped the engine, and otherwise the
// engine's error.
func (r *run) given(ctx, engine context.Context, err error) error {
	if err == nil || !errors.Is(context.Cause(engine), errGiven) {
		return err
	}
	<-r.done
	return r.archiving(ctx)
}

// archiveFirst waits for the archival before a model is paid for a summary, if
// the session's last archival failed.
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

// place returns the place of a file: an absolute path, or a URL in a bucket. For
// other archives both are empty.
func place(w record.Written) (file, s3 string) {
	switch {
	case strings.HasPrefix(w.Location, "s3://"):
		return "", w.Location
	case w.Location == "", w.Location == w.Key.String(): // unknown place
		return "", ""
	}
	file, err := filepath.Abs(w.Location)
	if err != nil {
		file = w.Location
	}
	return file, ""
}

// cancel stops an archival that is not needed.
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

// finish marks the archival as ended.
func (r *run) finish() { r.ended.Do(func() { close(r.done) }) }

// end ends the run, with or without success: it stops the archival, and releases the
// slot and the number.
func (r *run) end() {
	r.desk.give()
	r.cancel()
	if r.failure != nil {
		r.c.events = append(r.c.events, r.c.auditLine(*r.failure))
	}
	r.c.s.unreserve(r.number)
}

// lines returns messages in their stored form: one redacted JSON object for
// each line, whose "meta" holds the fingerprints, so that references can be
// found.
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

// changed returns the input messages that the run edited or removed.
func (c *call) changed(out *reduce.Outcome) []int { return c.now.conv.Redecided(out.Conversation) }

// writeEvents appends the waiting lines of the audit log, and more.
func (s *session) writeEvents(ctx context.Context, more ...redact.Text) error {
	return s.audit.write(ctx, more...)
}
