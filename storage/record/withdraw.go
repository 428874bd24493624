package record

import (
	"context"
	"errors"
	"io"
	"time"

	"github.com/agentcompact/compact/storage"
)

// looseFile is a file that this Session created, and that no later line of the manifest
// follows yet.
type looseFile struct {
	sha256 string
	ended  bool // its create has returned
	sure   bool // its create returned without an error, so the file will not appear later
}

// making records a file that this Session is about to create.
func (s *Session) making(k storage.Key, b storage.Blob) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.loose == nil {
		s.loose = map[storage.Key]looseFile{}
	}
	s.loose[k] = looseFile{sha256: b.SHA256()}
}

// made records the result of a create. Only [storage.ErrExists] proves that the file
// belongs to another process; after any other error the file may exist, or appear later.
func (s *Session) made(k storage.Key, b storage.Blob, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if errors.Is(err, storage.ErrExists) {
		delete(s.loose, k)
		return
	}
	s.loose[k] = looseFile{b.SHA256(), true, err == nil}
}

// beginLog stores the first bytes of a log. Until a line of the manifest follows, the log
// is a loose file.
func (s *Session) beginLog(ctx context.Context, k storage.Key, b storage.Blob) error {
	s.making(k, b)
	err := s.a.Append(ctx, k, 0, b)
	s.made(k, b, err)
	if errors.Is(err, storage.ErrSeq) { // the log of another process
		s.fasten(k)
	}
	return err
}

// loosely returns the keys of the loose files: all keys, or only the keys of files
// whose create has returned.
func (s *Session) loosely(all bool) (keys []storage.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for k, f := range s.loose {
		if f.ended || all {
			keys = append(keys, k)
		}
	}
	return keys
}

// looseAt returns a loose file, or the zero value.
func (s *Session) looseAt(k storage.Key) looseFile {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.loose[k]
}

// fasten ends the loose state of files. Either they are gone, or a line of the manifest
// follows them and no erase was running, so that a later erase lists them.
func (s *Session) fasten(keys ...storage.Key) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, k := range keys {
		delete(s.loose, k)
	}
}

// withdraw removes the files that this Session wrote into a session that was erased in
// the meantime. A create that began before the erase may end after it (a connection that
// stalls, a process that was suspended). The erase cannot see such a file, and no other
// process would remove it. withdraw does nothing unless the erase is recorded, in the
// manifest or as a tombstone. So no file is lost if the manifest vanished in another way.
//
// It reports whether the session was erased.
func (s *Session) withdraw(ctx context.Context) (gone bool, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), confirmTimeout)
	defer cancel()
	r, ok := s.a.(storage.Remover)
	if !ok {
		return false, nil
	}
	gone, now, err := s.gone(ctx)
	if err != nil || !gone {
		return false, err
	}
	var errs []error
	keys := s.loosely(true)
	if now.seq > 0 && now.first == "" {
		// The manifest is only the end of a manifest: a line that this Session appended after
		// the erase, before the archive removed the line again ([storage.Deferrer]). It is
		// not known yet which session announces the files; a later call removes them.
		keys = nil
	}
	for _, k := range keys {
		f := s.looseAt(k)
		ours, err := s.still(ctx, k, f.sha256, now)
		if ours {
			err = r.Remove(ctx, k)
		}
		if err != nil && !errors.Is(err, storage.ErrNotExist) {
			errs = append(errs, err)
			continue
		}
		if f.sure { // otherwise the file may still appear, and a later call removes it
			s.fasten(k)
		}
	}
	for _, k := range s.ownLogs(ctx) {
		if err := r.Remove(ctx, k); err != nil && !errors.Is(err, storage.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return true, errors.Join(errs...)
}

// still reports whether a file with the hash of the file that this Session wrote exists. If
// the session began again, and the new manifest announces a file with this hash, the file
// belongs to the new session, and still returns false. If the new manifest announces the file
// with another hash, the old file only blocks a create of the new session, and that create
// then uses another name.
func (s *Session) still(ctx context.Context, k storage.Key, sha256 string, now tail) (bool, error) {
	if before, _ := s.manifest.known(); now.first != before.first && now.facts.names.announces(k.Base(), sha256) {
		return false, nil
	}
	is, _, err := hashFile(ctx, s.a, k)
	return err == nil && is == sha256, err
}

// ownLogs returns the logs that this Session began and to which no other writer has
// appended.
func (s *Session) ownLogs(ctx context.Context) (keys []storage.Key) {
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

// gone reports whether an erase of the session is recorded. It ignores tombstones of
// other sessions of the same name. These are tombstones with another life, and tombstones
// without a life (version 0.1.0) that are older than the last line after which the
// manifest was checked to exist. A manifest with another first line belongs to a later
// session. For a Session without a manifest, an erase counts if it began after the
// Session was opened. now is the manifest as it is stored now.
func (s *Session) gone(ctx context.Context) (yes bool, now tail, err error) {
	last, _ := s.manifest.known()
	now, err = newChain(s.a, s.manifest.key, true).refresh(ctx)
	switch {
	case err != nil || now.facts.erasing:
		return err == nil, now, err
	case now.first == last.first && last.seq > 0:
		return false, now, nil
	case last.seq == 0: // nothing was stored when it was opened, and it has written nothing since
		yes, err = s.buriedUnborn(ctx)
		return yes, now, err
	}
	yes, err = s.buried(ctx, last.first, last.seen)
	return yes, now, err
}

// orErased returns ErrErased instead of an error that a concurrent erase can cause.
// Other errors stay.
func (s *Session) orErased(ctx context.Context, op string, err error) error {
	for _, cause := range []error{storage.ErrChanged, storage.ErrNotExist, storage.ErrDamaged, io.ErrUnexpectedEOF} {
		if errors.Is(err, cause) && s.isErased(ctx) {
			return &storage.Error{Op: op, Key: s.dir, Err: ErrErased}
		}
	}
	return err
}

// isErased reports whether the session was erased, before or after it was opened, and
// has not begun again.
func (s *Session) isErased(ctx context.Context) bool {
	gone, now, err := s.gone(ctx)
	if gone || err != nil || now.seq > 0 {
		return gone
	}
	gone, err = s.buried(ctx, "", time.Time{})
	return gone && err == nil
}

// unborn is the tolerated difference of clocks in the search for the erase of a session
// that had no manifest when it was opened. The life of such a session is unknown, so only
// the times show whether the erase came later.
const unborn = time.Hour

// buriedUnborn reports whether the session was erased since it was opened, if it had no
// manifest then.
func (s *Session) buriedUnborn(ctx context.Context) (bool, error) {
	return s.buried(ctx, "", s.opened.Add(-unborn))
}

// buried reports whether an erase of the session with this life is recorded. If this life
// or that of a tombstone is unknown, an erase counts if it did not begin before since.
// Its time comes from the clock of another process. An erase in the same millisecond
// counts as well, because the time in a tombstone has only milliseconds.
func (s *Session) buried(ctx context.Context, life string, since time.Time) (bool, error) {
	since = since.Truncate(time.Millisecond)
	for stone, err := range Tombstones(ctx, s.a) {
		if errors.Is(err, storage.ErrNoIdentity) {
			return false, nil // a process that can't decrypt continues as if nothing was erased
		}
		if err != nil {
			return false, err
		}
		if stone.Session != tombstoneID(s.dir) || stone.Refused != "" {
			continue
		}
		known := life != "" && stone.Life != ""
		if stone.Damaged || known && stone.Life == life || !known && !stone.At.Before(since) {
			return true, nil
		}
	}
	return false, nil
}
