package compact

import (
	"context"
	"errors"
	"maps"
	"math"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/lookup"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
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

	bill  SessionBill
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
	seen        map[message.Fingerprint]bool // messages in the journal or on their way to it (storage.transcripts: all)
	trace       sessionTrace
	redactor    secrets
	recalled    map[string]int // recalls of text that tidy left out, by reducer, since the last call
	final       *filed         // last transcript that belongs to no step; nil = unknown
	changes     changes
	lost        []string   // ids of missing keys that seal steps
	lostTold    int        // number of changed files that were reported
	version1    bool       // it has steps of version 1
	checked     time.Time  // time of the last check for newer steps
	asking      bool       // a check is running
	erased      bool       // nothing can be stored
	shadow      bool       // its calls are only observed
	projected   projection // sums over the calls of a shadow
	volatile    bool       // the archive failed and the configuration says to continue: later steps are kept only in memory

	committing ctxlock.Mutex // held from choosing the next number until the step is committed
}

func (r *request) owner() ledger.Owner { return ledger.Owner{Agent: r.agent, Branch: r.branch} }

// openSession reads the ledger of a session, which may be new.
func openSession(ctx context.Context, a storage.Archive, id string, keys *keyring) (*session, error) {
	log, err := record.OpenSession(ctx, a, id)
	if err != nil {
		return nil, err
	}
	return openLog(ctx, id, log, keys)
}

// openToGoOn opens a session to continue it. It first completes an interrupted scrub.
func openToGoOn(ctx context.Context, a storage.Archive, id string, keys *keyring) (*session, error) {
	log, err := record.OpenSession(ctx, a, id)
	if err == nil {
		_, err = log.EndScrub(ctx)
	}
	if err != nil && !errors.Is(err, storage.ErrUnsupported) {
		return nil, err
	}
	return openLog(ctx, id, log, keys)
}

// openLog reads the ledger of the session with this id.
func openLog(ctx context.Context, id string, log *record.Session, keys *keyring) (*session, error) {
	s := &session{id: id, log: log, keys: keys, reserved: map[int]bool{}, origins: map[message.Fingerprint]map[int]policy.Origin{}, lanes: map[ledger.Owner]*lane{}}
	s.reads = lookup.New(id, log, book{s})
	return s, s.reload(ctx)
}

// reload reads the steps that others have committed since the last read.
func (s *session) reload(ctx context.Context) error {
	s.mu.Lock()
	from := len(s.steps) + 1
	s.mu.Unlock()
	fresh, err := ledger.ReadSteps(ctx, s.log, from)
	if err != nil {
		return err
	}
	for i := range fresh {
		s.unseal(&fresh[i])
	}
	s.mu.Lock()
	for _, step := range fresh {
		if step.Step == len(s.steps)+1 {
			s.learn(step)
			s.changes.note(step.Changed)
		}
	}
	s.mu.Unlock()
	return s.readEdits(ctx)
}

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

// A replayed conversation is the history with the edits of earlier steps.
type replayed struct {
	conv  *reduce.Conversation
	chain *reduce.Chain // chain of conv
	last  *ledger.Step  // newest compaction whose edits conv has; nil = none
	edits int           // number of edits that were applied
	made  []Earlier     // settings of the compactions whose edits conv has; never modified in place
	room  int           // number of messages that can be appended before another step can apply
	seen  *seen
}

// await records a step whose prefix is longer than the history, so that it is
// unknown whether the step applies.
func (r *replayed) await(t *reduce.Trail, l reduce.Link) {
	if ahead := l.N - t.Len() - 1; ahead >= 0 {
		r.room = min(r.room, ahead)
	}
}

// replay applies, in order, every step whose prefix the history has. A history
// that is already the output of a step needs no edits. A step with an illegal
// outcome is left out, if legal is not nil.
func (s *session) replay(history []message.Message, of ledger.Owner, pins policy.Pins, forms policy.Forms, legal func([]message.Message, []int) error) replayed {
	var known func(message.Fingerprint) map[int]policy.Origin
	if s.originCount() > 0 {
		known = s.known
	}
	t := reduce.NewTrail(history, pins, forms, known)
	r := replayed{room: math.MaxInt, seen: new(seen)}
	for _, step := range s.course(of) {
		r.await(t, step.In)
		r.await(t, step.Out)
		switch {
		case t.Has(step.In):
			if step.Cuts() && step.In.N == t.Len() {
				r.room = 0 // pinned messages that follow can belong to the cut part
			}
			edits, err := t.Make(step.Trail(), legal)
			if err != nil {
				r.room = 0 // later messages can change that
				continue
			}
			r.went(step)
			r.edits += edits
		case t.Has(step.Out):
			r.went(step)
		}
	}
	r.conv, r.chain = t.End()
	return r
}
