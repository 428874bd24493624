package compact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"io"
	"iter"
	"path"
	"slices"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// maxLives limits how many names of a session are tried.
const maxLives = 100

// afterErasure returns the session in which an agent continues after its session was
// erased. Under "storage.erased: refuse" that session stores nothing. Under "new" it
// is another session in its own folder, the same in every process. An erase that is not
// complete, and may have been interrupted, counts from its tombstone on. If the tombstones
// can't be read, afterErasure returns the error, because this process could otherwise
// choose another folder than the other processes; perhapsErased has the exceptions.
func (m *CompactManager) afterErasure(ctx context.Context, is sessionNames, s *session) (*session, error) {
	id := is.name.String()
	folder, before := id, is.old.String()
	for range maxLives {
		if s.log.ManifestHead() != "" && !s.log.Erasing() {
			break // the session exists
		}
		heads, err := m.graves.Heads(ctx, folder)
		if err == nil && len(heads) == 0 && before != folder {
			heads, err = m.graves.Heads(ctx, before)
		}
		switch {
		case ctx.Err() != nil:
			return nil, ctx.Err()
		case err != nil:
			return m.perhapsErased(ctx, id, s, err)
		case len(heads) == 0:
			return s, nil
		case m.cfg.Storage.Erased != "new":
			m.log().Error("compact: the session was erased, and nothing of it is stored again (storage.erased: refuse)", "session", id)
			return openErased(ctx, m.archive, id, m.keys)
		}
		if folder, s, err = m.openNext(ctx, id, heads); err != nil {
			return nil, err
		}
		before, s.id = folder, id
	}
	return s, nil
}

// openNext opens the session in which an erased session continues, and returns the name of
// its folder. An erase that was repeated has several heads, and a process can have
// continued after any of them. So openNext uses the first head whose folder is or was in
// use. If there is none, it uses the first head, as every other process does.
func (m *CompactManager) openNext(ctx context.Context, id string, heads []string) (folder string, s *session, err error) {
	for _, head := range heads {
		name := nextLife(id, head)
		next, err := openToGoOn(ctx, m.archive, name, m.keys)
		if err != nil && (next == nil || !next.log.Erasing()) {
			return "", nil, err
		}
		if s == nil {
			folder, s = name, next
		}
		if used, err := m.isUsed(ctx, name, next); err != nil || used || len(heads) == 1 {
			return name, next, err
		}
	}
	return folder, s, nil
}

// isUsed reports whether a folder has a session, or had one that was erased.
func (m *CompactManager) isUsed(ctx context.Context, folder string, s *session) (bool, error) {
	if s.log.ManifestHead() != "" {
		return true, nil
	}
	erased, err := m.graves.Heads(ctx, folder)
	return len(erased) > 0, err
}

// perhapsErased does the work of afterErasure for a session that may or may not be
// erased; err is the reason for the doubt. A damaged tombstone stays damaged, so the
// session counts as erased under "storage.erased: refuse", and as not erased under "new".
// Under "new" it also counts as not erased if a spool can't reach its remote archive, or
// if this process can't decrypt anything. After any other error the next call tries
// again.
func (m *CompactManager) perhapsErased(ctx context.Context, id string, s *session, err error) (*session, error) {
	why := m.redactor.Text(err.Error()).String()
	goesOn, damaged := m.cfg.Storage.Erased == "new", errors.Is(err, storage.ErrDamaged)
	lasts := damaged || errors.Is(err, storage.ErrUnreachable) || errors.Is(err, storage.ErrNoIdentity)
	switch {
	case goesOn && lasts:
		m.log().Warn("compact: it is unknown whether a session was erased", "session", id, "error", why)
		return s, nil
	case damaged:
		m.log().Error("compact: it is unknown whether a session was erased, so nothing of it is stored (storage.erased: refuse)", "session", id, "error", why)
		return openErased(ctx, m.archive, id, m.keys)
	}
	return nil, err
}

// nextLife returns the name of the folder in which a session continues after an erase with
// this head.
func nextLife(id, head string) string {
	const digits = 12 // enough to avoid a collision
	return id + ".after-" + head[:min(digits, len(head))]
}

// Lives returns the names under which the archive now has the session with this id. It
// tries the names in before, the id itself, and the names under which the session
// continued after an erasure (the id with ".after-" and a hash). An agent continues
// under the first name. The list is empty if the whole session was erased.
func Lives(ctx context.Context, a storage.Archive, id string, before ...string) ([]string, error) {
	names, _, err := livesOf(ctx, a, id, before)
	return names, err
}

// Unended returns the names of [Lives] under which the session has no files left, but
// its erase is not complete. [record.Session.Erase] completes it.
func Unended(ctx context.Context, a storage.Archive, id string, before ...string) ([]string, error) {
	_, unended, err := livesOf(ctx, a, id, before)
	return unended, err
}

// livesOf returns the names for [Lives] and for [Unended].
func livesOf(ctx context.Context, a storage.Archive, id string, before []string) (names, unended []string, err error) {
	graves := map[string][]record.Tombstone{}
	for t, err := range record.Tombstones(ctx, a) {
		if err != nil {
			return nil, nil, err
		}
		if t.Refused == "" {
			graves[t.Session] = append(graves[t.Session], t)
		}
	}
	all := append(slices.Clone(before), id)
	for i := 0; i < len(all); i++ {
		s, err := record.OpenSession(ctx, a, all[i])
		if err != nil {
			return nil, nil, err
		}
		there := false
		for _, err := range s.Files(ctx) {
			if err != nil {
				return nil, nil, err
			}
			there = true
			break
		}
		hash := sha256.Sum256([]byte(record.EscapeSession(all[i])))
		stones := graves[hex.EncodeToString(hash[:])]
		switch n := len(stones); {
		case there:
			names = append(names, all[i])
		case n > 0 && !stones[n-1].Done && !stones[n-1].Damaged:
			unended = append(unended, all[i])
		}
		for _, t := range stones {
			if next := nextLife(id, t.Head); !slices.Contains(all, next) {
				all = append(all, next)
			}
		}
	}
	return names, unended, nil
}

func openErased(ctx context.Context, a storage.Archive, id string, keys *keyring) (*session, error) {
	s, err := openSession(ctx, &erasedArchive{a}, id, keys)
	if err == nil {
		s.erased = true
	}
	return s, err
}

// erasedArchive is the archive of an erased session: it holds nothing and stores
// nothing. It drops lines of the audit log and the journal silently. Other writes
// fail, because text must not be removed without being stored.
type erasedArchive struct{ storage.Archive }

func erased(op string, k storage.Key) error {
	return &storage.Error{Op: op, Key: k, Err: record.ErrErased}
}

// Create implements [storage.Archive].
func (a *erasedArchive) Create(_ context.Context, k storage.Key, _ storage.Blob) error {
	return erased("create", k)
}

// Append implements [storage.Archive].
func (a *erasedArchive) Append(ctx context.Context, k storage.Key, _ int64, _ storage.Blob) error {
	switch path.Base(k.String()) {
	case "events.jsonl", "journal.jsonl":
		return storage.Begin(ctx, "append", k)
	}
	return erased("append", k)
}

// Open implements [storage.Archive].
func (a *erasedArchive) Open(_ context.Context, k storage.Key, _, _ int64) (io.ReadCloser, error) {
	return nil, &storage.Error{Op: "open", Key: k, Err: storage.ErrNotExist}
}

// List implements [storage.Archive].
func (a *erasedArchive) List(context.Context, storage.Key) iter.Seq2[storage.Info, error] {
	return func(func(storage.Info, error) bool) {}
}

// Location implements [storage.Locator].
func (a *erasedArchive) Location(k storage.Key) string {
	if l, ok := a.Archive.(storage.Locator); ok {
		return l.Location(k)
	}
	return k.String()
}
