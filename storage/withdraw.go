package storage

import (
	"context"
	"errors"
)

// making remembers a file of this Session that is about to be there.
func (s *Session) making(k Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loose == nil {
		s.loose = map[Key]bool{}
	}
	s.loose[k] = false
}

// made says how the create of a file ended. Only [ErrExists] says that it is another's.
func (s *Session) made(k Key, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, ErrExists) {
		delete(s.loose, k)
		return
	}
	s.loose[k] = true
}

// loosely returns the files behind which the manifest was not written: those whose
// create has ended, or all.
func (s *Session) loosely(all bool) (keys []Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, ended := range s.loose {
		if ended || all {
			keys = append(keys, k)
		}
	}
	return keys
}

// fasten forgets files: the manifest was written behind them, and was not being
// erased, so that who erases from then on lists them; or they are gone.
func (s *Session) fasten(keys ...Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		delete(s.loose, k)
	}
}

// withdraw removes what this Session has put into a session that was erased meanwhile.
// A create that began before the erase may end after it (a connection that stalls, a
// process that was suspended): who erases cannot see such a file, and nobody would ever
// remove it. It does nothing unless the erase is on record, in the manifest or as a
// tombstone, so that a manifest that vanished in another way costs no file.
func (s *Session) withdraw(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
	defer cancel()
	r, ok := s.a.(Remover)
	if !ok {
		return nil
	}
	if gone, err := s.gone(ctx); err != nil || !gone {
		return err
	}
	var errs []error
	for _, k := range append(s.loosely(true), s.ownLogs(ctx)...) {
		err := r.Remove(ctx, k)
		if err == nil || errors.Is(err, ErrNotExist) {
			s.fasten(k)
			continue
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// ownLogs returns the logs that this Session began and nobody else wrote to.
func (s *Session) ownLogs(ctx context.Context) (keys []Key) {
	for _, c := range s.logs() {
		mine, loaded := c.known()
		if !loaded || mine.end == 0 || mine.first == "" {
			continue
		}
		if t, err := c.refresh(ctx); err == nil && t.end == mine.end && t.head == mine.head {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// gone reports whether somebody's erase of the session is on record. A tombstone from
// before the last line that is known is of an earlier session of this name, and does not
// say what became of this one. A manifest that begins otherwise is of a later one.
func (s *Session) gone(ctx context.Context) (bool, error) {
	last, _ := s.manifest.known()
	t, err := newChain(s.a, s.manifest.key, true).refresh(ctx)
	switch {
	case err != nil:
		return false, err
	case t.facts.erasing:
		return true, nil
	case last.seq == 0, t.first == last.first:
		return false, nil
	}
	for stone, err := range Tombstones(ctx, s.a) {
		if err != nil {
			return false, err
		}
		if stone.Session == tombstoneID(s.dir) && stone.Refused == "" && !stone.At.Before(last.facts.last) {
			return true, nil
		}
	}
	return false, nil
}
