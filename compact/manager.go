package compact

import (
	"context"
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/token"
)

// A CompactManager compacts histories before the model calls of agents. One manager
// serves any number of sessions, agents and models. It is safe for concurrent use.
// Calls for one agent of one session run one after the other. Calls for different
// sessions or agents run concurrently; only the number of compactions at once is
// limited, by the number of cores.
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

	spent spending // costs of all sessions, except observed calls

	appends tasks // appends of reductions on arrival; a call does not wait for a slow append

	ending        ctxlock.Mutex // held by Close; it guards the next two fields
	ended         bool          // Close has succeeded
	archiveClosed bool
}

// opening is a session that is being read from the archive, shared by all calls
// that need it. The manager's mutex guards it.
type opening struct {
	done    chan struct{} // closed when s and err are set
	s       *session
	err     error
	waiting int // calls
	stop    context.CancelFunc
}

// sessionNames holds the name of a session, and its name in version 1.
type sessionNames struct{ name, old redact.Text }

// writing returns the session in memory that writes to an audit log, or nil.
func (m *CompactManager) writing(a *auditLog) *session {
	m.mu.Lock()
	defer m.mu.Unlock()
	if s := m.sessions[a.id]; s != nil && s.audit == a {
		return s
	}
	return nil
}

// inMemory returns the sessions in memory.
func (m *CompactManager) inMemory() []*session {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Collect(maps.Values(m.sessions))
}

// adapter returns the name of the archive's adapter for events and reports.
func (m *CompactManager) adapter() string {
	if m.cfg.Archive != nil {
		return "custom"
	}
	return m.cfg.Storage.Adapter
}

// Redact returns a text with its secrets replaced, as in the manager's logs and
// events.
func (m *CompactManager) Redact(text string) string { return m.redactor.Text(text).String() }

// SessionName returns the name of a session in files, events and logs: its id,
// or a hash of an id that holds a secret.
func (m *CompactManager) SessionName(id string) string { return m.nameOf(id).String() }

// Ref returns the reference of a part: the {ref} of its placeholder, which
// [CompactManager.Recall] accepts once the part is removed. It is made with the
// key of the archive: a part that was removed before a rekey keeps the reference that its
// placeholder shows.
func (m *CompactManager) Ref(p message.Part) string { return m.keys.Current().Ref(p.Fingerprint()) }

// Keyed returns a hash of a text with the archive's oldest key, as 16 hex digits.
// It is the same in every process with the key; without the key nobody can test a
// guess of the text against it. Use it for ids derived from a conversation.
func (m *CompactManager) Keyed(ctx context.Context, text string) string {
	_ = m.keys.look(ctx, m.archive) // the call that needs the key reports the error
	sum := m.keys.Root().Digest("id", []byte(text))
	return hex.EncodeToString(sum[:8])
}

// MarksCache reports whether the manager sets marks for the prompt cache
// ([CacheConfig]).
func (m *CompactManager) MarksCache() bool {
	return m != nil && !m.cfg.Observe && m.cfg.Cache.Marks == marksAuto
}

// Observes reports whether [Config.Observe] is set. It is false for a nil manager.
func (m *CompactManager) Observes() bool { return m != nil && m.cfg.Observe }

// ModelWindow returns the published window of a model, in tokens, even if
// another one is configured. For an unknown model it returns the configured
// window, else a default. "" is the configured model.
func (m *CompactManager) ModelWindow(model string) int {
	if model == "" {
		model = m.cfg.Model
	}
	if m.cfg.MaxContextTokens > 0 && !token.KnowsContextWindow(model) {
		return m.cfg.MaxContextTokens
	}
	return token.ContextWindow(model)
}

// onClock converts a time of the system's clock, which summaries use, to a time of
// Config.Now.
func (m *CompactManager) onClock(t time.Time) time.Time {
	if m.cfg.Now == nil {
		return t
	}
	return m.now().Add(-time.Since(t))
}

// bill adds to the bill of a session and to the manager's sum, and returns the bill.
func (m *CompactManager) bill(s *session, unit string, more SessionBill) SessionBill {
	if unit == "" && !s.shadow {
		m.spent.add(more)
	}
	return s.billed(unit, more)
}
