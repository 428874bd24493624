package spool

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/agentcompact/compact/storage"
)

// state returns the path of a file of DIR/state.
func (s *Spool) state(session string, file ...string) string {
	return filepath.Join(append([]string{s.dir, "state", session}, file...)...)
}

// origin returns the origin of a session, and false if it is not on the disk. A
// session that was treated as new but never written is not on the disk.
func (s *Spool) origin(session string) (origin, bool, error) {
	data, err := os.ReadFile(s.state(session, originFile))
	if errors.Is(err, fs.ErrNotExist) {
		return origin{}, false, nil
	}
	if err != nil {
		return origin{}, false, err
	}
	o, err := parseOrigin(data)
	if err != nil {
		return origin{}, false, fmt.Errorf("%s: %w", s.state(session, originFile), err)
	}
	if o.blind {
		if _, err := os.Stat(s.state(session, queueFile)); errors.Is(err, fs.ErrNotExist) {
			return origin{}, false, nil
		}
	}
	return o, true, nil
}

// take returns the origin of a session that is about to be written, and brings
// the session to the disk if needed. known says that the session exists, so
// that it can't be new. The caller holds the writing lock.
func (s *Spool) take(ctx context.Context, session storage.Key, known bool) (origin, error) {
	o, here, err := s.origin(session.String())
	if err != nil || here {
		return o, err
	}
	found, err := s.ask(ctx, session, known)
	if err != nil {
		if known || !s.isNew(session.String()) || ctx.Err() != nil {
			return origin{}, err
		}
		o.blind = true
	} else if known && len(found) == 0 {
		return origin{}, storage.ErrSeq // the session was erased
	}
	if err := s.unclaimed(ctx, session); err != nil {
		return origin{}, err
	}
	if err := s.clear(ctx, session); err != nil {
		return origin{}, err
	}
	o.files = found
	if err := makeFolder(s.state(session.String())); err != nil {
		return origin{}, err
	}
	if err := s.setSent(session.String(), 0); err != nil { // reserves the space for the record
		return origin{}, err
	}
	return o, replace(s.state(session.String(), originFile), o.bytes())
}

// unclaimed returns an error if operations wait for a session without an
// origin, which must not be cleared.
func (s *Spool) unclaimed(ctx context.Context, session storage.Key) error {
	_, ops, err := s.queue(session.String())
	for i := 0; err == nil && i < len(ops); i++ {
		if _, gone := s.size(ctx, ops[i].key); gone == nil {
			err = fmt.Errorf("%s is missing, and %s waits: flush first: %w", s.state(session.String(), originFile), ops[i].key, storage.ErrDamaged)
		}
	}
	return err
}

// ask returns the remote archive's files of a session. With Blind it makes no
// request soon after a failure, unless the answer matters.
func (s *Spool) ask(ctx context.Context, session storage.Key, matters bool) ([]storage.Info, error) {
	if err := s.down(); err != nil && s.opts.Blind && !matters {
		return nil, err
	}
	probe, cancel := context.WithTimeout(ctx, probeTimeout)
	defer cancel()
	var found []storage.Info
	for info, err := range s.remote.List(probe, session) {
		if err != nil {
			if ctx.Err() == nil {
				s.asked(err)
			}
			return nil, err
		}
		if info.Foreign == "" {
			found = append(found, info)
		}
	}
	s.asked(nil)
	if dir := session.Dir(); len(found) > 0 || dir == session.String() {
		s.seen(dir, len(found) > 0)
	}
	return found, nil
}

// bring copies a log from the remote archive to the disk for appends. The
// caller holds the writing lock.
func (s *Spool) bring(ctx context.Context, o origin, k storage.Key) error {
	b, err := stored(ctx, s.remote, k, 0, -1)
	if err != nil {
		return err
	}
	if err := s.local.Remove(ctx, k); err != nil { // rest of an interrupted copy
		return err
	}
	if err := s.local.Append(ctx, k, 0, b); err != nil {
		return err
	}
	// This tells the sender, also of another process, how many bytes the remote archive already has.
	if err := appendLine(s.state(k.Dir(), queueFile), op{key: k, log: true, had: true, end: b.Size()}.String()); err != nil {
		return err
	}
	s.know(k, b.Size())
	return replace(s.state(k.Dir(), originFile), o.without(k).bytes())
}

// clear removes the rest of an interrupted copy or removal of a session that is
// not on the disk.
func (s *Spool) clear(ctx context.Context, session storage.Key) error {
	for info, err := range s.local.List(ctx, session) {
		if err != nil {
			return err
		}
		if info.Foreign != "" {
			continue
		}
		if err := s.local.Remove(ctx, info.Key); err != nil {
			return err
		}
		s.forget(info.Key)
	}
	return os.RemoveAll(s.state(session.String()))
}

// know records the size of a log in the remote archive.
func (s *Spool) know(k storage.Key, size int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.there[k] = size
}

func (s *Spool) forget(k storage.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.there, k)
}

func (s *Spool) known(k storage.Key) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n, ok := s.there[k]
	return n, ok
}

// conflict returns the conflict of a session, nil if there is none.
func (s *Spool) conflict(session string) error {
	data, err := os.ReadFile(s.state(session, conflictFile))
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return &ConflictError{Session: session, Reason: string(data), Path: s.local.Location(mustKey(session))}
}

// mustKey returns the key of a session's folder, for a name that came from a key.
func mustKey(session string) storage.Key {
	k, err := storage.ParseKey(session)
	if err != nil {
		return storage.Key{}
	}
	return k
}
