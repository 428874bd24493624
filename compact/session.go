package compact

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// session holds the manager's facts about one session. Its mutex is held only briefly,
// never during a model call or a write to the archive.
type session struct {
	id    string
	log   *record.Session
	reads *lookup.Session // reads the files of log
	keys  *keyring
	late  *lateArchive // set if the archive could not be read

	unarchived atomic.Bool // the archive did not store the last transcript

	bills map[string]SessionBill // by the unit of their figures, see unitOf; guarded by mu
	agent agentState
	saved int       // tokens saved over all calls; guarded by mu
	users int       // running calls and background work; the manager's mutex guards this field and the next two
	used  time.Time // end of the last call
	bytes int64     // approximate memory in bytes at that time

	mu          sync.Mutex
	steps       []ledger.Step
	edits       ledger.Edits
	stepsWeight int64
	reserved    map[int]bool // numbers of files whose step is unknown so far
	origins     map[message.Fingerprint]map[int]policy.Origin
	lanes       map[ledger.Owner]*lane
	calls       uint64 // number of calls that ended
	audit       *auditLog
	stated      statements                   // of the audit log; it has a mutex of its own
	seen        map[message.Fingerprint]bool // messages in the journal or on their way to it (storage.transcripts: all)
	trace       sessionTrace
	redactor    secrets
	recalled    map[string]int // recalls of text that tidy left out, by reducer, since the last call
	final       *filed         // last transcript that belongs to no step; nil = unknown
	changes     changes
	lost        []string   // ids of missing keys that seal steps
	lostTold    int        // number of ids in lost that were reported
	version1    bool       // it has steps of version 1
	checked     time.Time  // time of the last check for newer steps
	asking      bool       // a check is running
	erased      bool       // nothing can be stored
	shadow      bool       // its calls are only observed
	projected   projection // sums over the calls of a shadow
	volatile    bool       // the archive failed and the configuration says to continue: later steps are kept only in memory

	committing ctxlock.Mutex // held from choosing the next number until the step is committed
}

// secrets is the redactor of a session: a secret that one message reveals is
// also found in the others.
type secrets struct {
	*redact.Session
	learned map[message.Fingerprint]struct{} // messages that were searched; guarded by the session's mutex
}

// sessionTrace is the trace of a whole session (trace.per_session): open from
// the first call of this process until the session leaves memory or the manager
// is closed. The session's mutex guards it.
type sessionTrace struct {
	began          time.Time
	session, agent redact.Text // names in events; of the last call
	model          string
}

// projection holds the projected sums of a session.
type projection struct{ calls, estimated, saved int }

// learn adds a step; the caller holds s.mu.
func (s *session) learn(step ledger.Step) {
	s.steps = append(s.steps, step)
	s.stepsWeight += weighStep(&step)
	for _, r := range step.Recipes {
		s.learnTexts(r.Texts)
	}
}

// learnTexts remembers the origins of edited parts. Existing maps are shared
// with conversations, so they are replaced, not modified.
func (s *session) learnTexts(texts []reduce.TextRecipe) {
	fresh := map[message.Fingerprint]map[int]policy.Origin{}
	for i := range texts {
		t := &texts[i]
		o, ok := t.OriginOf()
		if !ok {
			continue
		}
		parts := fresh[t.Is]
		if parts == nil {
			parts = map[int]policy.Origin{}
			maps.Copy(parts, s.origins[t.Was])
			maps.Copy(parts, s.origins[t.Is])
			fresh[t.Is], s.origins[t.Is] = parts, parts
		}
		parts[t.Part] = o
	}
}

// snapshot returns the known steps, which are immutable.
func (s *session) snapshot() []ledger.Step {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps[:len(s.steps):len(s.steps)]
}

// next returns the number of the next step.
func (s *session) next() int { return len(s.snapshot()) + 1 }

func (s *session) add(step ledger.Step) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if step.Step == len(s.steps)+1 {
		s.learn(step)
	}
}

// addVolatile adds a step that only this process knows.
func (s *session) addVolatile(step ledger.Step) {
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

func (s *session) known(fp message.Fingerprint) map[int]policy.Origin {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.origins[fp]
}

// originCount returns the number of known edited messages; it never decreases.
func (s *session) originCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.origins)
}

// maxLearned limits the number of messages remembered as searched. Beyond it,
// messages are searched again.
const maxLearned = 1 << 17

// study searches new messages for secrets, so that all are known before the
// first message is written. It searches them in the form that the archive stores:
// another wire has no place for some of their parts.
func (s *session) study(history []message.Message) {
	var line []byte
	for i := range history {
		if s.fresh(history[i].Fingerprint()) {
			line = ledger.FormatOf(history[i].Wire()).AppendMessage(line[:0], history[i])
			s.redactor.Learn(line) // Learn keeps no reference to line
		}
	}
}

func (s *session) fresh(fp message.Fingerprint) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if _, done := s.redactor.learned[fp]; done {
		return false
	}
	if len(s.redactor.learned) >= maxLearned || s.redactor.learned == nil {
		s.redactor.learned = map[message.Fingerprint]struct{}{}
	}
	s.redactor.learned[fp] = struct{}{}
	return true
}

func (s *session) noteChange(e *storage.ChangedError) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.changes.note(e)
}

// isChange reports whether an error is a [storage.ChangedError], and records
// it.
func (s *session) isChange(err error) bool {
	var e *storage.ChangedError
	if !errors.As(err, &e) {
		return false
	}
	s.noteChange(e)
	return true
}

// sealed returns the form of a fingerprint outside of memory.
func (s *session) sealed(fp message.Fingerprint) message.Fingerprint {
	return message.Fingerprint(s.keys.Current().Seal(fp))
}

// ref returns the reference of a part or message.
func (s *session) ref(fp message.Fingerprint) string { return s.keys.Current().Ref(fp) }

// billed adds to the bill of the session in a unit, and returns the sum.
func (s *session) billed(unit string, more SessionBill) SessionBill {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bills == nil {
		s.bills = map[string]SessionBill{}
	}
	s.bills[unit] = s.bills[unit].Plus(more)
	return s.bills[unit]
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

// writeEvents appends the waiting lines of the audit log, and more.
func (s *session) writeEvents(ctx context.Context, more ...redact.Text) error {
	return s.audit.write(ctx, more...)
}

// maxLanes limits the lanes of a session in memory. A session can have very
// many, for example one for each conversation of a user. A lane that was
// removed is rebuilt from the ledger.
const maxLanes = 64

// lane returns the lane of an owner, which stays in memory at least until leave.
func (s *session) lane(of ledger.Owner) *lane {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := s.lanes[of]
	if l == nil {
		l = &lane{}
		s.lanes[of] = l
	}
	l.users++
	return l
}

// leave ends the use of a lane by a call with this history, if any. If there are too
// many lanes, it removes the lane that was idle for longest, and returns that lane.
func (s *session) leave(l *lane, history []message.Message) (forgotten *lane) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls++
	if history != nil {
		l.weigh(history)
	}
	if l.users--; l.users == 0 {
		l.aside = l.shelf.weight() + l.filed.Load().weight() + l.flights.Weight() + l.reading.weight()
	}
	l.used = s.calls
	if len(s.lanes) <= maxLanes {
		return nil
	}
	var idle ledger.Owner
	found := false
	for of, other := range s.lanes {
		if other.users == 0 && (!found || other.used < s.lanes[idle].used) {
			idle, found = of, true
		}
	}
	if found {
		forgotten = s.lanes[idle]
		delete(s.lanes, idle)
	}
	return forgotten
}

// lastTranscript returns the file of the newest whole transcript among the steps that
// want accepts, from index behind on. It returns "" if there is none.
func (s *session) lastTranscript(behind int, want func(*ledger.Step) bool) string {
	steps := s.snapshot()
	for k := len(steps) - 1; k >= behind; k-- {
		step := &steps[k]
		if !step.Volatile && step.Archive != "" && !record.IsOriginals(step.Archive) && want(step) {
			return step.Archive
		}
	}
	return ""
}

func (s *session) keepFinal(k *filed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final = k
}

// locked records that a key of the archive is missing.
func (s *session) locked(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Contains(s.lost, id) {
		s.lost = append(s.lost, id)
	}
}
