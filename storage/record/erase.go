package record

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"slices"
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
	Head    string    `json:"head,omitempty"` // of the manifest; "" in refusals of version 0.1.0
	Life    string    `json:"life,omitempty"` // hash of the first line of the manifest; "" in tombstones of version 0.1.0
	Reason  string    `json:"reason,omitempty"`
	Who     string    `json:"who,omitempty"` // who requested it ([Session.ActAs])
	// Left describes files that may hold pieces of the session and could not be
	// removed. They disappear later by themselves.
	Left []string `json:"left,omitempty"`
	// Done: every file is removed. If false, the erasure was interrupted; call
	// Erase again to complete it.
	Done bool `json:"done"`

	// Refused is the reason why nothing was removed; "": the session was
	// erased.
	Refused string `json:"refused,omitempty"`
	// KeptUntil is the end of the lock that refused it; zero if unknown.
	KeptUntil time.Time `json:"kept_until,omitzero"`

	// Damaged: the line was changed and has no more than these values. Without Session
	// nobody knows which session it is about.
	Damaged bool `json:"damaged,omitempty"`
}

func (t Tombstone) body() string {
	t.At = t.At.UTC().Truncate(time.Millisecond)
	b, _ := json.Marshal(t) // never fails
	return string(b)
}

// head returns the head that says what the tombstone says.
func (t Tombstone) head(op string) head { return head{Op: op, At: t.At, Who: t.Who, Why: t.Reason} }

func tombstoneID(dir storage.Key) string { return hashOf([]byte(dir.String())) }

// Erase removes every file of the session, and leaves a tombstone. Concurrent
// writers get [ErrErased]. Errors are [ErrHeld] under a legal hold, [storage.ErrLocked] if
// the archive is a [storage.Keeper] that keeps a file, [storage.ErrUnsupported] if the archive is
// no [storage.Remover], and [storage.ErrNotExist] if nothing is stored. ErrHeld and ErrLocked
// leave the session usable, with a tombstone that records the refused request.
// After any other error some files may be gone. The ledgers are removed first, the
// last one first (or all at once by a [storage.BulkRemover]), and the manifest last, which
// records the erasure, so that an incomplete rest is never taken for a session.
// Call Erase again to complete it.
func (s *Session) Erase(ctx context.Context, reason redact.Text) (Tombstone, error) {
	remover, files, err := s.condemn(ctx, time.Time{})
	switch {
	case errors.Is(err, storage.ErrNotExist):
		return s.finish(ctx, err)
	case errors.Is(err, ErrHeld), errors.Is(err, storage.ErrLocked):
		return s.refuse(ctx, reason, err)
	case err != nil:
		return Tombstone{}, err
	}
	return s.erase(ctx, s.stone(reason.String(), s.who.String()), remover, files)
}

// stone returns the tombstone of an erase that begins now.
func (s *Session) stone(reason, who string) Tombstone {
	t, _ := s.manifest.known()
	return Tombstone{At: time.Now(), Session: tombstoneID(s.dir), Head: s.ManifestHead(), Life: t.first, Reason: reason, Who: who}
}

// condemn records that the session is being removed, and returns the remover and
// the files in the order of removal. It returns an error for a session that a hold
// or a lock keeps, and for one whose last record is not older than before; the zero
// time omits that check.
func (s *Session) condemn(ctx context.Context, before time.Time) (storage.Remover, []storage.Info, error) {
	remover, ok := s.a.(storage.Remover)
	if !ok {
		return nil, nil, &storage.Error{Op: "erase", Key: s.dir, Err: storage.ErrUnsupported}
	}
	files, err := s.removable(ctx)
	if err != nil {
		return nil, nil, err
	}
	if err := s.kept(ctx, files); err != nil {
		return nil, nil, err
	}
	return remover, files, s.seal(ctx, before)
}

// refuse leaves a tombstone with the reason why the session was not erased.
func (s *Session) refuse(ctx context.Context, reason redact.Text, why error) (Tombstone, error) {
	// A stored step is confirmed before the end of the manifest is taken, so that the
	// tombstone and the head have the same one.
	unconfirmed := s.confirmLast(ctx)
	stone := s.stone(reason.String(), s.who.String())
	stone.Refused = storage.ErrLocked.Error()
	if errors.Is(why, ErrHeld) {
		stone.Refused = ErrHeld.Error()
	}
	if locked := new(storage.LockedError); errors.As(why, &locked) {
		stone.KeptUntil = locked.Until
	}
	// The tombstone is written first, so that no head lacks one.
	if err := bury(ctx, s.graves(), stone); err != nil {
		return stone, errors.Join(why, err)
	}
	if unconfirmed != nil {
		return stone, errors.Join(why, unconfirmed)
	}
	return stone, errors.Join(why, s.tellEnd(ctx, stone.head(headRefuse)))
}

// erase removes a condemned session, with this tombstone.
func (s *Session) erase(ctx context.Context, stone Tombstone, r storage.Remover, files []storage.Info) (Tombstone, error) {
	stone.Files = len(files)
	for _, f := range files {
		stone.Bytes += f.Size
	}
	// Heads and tombstone are written first, so that they explain every missing
	// file.
	if err := s.tell(ctx, stone.head(opErase)); err != nil {
		return Tombstone{}, err
	}
	graves := s.graves()
	if err := bury(ctx, graves, stone); err != nil {
		return Tombstone{}, err
	}
	// The index is updated before the files are removed, and again after them, because
	// the session can have been indexed again meanwhile. If the index fails, the manifest
	// alone stays, so that the erase can be repeated.
	if err := s.unindex(ctx); err != nil {
		text := slices.DeleteFunc(files, func(f storage.Info) bool { return f.Key == s.manifest.key })
		return Tombstone{}, errors.Join(err, s.removeFiles(ctx, r, text))
	}
	if err := errors.Join(s.removeAll(ctx, r, files), s.unindex(ctx)); err != nil {
		return Tombstone{}, err
	}
	stone.Left = s.sweep(ctx)
	stone.At, stone.Done = time.Now(), true
	// No check: the log of tombstones existed a moment ago.
	_, err := graves.appendUnseen(ctx, func(facts) ([]string, error) { return []string{stone.body()}, nil })
	return stone, err
}

// sweep removes pieces outside of the keys, and returns those it had to leave.
func (s *Session) sweep(ctx context.Context) []string {
	sweeper, ok := s.a.(storage.Sweeper)
	if !ok {
		return nil
	}
	left, err := sweeper.Sweep(ctx, s.dir)
	if err != nil {
		left = append(left, "what was not looked at, because of an error")
	}
	return left
}

func (s *Session) graves() *chain { return newChain(s.a, keyOf(erasedName), false) }

// kept returns the error if a lock keeps a file: that of the file written last,
// which a lock by age keeps longest.
func (s *Session) kept(ctx context.Context, files []storage.Info) error {
	keeper, ok := s.a.(storage.Keeper)
	if !ok {
		return nil
	}
	latest := slices.Clone(files)
	slices.SortStableFunc(latest, func(x, y storage.Info) int { return y.Modified.Compare(x.Modified) })
	keys := make([]storage.Key, len(latest))
	for i, f := range latest {
		keys[i] = f.Key
	}
	if bulk, ok := keeper.(storage.BulkKeeper); ok {
		return bulk.KeptAny(ctx, keys)
	}
	for _, k := range keys {
		if err := keeper.Kept(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

func bury(ctx context.Context, graves *chain, t Tombstone) error {
	_, err := graves.append(ctx, func(facts) ([]string, error) { return []string{t.body()}, nil })
	return err
}

// seal writes the last line of the manifest, atomically with the check for a
// hold.
func (s *Session) seal(ctx context.Context, before time.Time) error {
	_, err := s.manifest.append(ctx, func(f facts) ([]string, error) {
		switch {
		case f.held:
			return nil, ErrHeld
		case f.erasing:
			return nil, nil // the erasure continues
		case !before.IsZero() && !f.last.Before(before):
			return nil, errInUse
		}
		return bodies([]record{{Op: opErase, At: time.Now(), Who: s.who.String()}}), nil
	})
	return err
}

var errInUse = errors.New("written to in the meantime")

// removable returns the files in the order of removal.
func (s *Session) removable(ctx context.Context) ([]storage.Info, error) {
	var files []storage.Info
	for info, err := range s.Files(ctx) {
		if err != nil {
			return nil, err
		}
		if !info.Key.IsZero() {
			files = append(files, info)
		}
	}
	if len(files) == 0 {
		return nil, &storage.Error{Op: "erase", Key: s.dir, Err: storage.ErrNotExist}
	}
	slices.SortStableFunc(files, func(x, y storage.Info) int { return cmp.Compare(removalRank(x), removalRank(y)) })
	return files, nil
}

// removalRank returns the sort key of a file: ledgers first, from the last one;
// the manifest last.
func removalRank(i storage.Info) int {
	if n, ok := ledgerKind.number(i.Key.Base()); ok {
		return -n
	}
	if i.Key.Base() == manifestName {
		return 1
	}
	return 0
}

// removeAll removes the files, and those that a concurrent writer has added since.
// It gives up after some rounds.
func (s *Session) removeAll(ctx context.Context, r storage.Remover, files []storage.Info) error {
	const rounds = 5
	for range rounds {
		if err := s.removeFiles(ctx, r, files); err != nil {
			return err
		}
		var err error
		files, err = s.removable(ctx)
		if errors.Is(err, storage.ErrNotExist) {
			return nil
		}
		if err != nil {
			return err
		}
	}
	return &storage.Error{Op: "erase", Key: s.dir, Err: errInUse}
}

// removeFiles removes files, which are in the order of removal, one by one. A
// BulkRemover removes the ledgers together, then the other files together, and then
// the manifest.
func (s *Session) removeFiles(ctx context.Context, r storage.Remover, files []storage.Info) error {
	if bulk, ok := r.(storage.BulkRemover); ok {
		ledgers, others := s.inBulk(files)
		if err := errors.Join(bulk.RemoveAll(ctx, ledgers), ctx.Err()); err != nil {
			return err
		}
		if err := bulk.RemoveAll(ctx, others); err != nil {
			return err
		}
		files = files[len(ledgers)+len(others):]
	}
	for _, f := range files {
		if err := s.removeOne(ctx, r, f.Key); err != nil {
			return err
		}
	}
	return nil
}

// inBulk returns the ledgers, and the other files without the manifest.
func (s *Session) inBulk(files []storage.Info) (ledgers, others []storage.Key) {
	for _, f := range files {
		switch rank := removalRank(f); {
		case rank < 0:
			ledgers = append(ledgers, f.Key)
		case rank == 0:
			others = append(others, f.Key)
		}
	}
	return ledgers, others
}

// removeOne removes a file. The record of the session's name is removed before
// the manifest, so that a repeated erase completes it.
func (s *Session) removeOne(ctx context.Context, r storage.Remover, k storage.Key) error {
	if k == s.manifest.key {
		if err := r.Remove(ctx, nameKey(headID(s.dir))); err != nil {
			return err
		}
	}
	return r.Remove(ctx, k)
}
