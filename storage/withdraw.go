package storage

import (
	"context"
	"errors"
	"time"
)

// looseFile is a file behind which the manifest was not written.
type looseFile struct {
	sha256 string
	ended  bool // its create has
}

// making remembers a file of this Session that is about to be there.
func (s *Session) making(k Key, b Blob) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loose == nil {
		s.loose = map[Key]looseFile{}
	}
	s.loose[k] = looseFile{sha256: b.SHA256()}
}

// made says how the create of a file ended. Only [ErrExists] says that it is another's;
// after any other error it may be there, or come to be.
func (s *Session) made(k Key, b Blob, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, ErrExists) {
		delete(s.loose, k)
		return
	}
	s.loose[k] = looseFile{b.SHA256(), true}
}

// loosely returns the files behind which the manifest was not written: those whose
// create has ended, or all.
func (s *Session) loosely(all bool) (keys []Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, f := range s.loose {
		if f.ended || all {
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
	gone, now, err := s.gone(ctx)
	if err != nil || !gone {
		return err
	}
	var errs []error
	for _, k := range s.loosely(true) {
		ours, err := s.still(ctx, k, now)
		if ours {
			err = r.Remove(ctx, k)
		}
		if err != nil && !errors.Is(err, ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		s.fasten(k)
	}
	for _, k := range s.ownLogs(ctx) {
		if err := r.Remove(ctx, k); err != nil && !errors.Is(err, ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}

// still reports whether a file is there as this Session made it. Where the session has
// begun anew, with the manifest that is there now, a file that this one announces is not.
func (s *Session) still(ctx context.Context, k Key, now tail) (bool, error) {
	if before, _ := s.manifest.known(); now.first != before.first && now.facts.names.has(k.Base()) {
		return false, nil
	}
	s.mu.Lock()
	want := s.loose[k].sha256
	s.mu.Unlock()
	is, _, err := hashFile(ctx, s.a, k)
	return err == nil && is == want, err
}

// ownLogs returns the logs that this Session began and nobody else wrote to.
func (s *Session) ownLogs(ctx context.Context) (keys []Key) {
	for _, c := range s.logs() {
		mine, loaded := c.known()
		if !loaded || mine.end == 0 || mine.first == "" {
			continue
		}
		begins, err := firstLine(ctx, s.a, c.key)
		if err != nil || begins != mine.first {
			continue
		}
		if t, err := c.refresh(ctx); err == nil && t.end == mine.end && t.head == mine.head {
			keys = append(keys, c.key)
		}
	}
	return keys
}

// gone reports whether somebody's erase of the session is on record. A tombstone from
// before the last line behind which the manifest was seen is of an earlier session of this
// name, and does not say what became of this one. A manifest that begins otherwise is of a later one; now is
// the one that is there.
func (s *Session) gone(ctx context.Context) (yes bool, now tail, err error) {
	last, _ := s.manifest.known()
	now, err = newChain(s.a, s.manifest.key, true).refresh(ctx)
	switch {
	case err != nil || now.facts.erasing:
		return err == nil, now, err
	case last.seq == 0, now.first == last.first:
		return false, now, nil
	}
	yes, err = s.buried(ctx, last.seen)
	return yes, now, err
}

// buried reports whether somebody erased the session, or began to, at a time or later.
func (s *Session) buried(ctx context.Context, since time.Time) (bool, error) {
	for stone, err := range Tombstones(ctx, s.a) {
		if err != nil {
			return false, err
		}
		if stone.Session == tombstoneID(s.dir) && stone.Refused == "" && !stone.At.Before(since) {
			return true, nil
		}
	}
	return false, nil
}
