package compact

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/console"
)

// A CompactManager compacts histories before the model calls of agents. One
// manager serves any number of sessions, agents and models. It is safe for
// concurrent use: calls for different sessions or agents do not wait for each
// other, calls for one agent of one session run one after the other.
type CompactManager struct {
	env
	cfg     Config
	archive storage.Archive
	heads   *record.Heads
	graves  *record.Graves
	access  *record.AccessLog // nil: not configured
	prompts map[string]string // by the path of the file
	stages  map[string]*ownStage

	mu       sync.Mutex
	epochs   map[epochKey]*epoch
	models   map[string]model
	said     map[string]bool // keys of warnings that were given once
	sessions map[string]*session
	openings map[string]*opening
	loads    map[string]*load
	own      string // suffix of the names of this process's own folders
	keep     int    // limit of idle sessions in memory
	bytes    int64  // memory of the sessions, in bytes
	backlog  *backlog
	places   *ctxlock.Slots // slots for running compactions

	shadows storage.Archive // for observed sessions; no data is written to it
	looking atomic.Int64    // observed calls that run in the background

	saidVersion1 atomic.Bool

	uses work // running calls
	side work // background tasks of calls
}

// New returns a manager. It loads the vocabulary of the configured model and
// tests that the archive can be written, so that a folder without write access
// is an error now and not at the first compaction. The error joins all mistakes
// in the configuration.
func New(ctx context.Context, c Config) (_ *CompactManager, err error) {
	defer rescue(c.Logger, c.Redactor, "New", &err)
	if err := c.Validate(); err != nil {
		return nil, err
	}
	c, err = c.filled()
	if err != nil {
		return nil, err
	}
	if err := c.checkSummarizers(); err != nil {
		return nil, err
	}
	m := &CompactManager{
		env: env{redactor: c.Redactor, now: c.Now, logger: c.Logger}, cfg: c, archive: c.Archive,
		epochs: map[epochKey]*epoch{}, models: map[string]model{}, sessions: map[string]*session{},
		openings: map[string]*opening{}, loads: map[string]*load{}, keep: keepSessions, places: newPlaces(),
	}
	m.stages = m.ownStages(c)
	if m.prompts, err = readPrompts(c); err != nil {
		return nil, err
	}
	m.backlog, m.shadows = newBacklog(&m.env, m.forsakeWriter), memory.New()
	if err := m.furnish(ctx); err != nil {
		return nil, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, m.closeArchive(ctx))
		}
	}()
	if err := m.beginHeads(); err != nil {
		return nil, err
	}
	if _, err := m.epoch(ctx, epochKey{overrides: c.matching("", "")}); err != nil {
		return nil, err
	}
	all, err := exporters(c)
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	m.pipe = trace.NewPipeline(all, c.pipelineOptions())
	return m, nil
}

// furnish creates the parts that the configuration describes but does not contain:
// clock, redactor, archive, keys.
func (m *CompactManager) furnish(ctx context.Context) (err error) {
	if m.now == nil {
		m.now = time.Now
	}
	if m.redactor == nil {
		if m.redactor, err = m.cfg.Redaction.Redactor(); err != nil {
			return err
		}
	}
	if m.archive == nil && m.cfg.Observe {
		m.archive = m.shadows
	}
	if m.archive == nil {
		if m.archive, err = m.openArchive(ctx); err != nil {
			return &ArchiveError{Op: "open", Err: err}
		}
	}
	m.keys, err = m.cfg.keys()
	return err
}

// Redactor returns the configured redactor.
func (c RedactionConfig) Redactor() (*redact.Redactor, error) {
	o := redact.Options{Disabled: !c.Enabled, Strict: c.Strict, PII: c.PII, Patterns: c.Patterns, Rules: c.Rules, Detectors: c.Detectors}
	if c.Pseudonyms {
		if err := c.pseudonymKey(); err != nil {
			return nil, err
		}
		o.Pseudonyms = c.PseudonymKey
	}
	return redact.New(o)
}

// openArchive opens the archive, or returns a lateArchive if that fails and the
// configuration says to continue.
func (m *CompactManager) openArchive(ctx context.Context) (storage.Archive, error) {
	open := func(ctx context.Context) (storage.Archive, error) { return openArchive(ctx, m.cfg) }
	a, err := open(ctx)
	if err == nil || m.cfg.Storage.OnError != "continue" || ctx.Err() != nil {
		return a, err
	}
	return newLate(&m.env, &m.side, m.cfg.Storage.Adapter, err, open), nil
}

func openArchive(ctx context.Context, c Config) (storage.Archive, error) {
	switch {
	case c.Storage.Encrypt.On() && c.OpenArchive == nil:
		return nil, errors.New("storage.encrypt is set, but this package links no encryption: use configs.Load, or set Config.Archive")
	case c.Storage.Adapter == "fs" && !c.Storage.Encrypt.On():
		a, err := fs.Open(c.Storage.Path)
		if err != nil {
			return nil, err
		}
		if err := notEncrypted(ctx, a); err != nil {
			return nil, errors.Join(err, a.Close())
		}
		return a, nil
	case c.Storage.Adapter == "memory":
		return memory.New(), nil
	case c.OpenArchive != nil:
		return c.OpenArchive(ctx, c.Storage)
	}
	return nil, fmt.Errorf("storage.adapter is %q, but this package does not link it: use configs.Load, or set Config.Archive", c.Storage.Adapter)
}

// notEncrypted returns an error for an archive whose first file is encrypted, because
// plain files must not be mixed with encrypted ones.
func notEncrypted(ctx context.Context, a storage.Archive) error {
	for info, err := range a.List(ctx, storage.Key{}) {
		if err != nil {
			return err
		}
		if info.Foreign == "" {
			if path.Ext(info.Key.String()) == ".age" {
				return errors.New("the archive is encrypted: set storage.encrypt.recipients")
			}
			return nil
		}
	}
	return nil
}

// closeArchive closes an archive that the manager opened.
func (m *CompactManager) closeArchive(ctx context.Context) error {
	if m.cfg.Archive != nil {
		return nil
	}
	return closeOpened(ctx, m.archive)
}

func closeOpened(ctx context.Context, archive storage.Archive) error {
	switch a := archive.(type) {
	case interface{ Close(context.Context) error }:
		return a.Close(ctx)
	case io.Closer:
		return a.Close()
	}
	return nil
}

func exporters(c Config) ([]trace.Exporter, error) {
	if c.Trace.OTLPEndpoint+c.Trace.OTLPMetricsEndpoint != "" && len(c.Exporters) == 0 {
		return nil, errors.New("compact: trace sets an OTLP endpoint, but Config.Exporters is empty: use configs.Load, or add an exporter of package trace/otel")
	}
	all := append([]trace.Exporter(nil), c.Exporters...)
	if c.Trace.AriadneURL != "" {
		all = append(all, ariadne.New(c.Trace.AriadneURL, nil))
	}
	if c.Trace.Console {
		all = append(all, console.New(os.Stderr, nil))
	}
	return all, nil
}

// Call Preflight with the whole history before every model call. It compacts if
// the trigger is reached; otherwise it only applies the edits of earlier
// compactions again, so that the same history always gives the same view.
//
// The history is not modified. The result is never nil; on an error its Messages are
// the unchanged history. Errors are [ErrInsufficientBudget], [ErrArchiveFailed],
// [ErrClosed], [ErrSession], [ErrInternal] and the context's.
func (m *CompactManager) Preflight(ctx context.Context, sessionID string, history []message.Message, opts ...Option) (*Result, error) {
	return m.call(ctx, sessionID, history, request{}, opts)
}

// ManualCompact compacts now, regardless of size: it masks and summarizes
// everything that is not protected. note is the reason to show in the trace. If
// there is nothing to compact, it returns the unchanged history and
// Result.Reason, and makes no step.
func (m *CompactManager) ManualCompact(ctx context.Context, sessionID string, history []message.Message, note string, opts ...Option) (*Result, error) {
	return m.call(ctx, sessionID, history, request{manual: true, note: note}, opts)
}

// Plan returns what [CompactManager.Preflight] would return. It stores and
// sends nothing and calls no model; a placeholder of the expected size stands
// for a summary that a model would write.
func (m *CompactManager) Plan(ctx context.Context, sessionID string, history []message.Message, opts ...Option) (*Result, error) {
	return m.call(ctx, sessionID, history, request{dry: true}, opts)
}

// PlanManual returns what [CompactManager.ManualCompact] would return, as
// [CompactManager.Plan] does for Preflight.
func (m *CompactManager) PlanManual(ctx context.Context, sessionID string, history []message.Message, opts ...Option) (*Result, error) {
	return m.call(ctx, sessionID, history, request{dry: true, manual: true}, opts)
}

func (m *CompactManager) call(ctx context.Context, id string, history []message.Message, q request, opts []Option) (res *Result, err error) {
	defer func() {
		if res == nil { // it panicked before the result was set
			res = untouched(id, history, q)
		}
	}()
	defer m.rescue("the hook", &err)
	for _, o := range opts {
		o(&q)
	}
	q.complete()
	q.unnamed = isUnnamed(id)
	q.overrides = m.cfg.matching(q.model, q.agent)
	if q.observe = (q.observe || m.cfg.Observe) && !q.dry; q.observe {
		return m.observed(ctx, id, history, q), nil
	}
	c := newCall(m, id, history, q)
	defer func() { c.release() }()
	err = c.guarded(ctx)
	if c.again(err) {
		c.release()
		c = newCall(m, id, history, q)
		err = c.guarded(ctx)
	}
	if err != nil {
		c.fail(err)
	} else {
		c.sent(c.res.Messages)
	}
	c.finish(err)
	return c.res, err
}

// again reports whether the call can be repeated at once: with the new state after a
// scrub, or in the session that follows an erased one if storage.erased is new.
func (c *call) again(err error) bool {
	return errors.Is(err, record.ErrScrubbed) ||
		errors.Is(err, record.ErrErased) && c.m.cfg.Storage.Erased == "new" && c.s != nil && !c.s.erased
}

// release ends the call's use of its session.
func (c *call) release() {
	if c.s != nil {
		c.m.release(c.s)
	}
}

// guarded calls run, and returns a panic as an error.
func (c *call) guarded(ctx context.Context) (err error) {
	defer c.m.rescue("the hook", &err)
	return c.run(ctx)
}

// keepSessions limits the number of idle sessions in memory. Other sessions are read
// from the archive again when they are used.
const keepSessions = 4096

// release ends the use of a session. If sessions in memory are too many or too
// large, those idle for longest are written and removed.
func (m *CompactManager) release(s *session) {
	defer m.uses.done()
	m.mu.Lock()
	defer m.mu.Unlock()
	s.users--
	s.used = m.now()
	if m.sessions[s.id] == s {
		m.reweigh(s)
	}
	m.retire(s)
}

// Flush writes the audit log of every session to the archive, sends the contents of its
// spool, and waits until the exporters have all emitted events, or until ctx ends. An
// unreachable exporter is not an error of Flush; it is reported like every failure of
// an exporter (Config.OnTraceError), and the events wait.
func (m *CompactManager) Flush(ctx context.Context) (err error) {
	defer m.rescue("Flush", &err)
	if !m.uses.begin() {
		return ErrClosed
	}
	defer m.uses.done()
	err = errors.Join(m.flushLogs(ctx), m.flushTrace(ctx))
	if spool, ok := m.archive.(interface{ Flush(context.Context) error }); ok {
		err = errors.Join(err, spool.Flush(ctx))
	}
	return err
}

// flushAtOnce is the number of sessions that are written concurrently. A proxy has
// many sessions, and each waits for several requests to a bucket.
const flushAtOnce = 16

func (m *CompactManager) flushLogs(ctx context.Context) error {
	return errors.Join(sideBySide(m.inMemory(), func(s *session) error {
		err := s.audit.drain(ctx)
		if err == nil {
			if err = s.log.Checkpoint(ctx); errors.Is(err, record.ErrErased) {
				err = nil
			}
		}
		return unflushed(s.id, err)
	}), sideBySide(m.backlog.left(), func(a *auditLog) error {
		defer m.backlog.settle(a)
		return unflushed(a.id, a.drain(ctx))
	}))
}

func unflushed(id string, err error) error {
	if err == nil {
		return nil
	}
	return &ArchiveError{Op: "events", Session: id, Err: err}
}

// sideBySide runs f for each element, flushAtOnce at a time, and returns the errors in
// the order of the list. A panic becomes an error.
func sideBySide[T any](all []T, f func(T) error) error {
	errs, next := make([]error, len(all)), make(chan int)
	var work sync.WaitGroup
	for range min(flushAtOnce, len(all)) {
		work.Go(func() {
			for i := range next {
				errs[i] = func() (err error) {
					defer rescue(nil, nil, "the archive", &err)
					return f(all[i])
				}()
			}
		})
	}
	for i := range all {
		next <- i
	}
	close(next)
	work.Wait()
	return errors.Join(errs...)
}

// Close cancels summaries that are written in the background, waits for running
// calls, writes the audit log, delivers the events queued for the exporters, shuts
// the exporters down, sends the contents of the spool, and closes the archive
// unless it is Config.Archive. The error names the data that could not be sent.
// Close honors the deadline of ctx, even if a call hangs. It is idempotent. Calls
// after it return [ErrClosed].
func (m *CompactManager) Close(ctx context.Context) (err error) {
	defer m.rescue("Close", &err)
	if !m.uses.closing() {
		return nil
	}
	err = errors.Join(m.side.end(ctx), m.uses.end(ctx))
	m.backlog.close(ctx)
	m.throwUnused()
	m.endTraces()
	return errors.Join(err, m.flushLogs(ctx), m.pipe.Close(ctx), m.closeArchive(ctx))
}
