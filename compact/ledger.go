package compact

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/turnindex"
	"github.com/agentcompact/compact/token"
)

// ledgerVersion is the version of the form of ledger-NNN.json.
const ledgerVersion = 2

// ledgerStep is what ledger-NNN.json holds: which edits one compaction made to
// which prefix. It holds fingerprints, positions and the summary, no other
// text of the history.
type ledgerStep struct {
	V           int                `json:"v"`
	Key         string             `json:"key,omitempty"` // id of the key that its fingerprints are sealed with; "" = they are not
	Step        int                `json:"step"`
	Session     string             `json:"session"`
	Agent       string             `json:"agent,omitempty"`
	Branch      string             `json:"branch,omitempty"`
	Kind        string             `json:"kind"` // "preflight", "manual", "always", kindTidy, kindVoid
	Note        string             `json:"note,omitempty"`
	Model       string             `json:"model"`
	Window      int                `json:"window"`
	Preset      string             `json:"preset,omitempty"`   // that was configured; "" in ledgers from before it was noted
	Strategy    string             `json:"strategy,omitempty"` // that was configured, where the step made a summary
	In          policy.Link        `json:"in"`                 // the shortest prefix that the edits touch, after earlier steps
	Out         policy.Link        `json:"out"`                // and what it became
	Before      int                `json:"tokens_before"`
	After       int                `json:"tokens_after"`
	Bound       int                `json:"upper_bound"`           // of After, where the tokenizer is not public
	Calibration *token.Calibration `json:"calibration,omitempty"` // that the decision used
	Keep        policy.Keep        `json:"keep"`
	Forms       policy.Forms       `json:"forms,omitempty"`
	Recipes     []policy.Recipe    `json:"recipes"`
	Archive     string             `json:"archive,omitempty"` // the file that holds what was taken out
	Evicted     []eviction         `json:"evicted,omitempty"` // where in it
	Index       *indexRef          `json:"index,omitempty"`
	Turns       *turnNumbers       `json:"turns,omitempty"`
	Numbers     int                `json:"numbers,omitempty"` // the last number by which the summary of the step cites a message

	// Edits is how much of edits.jsonl came before the step: the number of its
	// last line then. The edits of a call between two steps have no number of
	// their own, and Evicted says what its lines hold.
	Edits int64 `json:"edits,omitempty"`
	seq   int64 // of a line of edits.jsonl
	off   int64 // where in it the originals of that line begin

	// Volatile steps are those that no archive took (storage.on_error: continue).
	Volatile bool `json:"-"`

	// changed: the ledger in the archive is not what was stored. Its number is
	// taken, and nothing is known of what it did.
	changed *storage.ChangedError

	// locked: the key that its fingerprints are sealed with is not to be had.
	locked bool
}

// session is what the manager knows of one session. Its mutex is held for
// moments only, never across a model call or a write of the archive.
type session struct {
	id   string
	log  *storage.Session
	keys *keyring     // nil = it is only read
	late *lateArchive // where the archive could not be read; nil = it could

	unarchived atomic.Bool // the archive did not take the last transcript that it was given

	bill  SessionBill
	agent agentState
	saved int       // tokens, over all calls; guarded by mu
	users int       // calls that are under way; the manager's mutex guards these three
	used  time.Time // when the last one ended
	bytes int64     // about what it costs in memory, as of then

	mu            sync.Mutex
	steps         []ledgerStep
	edits         edits
	stepsWeight   int64
	reserved      map[int]bool // numbers of files whose step is not known yet
	origins       map[message.Fingerprint]map[int]policy.Origin
	lanes         map[owner]*lane
	calls         uint64 // that ended
	audit         *auditLog
	seen          map[message.Fingerprint]bool // messages that the journal has or gets (storage.transcripts: all)
	trace         sessionTrace
	redactor      secrets
	recalled      map[string]int              // of what tidy left out, by reducer, since the last call
	tables        map[string]*turnindex.Table // by file, those that were opened
	rebuilt       map[int]*turnindex.Table    // by step, in place of those that are damaged or missing
	rebuiltWeight int64                       // of them, in bytes
	sums          map[string]lineSums         // by file, those that were held against the manifest as a whole
	final         *filed                      // the last transcript that belongs to no step; nil = not known here
	changes       changes
	lost          []string   // ids of keys that steps are sealed with
	lostTold      int        // of them
	version1      bool       // it has steps of version 1
	checked       time.Time  // when the archive was last asked for newer steps
	asking        bool       // it is being asked
	erased        bool       // nothing of it can be stored
	shadow        bool       // its calls are only observed
	projected     projection // of a shadow
	volatile      bool       // the archive failed and the configuration says to go on: later steps are kept in memory alone

	committing ctxlock.Mutex // held from the look for the next number until the step is committed
}

// owner is whose steps they are: those of one agent and branch are never
// applied to the history of another.
type owner struct{ agent, branch string }

func (r *request) owner() owner { return owner{r.agent, r.branch} }

// owner returns whose step it is; a step that was changed is nobody's.
func (s *ledgerStep) owner() owner {
	if s.changed != nil {
		return owner{"\x00", "\x00"}
	}
	return owner{s.Agent, s.Branch}
}

// openSession reads the ledger of a session, which may be new.
func openSession(ctx context.Context, a storage.Archive, id string, keys *keyring) (*session, error) {
	log, err := storage.OpenSession(ctx, a, id)
	if err != nil {
		return nil, err
	}
	return openLog(ctx, id, log, keys)
}

// openToGoOn is openSession for those who go on in the session: a scrub of it that was
// cut short is ended before.
func openToGoOn(ctx context.Context, a storage.Archive, id string, keys *keyring) (*session, error) {
	log, err := storage.OpenSession(ctx, a, id)
	if err == nil {
		_, err = log.EndScrub(ctx)
	}
	if err != nil && !errors.Is(err, storage.ErrUnsupported) {
		return nil, err
	}
	return openLog(ctx, id, log, keys)
}

// openLog reads the ledger of a session that is called id.
func openLog(ctx context.Context, id string, log *storage.Session, keys *keyring) (*session, error) {
	s := &session{id: id, log: log, keys: keys, reserved: map[int]bool{}, origins: map[message.Fingerprint]map[int]policy.Origin{}, lanes: map[owner]*lane{},
		tables: map[string]*turnindex.Table{}, rebuilt: map[int]*turnindex.Table{}}
	return s, s.reload(ctx)
}

// reload reads the steps that others have committed since.
func (s *session) reload(ctx context.Context) error {
	s.mu.Lock()
	from := len(s.steps) + 1
	s.mu.Unlock()
	var fresh []ledgerStep
	read := newLedgerReader()
	for l, err := range s.log.Ledgers(ctx, from) {
		if err != nil {
			return err
		}
		step, err := read.stored(l)
		if err != nil {
			return err
		}
		s.unseal(&step)
		fresh = append(fresh, step)
	}
	s.mu.Lock()
	for _, step := range fresh {
		if step.Step == len(s.steps)+1 {
			s.learn(step)
			s.changes.note(step.changed)
		}
	}
	s.mu.Unlock()
	return s.readEdits(ctx)
}

// stored reads a ledger of the archive.
func (r *ledgerReader) stored(l storage.Ledger) (ledgerStep, error) {
	if l.Changed != nil {
		return ledgerStep{Step: l.Step, changed: l.Changed}, nil
	}
	step, err := r.ledger(l.Data)
	if err != nil {
		return step, fmt.Errorf("ledger of step %d: %w", l.Step, err)
	}
	step.Step = l.Step
	return step, nil
}

func parseLedger(data []byte) (ledgerStep, error) { return newLedgerReader().ledger(data) }

// learn adds a step; the caller holds mu.
func (s *session) learn(step ledgerStep) {
	s.steps = append(s.steps, step)
	s.stepsWeight += weighStep(&step)
	for _, r := range step.Recipes {
		s.learnTexts(r.Texts)
	}
}

// learnTexts remembers what parts were before they were edited. The maps that
// are there are shared with conversations; new ones take their place.
func (s *session) learnTexts(texts []policy.TextRecipe) {
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

// snapshot returns the steps, which don't change any more.
func (s *session) snapshot() []ledgerStep {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.steps[:len(s.steps):len(s.steps)]
}

// next returns the number of the next step.
func (s *session) next() int { return len(s.snapshot()) + 1 }

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

func (s *session) known(fp message.Fingerprint) map[int]policy.Origin {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.origins[fp]
}

// originCount is how many edited messages are known; it never falls.
func (s *session) originCount() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.origins)
}

// A replayed conversation is the history with the edits of earlier steps.
type replayed struct {
	conv  *policy.Conversation
	chain *policy.Chain // of conv
	last  *ledgerStep   // the newest step that this history went through; nil = none
	edits int           // how many edits were applied again
	made  []Earlier     // which settings made the steps that this history went through; never changed in place
	room  int           // so many messages may follow before another step could be one of this history
	seen  *seen
}

// await notes that a prefix is longer than the history: nobody can tell yet
// whether it is one of it.
func (r *replayed) await(t *policy.Trail, l policy.Link) {
	if ahead := l.N - t.Len() - 1; ahead >= 0 {
		r.room = min(r.room, ahead)
	}
}

// replay applies every step whose prefix the history has, in their order. A
// history that is the output of a step already needs no edits. A step whose
// outcome is not legal, where that is asked, is left out.
func (s *session) replay(history []message.Message, of owner, pins policy.Pins, forms policy.Forms, legal func([]message.Message, []int) error) replayed {
	var known func(message.Fingerprint) map[int]policy.Origin
	if s.originCount() > 0 {
		known = s.known
	}
	t := policy.NewTrail(history, pins, forms, known)
	r := replayed{room: math.MaxInt, seen: new(seen)}
	for _, step := range s.course(of) {
		r.await(t, step.In)
		r.await(t, step.Out)
		switch {
		case t.Has(step.In):
			if step.cuts() && step.In.N == t.Len() {
				r.room = 0 // pinned messages that come next may belong to what the step cut
			}
			edits, err := t.Make(step.trail(), legal)
			if err != nil {
				r.room = 0 // what follows may change that
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

// trail is what a replay makes of the step.
func (s *ledgerStep) trail() policy.TrailStep {
	return policy.TrailStep{In: s.In, Out: s.Out, Recipes: s.Recipes, Forms: s.Forms}
}

// cuts reports whether the step took messages out.
func (s *ledgerStep) cuts() bool {
	return slices.ContainsFunc(s.Recipes, func(r policy.Recipe) bool { return r.Removes() })
}

// edits is how many edits the step made.
func (s *ledgerStep) edits() int {
	n := 0
	for i := range s.Recipes {
		n += len(s.Recipes[i].Texts)
		if s.Recipes[i].Removes() {
			n++
		}
	}
	return n
}
