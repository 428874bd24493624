package spool

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// If another machine has erased a session, the session and the name for its hash are
// removed from the disk.

const (
	namesFolder  = "_names"
	erasedLog    = "_erased.jsonl"
	manifestFile = "manifest.jsonl"
)

// leave removes sessions from the disk that other machines have erased since the last
// call. If nothing is new, it makes one request.
func (s *Spool) leave(ctx context.Context) error {
	sessions, err := s.sessions()
	if err != nil || len(sessions) == 0 {
		return err
	}
	size := int64(0)
	for info, err := range s.remote.List(ctx, mustKey(erasedLog)) {
		if err != nil {
			return err
		}
		size += info.Size
	}
	s.mu.Lock()
	seen := s.buried
	s.mu.Unlock()
	if size == seen {
		return nil
	}
	stones, err := s.stones(ctx)
	if err != nil {
		return err
	}
	for _, session := range sessions {
		if len(stones[hashOf(session)]) > 0 {
			err = errors.Join(err, s.leaveIfErased(ctx, session))
		}
	}
	if err = errors.Join(err, s.unname(ctx, stones)); err == nil {
		s.mu.Lock()
		s.buried = size
		s.mu.Unlock()
	}
	return err
}

// stones returns the tombstones of the remote archive by the hash of the session.
func (s *Spool) stones(ctx context.Context) (map[string][]record.Tombstone, error) {
	all := map[string][]record.Tombstone{}
	for t, err := range record.Tombstones(ctx, s.over(s.remote)) {
		if errors.Is(err, storage.ErrNoIdentity) {
			return nil, nil // this process can't read the tombstones
		}
		if err != nil {
			return nil, err
		}
		if t.Refused == "" {
			all[t.Session] = append(all[t.Session], t)
		}
	}
	return all, nil
}

func hashOf(session string) string {
	sum := sha256.Sum256([]byte(session))
	return hex.EncodeToString(sum[:])
}

// leaveIfErased removes an erased session from the disk, or records why it stays.
func (s *Spool) leaveIfErased(ctx context.Context, session string) error {
	unlock, err := s.lock(ctx, sending, session)
	if err != nil {
		return err
	}
	defer unlock()
	_, err = s.leftErased(ctx, session)
	if conflict := new(ConflictError); errors.As(err, &conflict) {
		return replace(s.state(session, conflictFile), []byte(conflict.Reason))
	}
	return err
}

// leftErased removes a session from the disk if another machine has erased it, unsent
// data included. The caller holds the sending lock. If the session stays although there
// is a tombstone, a [*ConflictError] has the reason.
func (s *Spool) leftErased(ctx context.Context, session string) (bool, error) {
	if gone, err := s.erased(ctx, session); err != nil || !gone {
		return false, err
	}
	unlock, err := s.lock(ctx, writing, session)
	if err != nil {
		return false, err
	}
	defer unlock()
	if err := s.heldHere(ctx, session); err != nil {
		return false, err
	}
	s.seen(session, false)
	if err := s.clear(ctx, mustKey(session)); err != nil {
		return false, err
	}
	s.sent(session)
	_, err = s.local.Sweep(ctx, mustKey(session))
	return true, err
}

// erased reports whether the remote archive has only a tombstone of a session. A
// session that began on this machine under the name of an erased one is a different
// session. If the tombstone does not identify its session, and the remote archive had
// this one, erased returns a [*ConflictError].
func (s *Spool) erased(ctx context.Context, session string) (bool, error) {
	for info, err := range s.remote.List(ctx, mustKey(session)) {
		if err != nil || info.Foreign == "" {
			return false, err
		}
	}
	all, err := s.stones(ctx)
	if err != nil {
		return false, err
	}
	stones := all[hashOf(session)]
	if _, here, err := s.origin(session); err != nil || !here || len(stones) == 0 {
		return false, err
	}
	life, err := s.life(ctx, session)
	if err != nil {
		return false, err
	}
	if life != "" && slices.ContainsFunc(stones, func(t record.Tombstone) bool { return t.Life == life }) {
		return true, nil
	}
	unknown := life == "" || slices.ContainsFunc(stones, func(t record.Tombstone) bool { return t.Life == "" })
	if had, err := s.remoteHad(session); err != nil || !had || !unknown {
		return false, err
	}
	return false, &ConflictError{Reason: "the remote archive has no file of it any more, and a session of this name was erased; the tombstone does not show whether it was this one"}
}

// remoteHad reports whether the remote archive had anything of a session on the disk.
func (s *Spool) remoteHad(session string) (bool, error) {
	o, _, err := s.origin(session)
	if err != nil {
		return false, err
	}
	done, _, err := s.queue(session)
	return len(done) > 0 || len(o.files) > 0, err
}

// heldHere returns a [*ConflictError] if a session is under a hold on the disk, or if the
// hold can't be read. The process that erased the session can't know of the hold. The
// caller holds the writing lock.
func (s *Spool) heldHere(ctx context.Context, session string) error {
	log, err := record.OpenDir(ctx, s.over(s.local), session)
	var hold record.LegalHold
	if err == nil {
		hold, err = log.Held(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return &ConflictError{Reason: fmt.Sprintf("it was erased in the remote archive, and its hold on this disk can't be read: %v", err)}
	case hold.Held:
		return &ConflictError{Reason: fmt.Sprintf("it was erased in the remote archive, and is %v here: %s", record.ErrHeld, hold.Reason)}
	}
	return nil
}

// life returns the hash of the first line of the manifest on the disk, "" if it is
// not known.
func (s *Spool) life(ctx context.Context, session string) (string, error) {
	data, err := s.readOver(ctx, session+"/"+manifestFile)
	line, _, ok := bytes.Cut(data, []byte("\n"))
	if err != nil || !ok {
		return "", ctx.Err()
	}
	return hashOf(string(line)), nil
}

// maxFirst is the maximum length of a name, and of the first line of a manifest.
const maxFirst = 64 << 10

func (s *Spool) readOver(ctx context.Context, name string) ([]byte, error) {
	r, err := s.over(s.local).Open(ctx, mustKey(name), 0, -1)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(io.LimitReader(r, maxFirst))
	return data, errors.Join(err, r.Close())
}

// unname removes the names of erased sessions from the disk. If the folder of names was
// in conflict because of them, the conflict ends. The name stays if the session is on the
// disk or in the remote archive, or if the name waits to be sent: its session may be
// about to begin.
func (s *Spool) unname(ctx context.Context, stones map[string][]record.Tombstone) error {
	for _, kind := range []lockKind{sending, writing} {
		unlock, err := s.lock(ctx, kind, namesFolder)
		if err != nil {
			return err
		}
		defer unlock()
	}
	_, waiting, err := s.queue(namesFolder)
	if err != nil {
		return err
	}
	for info, err := range s.local.List(ctx, mustKey(namesFolder)) {
		if err != nil {
			return err
		}
		waits := slices.ContainsFunc(waiting, func(o queued) bool { return o.key == info.Key })
		if info.Foreign != "" || waits {
			continue
		}
		if needed, err := s.namesLiving(ctx, info.Key, stones); err != nil {
			return err
		} else if needed {
			continue
		}
		if err := s.removeHere(ctx, info.Key); err != nil {
			return err
		}
	}
	if s.conflict(namesFolder) == nil {
		return nil
	}
	lost, err := s.lost(ctx, namesFolder)
	if err != nil || lost != "" {
		return err
	}
	return os.Remove(s.state(namesFolder, conflictFile))
}

// namesLiving reports whether a file may be the name of a session that was not erased.
func (s *Spool) namesLiving(ctx context.Context, k storage.Key, stones map[string][]record.Tombstone) (bool, error) {
	var name struct {
		Session string `json:"session"`
	}
	file, _, _ := strings.Cut(k.String(), ".json") // below Over it may have an additional suffix
	data, err := s.readOver(ctx, file+".json")
	if err != nil || json.Unmarshal(data, &name) != nil || len(stones[hashOf(name.Session)]) == 0 {
		return true, ctx.Err()
	}
	if _, here, err := s.origin(name.Session); err != nil || here {
		return true, err
	}
	for info, err := range s.remote.List(ctx, mustKey(name.Session)) {
		if err != nil || info.Foreign == "" {
			return true, err
		}
	}
	return s.isThere(ctx, k)
}

func (s *Spool) isThere(ctx context.Context, k storage.Key) (bool, error) {
	for info, err := range s.remote.List(ctx, k) {
		if err != nil || info.Key == k {
			return err == nil, err
		}
	}
	return false, nil
}

// over returns the archive in the form that the caller of the spool sees.
func (s *Spool) over(a storage.Archive) storage.Archive {
	if s.opts.Over == nil {
		return a
	}
	return s.opts.Over(a)
}
