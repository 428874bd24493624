package spool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/agentcompact/compact/storage"
)

// Create implements [storage.Archive]. The file is durable on the disk when it
// returns.
func (s *Spool) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if err := storage.Begin(ctx, "create", k); err != nil {
		return err
	}
	if belongsToNoSession(k) {
		return s.remote.Create(ctx, k, b)
	}
	return storage.Wrap("create", k, s.write(ctx, op{key: k}, func(o origin) error {
		_, err := s.size(ctx, k)
		switch {
		case err == nil || o.has(k):
			return storage.ErrExists
		case !errors.Is(err, storage.ErrNotExist):
			return err
		}
		return nil
	}, func() error { return s.local.Create(ctx, k, b) }))
}

// Append implements [storage.Archive]. The data is durable on the disk when it
// returns.
func (s *Spool) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if err := storage.Begin(ctx, "append", k); err != nil {
		return err
	}
	if belongsToNoSession(k) {
		return s.remote.Append(ctx, k, seq, b)
	}
	return storage.Wrap("append", k, s.write(ctx, op{key: k, log: true, start: seq, end: seq + b.Size()}, func(o origin) error {
		if o.has(k) {
			if err := s.bring(ctx, o, k); err != nil {
				return err
			}
		}
		size, err := s.size(ctx, k)
		if err != nil && !errors.Is(err, storage.ErrNotExist) {
			return err
		}
		if size != seq {
			return storage.ErrSeq
		}
		return nil
	}, func() error { return s.local.Append(ctx, k, seq, b) }))
}

// write does one operation on the disk, if may allows it. Its line in the queue is
// written first, so that a crash leaves no data without a line.
func (s *Spool) write(ctx context.Context, o op, may func(origin) error, do func() error) error {
	s.mu.Lock()
	closed := s.closed
	s.mu.Unlock()
	if closed {
		return ErrClosed
	}
	session := o.key.Dir()
	unlock, err := s.lock(ctx, writing, session)
	if err != nil {
		return err
	}
	defer unlock()
	defer s.touched(session)
	err = s.writeOnce(ctx, o, may, do)
	if errors.Is(err, errNoSpace) && s.evict(ctx, 0) == nil { // sent sessions make room
		err = s.writeOnce(ctx, o, may, do)
	}
	return err
}

func (s *Spool) writeOnce(ctx context.Context, o op, may func(origin) error, do func() error) error {
	session := o.key.Dir()
	from, err := s.take(ctx, mustKey(session), o.start > 0)
	if err != nil {
		return err
	}
	if err := s.conflict(session); err != nil {
		return err
	}
	if err := may(from); err != nil {
		return err
	}
	if err := appendLine(s.state(session, queueFile), o.String()); err != nil {
		return fmt.Errorf("the spool cannot be written: %w", err)
	}
	return do()
}

// size returns the size of a key on the disk.
func (s *Spool) size(ctx context.Context, k storage.Key) (int64, error) {
	for info, err := range s.local.List(ctx, k) {
		if err != nil {
			return 0, err
		}
		if info.Key == k {
			return info.Size, nil
		}
	}
	return 0, storage.ErrNotExist
}

// Remove implements [storage.Remover] if the remote archive does. It removes k from
// both archives, and does not send k's waiting operations.
func (s *Spool) Remove(ctx context.Context, k storage.Key) error {
	if err := storage.Begin(ctx, "remove", k); err != nil {
		return err
	}
	remover, ok := s.remote.(storage.Remover)
	if !ok {
		return storage.Wrap("remove", k, storage.ErrUnsupported)
	}
	if belongsToNoSession(k) {
		return remover.Remove(ctx, k)
	}
	return storage.Wrap("remove", k, s.remove(ctx, k, remover))
}

func (s *Spool) remove(ctx context.Context, k storage.Key, remover storage.Remover) error {
	for _, kind := range []lockKind{sending, writing} {
		unlock, err := s.lock(ctx, kind, k.Dir())
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := s.noteRemoval(k.Dir(), k); err != nil {
		return err
	}
	if err := remover.Remove(ctx, k); err != nil {
		return err
	}
	return s.removeHere(ctx, k)
}

// noteRemoval records in the queue that logs of a session are about to be removed, which
// a scrub does before it writes them again. Without this record, the sender would report
// the bytes that it sent before as missing. The caller holds both locks.
func (s *Spool) noteRemoval(session string, keys ...storage.Key) error {
	done, waiting, err := s.queue(session)
	if err != nil {
		return err
	}
	sent := map[storage.Key]bool{}
	for _, o := range append(done, waiting...) {
		if o.log {
			sent[o.key] = !o.removal()
		}
	}
	for _, k := range keys {
		if !sent[k] {
			continue
		}
		if err := appendLine(s.state(session, queueFile), op{key: k, log: true}.String()); err != nil {
			return fmt.Errorf("the spool cannot be written: %w", err)
		}
		s.touched(session)
	}
	return nil
}

// RemoveAll implements [storage.BulkRemover], with bulk removal in the remote archive if
// that supports it.
func (s *Spool) RemoveAll(ctx context.Context, keys []storage.Key) error {
	bulk, ok := s.remote.(storage.BulkRemover)
	sessions := map[string][]storage.Key{}
	for _, k := range keys {
		if ok && !belongsToNoSession(k) {
			sessions[k.Dir()] = append(sessions[k.Dir()], k)
			continue
		}
		if err := s.Remove(ctx, k); err != nil {
			return err
		}
	}
	for dir, keys := range sessions {
		if err := storage.Wrap("remove", keys[0], s.removeAll(ctx, dir, keys, func(ctx context.Context) error { return bulk.RemoveAll(ctx, keys) })); err != nil {
			return err
		}
	}
	return nil
}

// RemoveAllBut implements [storage.EndRemover] if the remote archive does. The log stays
// complete on the disk. Its waiting lines are sent first, because the last one says why the
// files are missing.
func (s *Spool) RemoveAllBut(ctx context.Context, keys []storage.Key, log storage.Key) error {
	remote, ok := s.remote.(storage.EndRemover)
	if !ok {
		return storage.Wrap("remove", log, storage.ErrUnsupported)
	}
	var here []storage.Key
	for _, k := range keys {
		if k.Dir() == log.Dir() {
			here = append(here, k)
		} else if err := s.Remove(ctx, k); err != nil {
			return err
		}
	}
	return storage.Wrap("remove", log, s.removeAll(ctx, log.Dir(), here, func(ctx context.Context) error {
		if err := s.sendEnd(ctx, log); err != nil {
			return err
		}
		return remote.RemoveAllBut(ctx, here, log)
	}))
}

// sendEnd sends the waiting lines of a log whose folder is about to be removed, unless the
// remote archive has nothing of the log, or only lines that a removal has left. The caller
// holds both locks.
func (s *Spool) sendEnd(ctx context.Context, log storage.Key) error {
	size, err := s.size(ctx, log)
	if errors.Is(err, storage.ErrNotExist) {
		return nil // everything was sent
	}
	if err != nil {
		return err
	}
	s.forget(log) // the end is compared, so that no file of another session is removed
	have, err := s.reached(ctx, log)
	if conflict := new(ConflictError); errors.As(err, &conflict) {
		if rest, rerr := s.isRest(ctx, log); rest || rerr != nil {
			return rerr
		}
	}
	if err != nil || have == 0 || have >= size {
		return err
	}
	b, err := stored(ctx, s.local, log, have, size-have)
	if err != nil {
		return err
	}
	return s.remote.Append(ctx, log, have, b)
}

// isRest reports whether the remote archive has some lines of a log on the disk, and
// nothing else of it.
func (s *Spool) isRest(ctx context.Context, log storage.Key) (bool, error) {
	whole, err := s.allOf(ctx, s.local, log)
	if err != nil {
		return false, err
	}
	rest, err := s.allOf(ctx, s.remote, log)
	if err != nil {
		return false, err
	}
	mine := map[string]bool{}
	for line := range strings.Lines(whole) {
		mine[line] = true
	}
	for line := range strings.Lines(rest) {
		if !mine[line] {
			return false, nil
		}
	}
	return true, nil
}

func (s *Spool) allOf(ctx context.Context, a storage.Archive, k storage.Key) (string, error) {
	r, err := a.Open(ctx, k, 0, -1)
	if err != nil {
		return "", err
	}
	data, err := io.ReadAll(r)
	return string(data), errors.Join(err, r.Close())
}

// RemoveEnd implements [storage.EndRemover] if the remote archive does.
func (s *Spool) RemoveEnd(ctx context.Context, log storage.Key) (others bool, err error) {
	remote, ok := s.remote.(storage.EndRemover)
	if !ok {
		return false, storage.Wrap("remove", log, storage.ErrUnsupported)
	}
	err = s.removeAll(ctx, log.Dir(), []storage.Key{log}, func(ctx context.Context) error {
		others, err = remote.RemoveEnd(ctx, log)
		if err == nil && others {
			err = errOthers
		}
		return err
	})
	if others {
		err = nil
	}
	return others, storage.Wrap("remove", log, err)
}

var errOthers = errors.New("other files are left")

// removeAll removes keys of one session. The function bulk removes them from the remote
// archive.
func (s *Spool) removeAll(ctx context.Context, dir string, keys []storage.Key, bulk func(context.Context) error) error {
	for _, kind := range []lockKind{sending, writing} {
		unlock, err := s.lock(ctx, kind, dir)
		if err != nil {
			return err
		}
		defer unlock()
	}
	if err := s.noteRemoval(dir, keys...); err != nil {
		return err
	}
	if err := bulk(ctx); err != nil {
		return err
	}
	for _, k := range keys {
		if err := s.removeHere(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// removeHere removes from the disk a key that was removed from the remote archive. The
// caller holds both locks.
func (s *Spool) removeHere(ctx context.Context, k storage.Key) error {
	session := mustKey(k.Dir())
	o, here, err := s.origin(session.String())
	if err != nil || !here {
		return err
	}
	if err := s.local.Remove(ctx, k); err != nil {
		return err
	}
	s.forget(k)
	if o.has(k) {
		o = o.without(k)
		if err := replace(s.state(session.String(), originFile), o.bytes()); err != nil {
			return err
		}
	}
	return s.dropEmpty(ctx, session, o)
}

// dropEmpty clears a session without files.
func (s *Spool) dropEmpty(ctx context.Context, session storage.Key, o origin) error {
	if len(o.files) > 0 {
		return nil
	}
	for _, err := range s.local.List(ctx, session) {
		return err // not empty
	}
	s.seen(session.String(), false)
	return s.clear(ctx, session)
}

// Sweep implements [storage.Sweeper]. It removes the remaining files of a removed
// session from the disk, and its waiting operations. It does so even if a crash has
// left the session without an origin. It sweeps the remote archive if that supports it.
func (s *Spool) Sweep(ctx context.Context, session storage.Key) (left []string, err error) {
	if err := storage.Begin(ctx, "sweep", session); err != nil {
		return nil, err
	}
	for _, kind := range []lockKind{sending, writing} {
		unlock, err := s.lock(ctx, kind, session.Dir())
		if err != nil {
			return nil, storage.Wrap("sweep", session, err)
		}
		defer unlock()
	}
	s.seen(session.String(), false)
	if err := s.clear(ctx, session); err != nil {
		return nil, storage.Wrap("sweep", session, err)
	}
	left, err = s.local.Sweep(ctx, session)
	if far, ok := s.remote.(storage.Sweeper); ok {
		more, farErr := far.Sweep(ctx, session)
		left, err = append(left, more...), errors.Join(err, farErr)
	}
	return left, err
}

// KeptAny implements [storage.BulkKeeper], with one call if the remote archive supports
// that.
func (s *Spool) KeptAny(ctx context.Context, keys []storage.Key) error {
	if bulk, ok := s.remote.(storage.BulkKeeper); ok {
		return bulk.KeptAny(ctx, keys)
	}
	for _, k := range keys {
		if err := s.Kept(ctx, k); err != nil {
			return err
		}
	}
	return nil
}

// Free implements [storage.FreeKeeper] if the remote archive does.
func (s *Spool) Free(ctx context.Context) bool {
	keeper, ok := s.remote.(storage.FreeKeeper)
	return ok && keeper.Free(ctx)
}

// Unlike implements [storage.Repeater] if the remote archive does.
func (s *Spool) Unlike(ctx context.Context, k storage.Key) ([]string, error) {
	if r, ok := s.remote.(storage.Repeater); ok {
		return r.Unlike(ctx, k)
	}
	return nil, nil
}

// Kept implements [storage.Keeper] if the remote archive does.
func (s *Spool) Kept(ctx context.Context, k storage.Key) error {
	if err := storage.Begin(ctx, "look for a lock", k); err != nil {
		return err
	}
	if keeper, ok := s.remote.(storage.Keeper); ok {
		return keeper.Kept(ctx, k)
	}
	return nil
}

// Tidy implements [storage.Tidier], for the disk, and for the remote archive if it
// does.
func (s *Spool) Tidy(ctx context.Context) (left []string, err error) {
	left, err = s.local.Tidy(ctx)
	if far, ok := s.remote.(storage.Tidier); ok {
		more, farErr := far.Tidy(ctx)
		left, err = append(left, more...), errors.Join(err, farErr)
	}
	return left, err
}
