package record

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/storage"
)

// headsName is the folder of the heads. namesName is the folder with the name of each
// session, by its hash in the heads. The name of a session's folder never begins with an
// underscore.
const (
	headsName = "_heads"
	namesName = "_names"
)

// Operations in a line of heads, besides hold, release and erase.
const (
	headCommit = opCommit
	headFinal  = "final"   // a transcript that belongs to no step
	headMark   = "mark"    // a checkpoint
	headRefuse = "refusal" // a request to erase the session that was refused
)

// Heads writes the manifest heads of all sessions of one process to _heads/WRITER.jsonl: a line
// for each commit, final transcript, checkpoint, hold, release, erasure and refused erasure,
// chained like a log. Processes do not share a file, so that no process waits for another.
// [ReadHeads] merges them.
//
// A line holds the hash of the folder's name instead of the id, which may be a
// person's name. _names/HASH maps the hash to the name, and is removed when the
// session is erased.
//
// All methods may be called at once. Lines of several goroutines may share one
// append.
type Heads struct {
	a      storage.Archive
	writer string
	key    ed25519.PrivateKey
	chain  *chain

	mu    sync.Mutex
	queue []*queuedHead

	turn   ctxlock.Mutex // held while the queue is written; guards looked
	looked time.Time     // when the log was last checked to exist
}

// headsUnseen is the time for which lines are added to heads without a check that their
// log exists, which suffices because the log is only removed by hand. It is also the
// longest time for which lines of commits are not synced.
const headsUnseen = time.Minute

// queuedHead is a waiting line. The holder of the turn sets done and err.
type queuedHead struct {
	head
	done bool
	err  error
}

// head is a line of heads.
type head struct {
	V       int       `json:"v"`
	Writer  string    `json:"writer"`
	Op      string    `json:"op"`
	Session string    `json:"session"` // [headID] of the folder
	Life    string    `json:"life"`    // hash of the first line of the manifest, which is different after an erase
	Step    int       `json:"step,omitempty"`
	Line    int64     `json:"line"` // number of the line of the manifest
	Head    string    `json:"head"` // hash of that line
	At      time.Time `json:"at"`
	Who     string    `json:"who,omitempty"` // for a hold, a release, an erasure and its refusal; redacted
	Why     string    `json:"why,omitempty"`
}

const headVersion = 1

// headID returns the name of a session in heads.
func headID(dir storage.Key) string { return hashOf([]byte("compact heads\n" + dir.String())) }

// NewHeads returns a new chain of heads. It does no I/O. With a key, which may be
// nil, each line is signed (Ed25519).
func NewHeads(a storage.Archive, key ed25519.PrivateKey) *Heads {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails
	writer := strings.ToLower(time.Now().UTC().Format("20060102t150405z")) + "-" + hex.EncodeToString(b[:])
	h := &Heads{a: a, writer: writer, key: key, chain: newChain(a, headsKey(writer), false)}
	h.chain.loaded = true // the name is new, so there is no log
	if key != nil {
		h.chain.state.sign = h.signed
	}
	return h
}

func headsKey(writer string) storage.Key { return child(keyOf(headsName), writer+".jsonl") }

// KeepHeads makes the session write its heads to h. Call it before the first
// write. Without it no heads are written, except for an erase in an archive that has heads:
// without a head, the session would seem to have vanished. That head is not signed.
func (s *Session) KeepHeads(h *Heads) { s.heads = h }

// needHeads begins heads for an erase, if the session writes none and the archive has
// some.
func (s *Session) needHeads(ctx context.Context) error {
	if s.heads != nil {
		return nil
	}
	for _, err := range s.a.List(ctx, keyOf(headsName)) {
		if err == nil {
			s.heads = NewHeads(s.a, nil)
		}
		return err
	}
	return nil
}

// tell writes a line with the current end of the session's manifest. If the manifest
// does not confirm a stored step yet, tell confirms it first. Otherwise the loss of
// its files would go unnoticed.
func (s *Session) tell(ctx context.Context, l head) error {
	if l.Op != opErase {
		if err := s.confirmLast(ctx); err != nil {
			return err
		}
	}
	return s.tellEnd(ctx, l)
}

// tellEnd is tell without a new line in the manifest.
func (s *Session) tellEnd(ctx context.Context, l head) error {
	if s.heads == nil {
		return nil
	}
	t, _ := s.manifest.known()
	if t.seq == 0 {
		return nil // there is no manifest yet
	}
	if l.At.IsZero() {
		l.At = time.Now()
	}
	l.V, l.Writer, l.Session, l.At = headVersion, s.heads.writer, headID(s.dir), l.At.UTC().Truncate(time.Millisecond)
	l.Life, l.Line, l.Head = t.first, t.seq, t.head
	if err := s.heads.append(ctx, l); err != nil {
		return err
	}
	s.mu.Lock()
	s.untold = false
	s.mu.Unlock()
	if l.Op == opErase {
		return nil
	}
	return s.nameIt(ctx)
}

// nameIt stores the name for the session's hash, once.
func (s *Session) nameIt(ctx context.Context) error {
	s.mu.Lock()
	named := s.named
	s.mu.Unlock()
	if named {
		return nil
	}
	err := s.a.Create(ctx, nameKey(headID(s.dir)), blobOf(`{"v":1,"session":`, quoted(s.dir.String()), "}\n"))
	if err != nil && !errors.Is(err, storage.ErrExists) {
		return err
	}
	if err == nil {
		if err := s.unnameErased(ctx); err != nil {
			return err
		}
	}
	s.mu.Lock()
	s.named = true
	s.mu.Unlock()
	return nil
}

// unnameErased removes the name again if the session was erased in the meantime,
// because the erase may have removed the name before it was written.
func (s *Session) unnameErased(ctx context.Context) error {
	t, err := s.manifest.refresh(ctx)
	r, ok := s.a.(storage.Remover)
	if ok && (t.facts.erasing || errors.Is(err, ErrErased)) {
		return r.Remove(ctx, nameKey(headID(s.dir)))
	}
	return nil // also if the manifest can't be read: it existed a moment ago
}

func nameKey(id string) storage.Key { return child(keyOf(namesName), id+".json") }

func quoted(s string) string {
	b, _ := json.Marshal(s) // never fails
	return string(b)
}

// append writes a line, together with other waiting lines.
func (h *Heads) append(ctx context.Context, l head) error {
	mine := &queuedHead{head: l}
	h.mu.Lock()
	h.queue = append(h.queue, mine)
	h.mu.Unlock()
	if err := h.turn.Lock(ctx); err != nil {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.queue = slices.DeleteFunc(h.queue, func(q *queuedHead) bool { return q == mine })
		return &storage.Error{Op: "append", Key: h.chain.key, Err: err}
	}
	defer h.turn.Unlock()
	if mine.done {
		return mine.err
	}
	h.mu.Lock()
	all := h.queue
	h.queue = nil
	h.mu.Unlock()
	bodies, lazily := make([]string, len(all)), true
	for i, q := range all {
		lazily = lazily && q.Op == headCommit
		b, _ := json.Marshal(q.head) // never fails
		bodies[i] = string(b)
	}
	err := errNotWritten // in case the archive panics
	defer func() {
		for _, q := range all {
			q.done, q.err = true, err
		}
	}()
	err = h.write(ctx, bodies, lazily)
	return err
}

// write appends lines. At least once in headsUnseen it makes them durable before it
// returns. In the meantime a crash can lose lines of commits: then the end of the session
// is not proven until its next line.
func (h *Heads) write(ctx context.Context, bodies []string, lazily bool) error {
	now, by := time.Now(), h.chain.appendUnseen
	look := now.Sub(h.looked) > headsUnseen
	switch {
	case look:
		by = h.chain.append
	case lazily:
		by = h.chain.appendLazily
	}
	_, err := by(ctx, func(facts) ([]string, error) { return bodies, nil })
	if err == nil && look {
		h.looked = now
	}
	return err
}

var errNotWritten = errors.New("not written")

// The signature is the last member of a line, and covers everything before it,
// including the number and the hash of the previous line.
const (
	sigStart = `,"sig":"`
	sigEnd   = `"}`
)

// signed adds the signature to a line.
func (h *Heads) signed(line string) string {
	sig := ed25519.Sign(h.key, []byte(line))
	return strings.TrimSuffix(line, "}") + sigStart + base64.StdEncoding.EncodeToString(sig) + sigEnd
}

// unsigned splits a line into text and signature; sig is nil if there is none.
func unsigned(line []byte) (text string, sig []byte) {
	s := string(line)
	at := strings.LastIndex(s, sigStart)
	if at < 0 || !strings.HasSuffix(s, sigEnd) {
		return s, nil
	}
	sig, err := base64.StdEncoding.DecodeString(s[at+len(sigStart) : len(s)-len(sigEnd)])
	if err != nil || len(sig) != ed25519.SignatureSize {
		return s, nil
	}
	return s[:at] + "}", sig
}

// HeadsKey parses a key for [NewHeads]: 32 random bytes in base64, as "openssl
// rand -base64 32" prints them.
func HeadsKey(s string) (ed25519.PrivateKey, error) {
	seed, err := base64.StdEncoding.DecodeString(strings.TrimSpace(s))
	if err != nil || len(seed) != ed25519.SeedSize {
		return nil, errHeadsKey
	}
	return ed25519.NewKeyFromSeed(seed), nil
}

// HeadsPublic parses the public keys of signed heads: 32 bytes in base64 each,
// separated by commas.
func HeadsPublic(s string) (keys []ed25519.PublicKey, err error) {
	for one := range strings.SplitSeq(s, ",") {
		b, err := base64.StdEncoding.DecodeString(strings.TrimSpace(one))
		if err != nil || len(b) != ed25519.PublicKeySize {
			return nil, errHeadsKey
		}
		keys = append(keys, b)
	}
	return keys, nil
}

var errHeadsKey = errors.New("storage: a key of heads is 32 bytes in base64")

// told calls tell after a complete operation, and ignores errors and panics: a missing
// head only leaves the end unproven until the next head.
func (s *Session) told(ctx context.Context, l head) {
	defer func() { _ = recover() }()
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
	defer cancel()
	_ = s.tell(ctx, l)
}
