package compact

import (
	"context"
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
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
	writing          bool // a goroutine stores the transcript, and ends with finish

	ctx      context.Context
	view     *policy.View       // view before the run
	decision func(*policy.View) // emits the decision of this call
	desk     desk
	observed
}

func newRun(ctx context.Context, c *call) *run {
	return &run{c: c, ctx: ctx, done: make(chan struct{}), desk: desk{m: c.m}}
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
	r.writing = true
	go func() {
		defer r.finish()
		r.c.m.alone("the archive", &r.err, func() { r.write(ctx, originals) })
	}()
}

// write stores the whole transcript, or only the originals.
func (r *run) write(ctx context.Context, originals []int) {
	c := r.c
	count := len(c.history)
	switch {
	case originals != nil:
		count = len(originals)
		r.written, r.err = r.writeOriginals(ctx, originals)
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

// writeOriginals stores the originals of changes. Most are in edits.jsonl already, and stand
// as references.
func (r *run) writeOriginals(ctx context.Context, at []int) (record.Written, error) {
	c := r.c
	var known []storedLine
	if c.m.cfg.Storage.Repeat != repeatFull {
		known = c.s.loggedLines()
	}
	changed := make([]message.Message, len(at))
	for k, i := range at {
		changed[k] = c.history[i]
	}
	content, stored := layOut(c.s.pieces(changed), known)
	r.stored = stored
	r.stored.only = at
	return c.s.log.OriginalsOf(ctx, r.number, content)
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
	r.took = max(0, ended.Sub(r.began))
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
	r.waited += r.c.m.since(waited)
}

// cancel stops an archival that is not needed.
func (r *run) cancel() {
	r.once.Do(func() {}) // from now on none begins
	if !r.writing {
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

// archive returns the name of the file that the run has written or is writing.
func (r *run) archive() string {
	if r.written.Key.String() == "" && r.withStep {
		return r.name
	}
	return path.Base(r.written.Key.String())
}

// observed holds the progress of the summarizer in a run.
type observed struct {
	mu             sync.Mutex
	told           []summarize.CallInfo // of the summary that is being written within the call
	late           bool                 // the call could not wait for a summary
	waited         time.Duration        // waiting time for the archive before a summary
	driven         context.Context      // context of the engine
	waiting        *time.Timer          // timer that reports a long summary
	summarize      time.Duration
	summarizeBegan time.Time
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

// readWith returns the command that shows a file of the archive, "" if no
// command can.
func (c *call) readWith(w record.Written) string {
	file, s3 := place(w)
	root := s3
	if file != "" {
		root = filepath.ToSlash(file)
	}
	root, ok := strings.CutSuffix(root, "/"+w.Key.String())
	if !ok || root == "" {
		return ""
	}
	return "compactctl archive show " + shellWord(c.id) + " " + shellWord(path.Base(w.Key.String())) + " --archive " + shellWord(root)
}

// shellWord quotes a word for a shell.
func shellWord(s string) string {
	odd := func(r rune) bool {
		return r >= utf8.RuneSelf || !unicode.IsLetter(r) && !unicode.IsDigit(r) && !strings.ContainsRune("-_./:@%+=", r)
	}
	if s != "" && strings.IndexFunc(s, odd) < 0 {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}
