package record

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// erasedName is the log of tombstones, beside the sessions. The name of a
// session's folder never begins with an underscore.
const erasedName = "_erased.jsonl"

// A Tombstone is the record of an erased session, or of a refused request to
// erase one. It holds a hash instead of the id, which may be a person's name;
// [Erased] finds it by the id.
type Tombstone struct {
	At      time.Time `json:"at"`
	Session string    `json:"session"` // SHA-256 of the folder's name
	Files   int       `json:"files"`
	Bytes   int64     `json:"bytes"`
	Head    string    `json:"head,omitempty"` // hash of the manifest's last line; "" in refusals of version 0.1.0
	Life    string    `json:"life,omitempty"` // hash of the first line of the manifest; "" in tombstones of version 0.1.0
	Reason  string    `json:"reason,omitempty"`
	Who     string    `json:"who,omitempty"` // who requested it ([Session.ActAs])
	// Left describes files that may hold pieces of the session and could not be
	// removed. They disappear later by themselves.
	Left []string `json:"left,omitempty"`
	// Done is true if every file is removed. If false, the erasure was interrupted; call
	// Erase again to complete it.
	Done bool `json:"done"`

	// Refused is the reason why nothing was removed; "" = the session was erased.
	Refused string `json:"refused,omitempty"`
	// KeptUntil is the end of the lock that refused it; zero if unknown.
	KeptUntil time.Time `json:"kept_until,omitzero"`

	// Damaged is true if the line was changed; the other fields have only what could still
	// be read. If Session is empty, it is unknown which session the line is about.
	Damaged bool `json:"damaged,omitempty"`
}

func (t Tombstone) body() string {
	t.At = t.At.UTC().Truncate(time.Millisecond)
	b, _ := json.Marshal(t) // never fails
	return string(b)
}

// end returns the time at which an erase ends. It is never before the time at which the
// erase began, which the heads record. (The clock may be set back in the meantime, or a
// process with another clock may complete the erase.)
func (t Tombstone) end() time.Time {
	began := t.At.Round(0) // without the monotonic time, which a clock that is set back does not change
	if now := time.Now().Round(0); now.After(began) {
		return now
	}
	return began
}

// head returns the head with the facts of the tombstone.
func (t Tombstone) head(op string) head { return head{Op: op, At: t.At, Who: t.Who, Why: t.Reason} }

func tombstoneID(dir storage.Key) string { return hashOf([]byte(dir.String())) }

// Erase removes every file of the session, and leaves a tombstone. Concurrent writers get
// [ErrErased]. Errors are [ErrHeld] under a legal hold, [storage.ErrLocked] if the archive is a
// [storage.Keeper] that keeps a file, [storage.ErrUnsupported] if the archive is not a
// [storage.Remover], and [storage.ErrNotExist] if nothing is stored. ErrHeld and ErrLocked leave
// the session usable, with a tombstone that records the refused request. After any other error
// some files may be gone. The ledgers are removed first, from the last one to the first (or all
// at once by a [storage.BulkRemover]), and the manifest, which records the erasure, last. So the
// files that are left of an incomplete erase are never mistaken for a session. Call Erase again
// to complete it.
//
// One process erases a session at a time. If another process is erasing the session,
// Erase waits, but no longer than ctx lasts. If that process finishes, Erase returns
// ErrErased. If that process makes no progress for 20 seconds, Erase continues the erase.
func (s *Session) Erase(ctx context.Context, reason redact.Text) (Tombstone, error) {
	e, err := s.condemn(ctx, time.Time{})
	switch {
	case errors.Is(err, storage.ErrNotExist):
		return s.finish(ctx, err)
	case errors.Is(err, storage.ErrDamaged):
		return s.eraseRest(ctx, err)
	case errors.Is(err, ErrHeld), errors.Is(err, storage.ErrLocked):
		return s.refuse(ctx, reason, err)
	case err != nil:
		return Tombstone{}, err
	}
	return e.erase(ctx, s.stone(reason.String(), s.who.String()))
}

// stone returns the tombstone of an erase that begins now.
func (s *Session) stone(reason, who string) Tombstone {
	t, _ := s.manifest.known()
	return Tombstone{At: time.Now(), Session: tombstoneID(s.dir), Head: s.ManifestHead(), Life: t.first, Reason: reason, Who: who}
}

// refuse leaves a tombstone with the reason why the session was not erased.
func (s *Session) refuse(ctx context.Context, reason redact.Text, why error) (Tombstone, error) {
	// A stored step is confirmed before the end of the manifest is read, so that the
	// tombstone and the head have the same end.
	unconfirmed := s.confirmLast(ctx)
	stone := s.stone(reason.String(), s.who.String())
	stone.Refused = storage.ErrLocked.Error()
	if errors.Is(why, ErrHeld) {
		stone.Refused = ErrHeld.Error()
	}
	if locked := new(storage.LockedError); errors.As(why, &locked) {
		stone.KeptUntil = locked.Until
	}
	// The tombstone is written first, so that each head has a tombstone.
	if err := bury(ctx, s.graves(), stone); err != nil {
		return stone, errors.Join(why, err)
	}
	if unconfirmed != nil {
		return stone, errors.Join(why, unconfirmed)
	}
	return stone, errors.Join(why, s.tellEnd(ctx, stone.head(headRefuse)))
}

// erase removes a condemned session, with this tombstone.
func (e *eraser) erase(ctx context.Context, stone Tombstone) (Tombstone, error) {
	s := e.s
	stone.Files = len(e.files)
	for _, f := range e.files {
		stone.Bytes += f.Size
	}
	graves := s.graves()
	if err := e.removeAs(ctx, stone, graves); err != nil {
		e.pass(ctx)
		return Tombstone{}, err
	}
	stone.Left = s.sweep(ctx)
	stone.At, stone.Done = stone.end(), true
	// No check is needed: the log of tombstones existed a moment ago.
	_, err := graves.appendUnseen(ctx, func(facts) ([]string, error) { return []string{stone.body()}, nil })
	return stone, err
}

// removeAs removes a condemned session, after it has recorded why files are missing.
func (e *eraser) removeAs(ctx context.Context, stone Tombstone, graves *chain) error {
	s := e.s
	if err := s.needHeads(ctx); err != nil {
		return err
	}
	// Heads and tombstone are written first, so that they explain every missing
	// file.
	if err := s.tell(ctx, stone.head(opErase)); err != nil {
		return err
	}
	if err := bury(ctx, graves, stone); err != nil {
		return err
	}
	// The index is updated before the files are removed, and again after that, because
	// the session may have been indexed again in the meantime. If the index fails, only
	// the manifest stays, so that the erase can be repeated.
	if err := s.unindex(ctx); err != nil {
		return errors.Join(err, e.removeFiles(ctx))
	}
	return errors.Join(e.removeAll(ctx), s.unindex(ctx))
}

// sweep removes pieces outside of the keys, and returns the pieces that it had to leave.
func (s *Session) sweep(ctx context.Context) []string {
	sweeper, ok := s.a.(storage.Sweeper)
	if !ok {
		return nil
	}
	left, err := sweeper.Sweep(ctx, s.dir)
	if err != nil {
		left = append(left, "the files that were not listed, because of an error")
	}
	return left
}

func (s *Session) graves() *chain { return newChain(s.a, keyOf(erasedName), false) }

func bury(ctx context.Context, graves *chain, t Tombstone) error {
	_, err := graves.append(ctx, func(facts) ([]string, error) { return []string{t.body()}, nil })
	return err
}
