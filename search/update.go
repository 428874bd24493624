package search

import (
	"cmp"
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// Updated is the outcome of [Index.Update].
type Updated struct {
	Sessions int `json:"sessions"` // in the archive
	Put      int `json:"put"`      // sessions that were new or had changed
	Gone     int `json:"gone"`     // sessions that the archive no longer has
}

// Update adds new and changed sessions of the archive to the index, and removes
// sessions that the archive no longer has. progress, if not nil, gets the number
// of changed sessions that are done. Parts of a session that can't be read are
// left out, and every search names that session.
func (x *Index) Update(ctx context.Context, progress func(done, total int)) (u Updated, err error) {
	known, err := x.known(ctx)
	if err != nil {
		return u, fmt.Errorf("search: %w", err)
	}
	there, err := x.there(ctx, known)
	if err != nil {
		return u, fmt.Errorf("search: %w", err)
	}
	u.Sessions = len(there)
	var gone []string
	for dir := range known {
		if _, ok := there[dir]; !ok {
			gone = append(gone, dir)
		}
	}
	if u.Gone = len(gone); u.Gone > 0 {
		if err := x.Forget(ctx, gone...); err != nil {
			return u, err
		}
	}
	changed := changedOf(there, known)
	for _, l := range changed {
		if known[l.dir].files != l.files {
			u.Put++
		}
	}
	if err := x.putAll(ctx, changed, known, progress); err != nil {
		return u, fmt.Errorf("search: %w", err)
	}
	return u, x.clean(ctx)
}

// row is a session in the index.
type row struct {
	stamp, files string   // values at the time of indexing
	logs         []string // logs with text at the time of indexing
}

// known returns the sessions of the index. The query returns them as one value,
// because ten thousand rows would cost more than a search.
func (x *Index) known(ctx context.Context) (map[string]row, error) {
	var list string
	err := x.db.QueryRowContext(ctx, `SELECT coalesce(group_concat(dir || ' ' || stamp || ' ' || files || ' ' || logs, char(10)), '') FROM session`).Scan(&list)
	if err != nil {
		return nil, err
	}
	all := make(map[string]row, strings.Count(list, "\n")+1)
	for line := range strings.Lines(list) {
		dir, rest, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		stamp, rest, _ := strings.Cut(rest, " ")
		files, logs, _ := strings.Cut(rest, " ")
		r := row{stamp: stamp, files: files}
		if logs != "" {
			r.logs = strings.Split(logs, ",")
		}
		all[dir] = r
	}
	return all, nil
}

// look describes the files of a session without their content.
type look struct {
	dir      string
	stamp    string   // "" = the archive has no cheap stamp for the session
	files    string   // a hash of names, sizes and times; "" = not listed yet
	logs     []string // growing files with text
	modified time.Time
}

// there returns the sessions of the archive. It lists the files of a session only if
// the session's stamp is unknown or differs from the stamp in the index.
func (x *Index) there(ctx context.Context, known map[string]row) (map[string]look, error) {
	g, ok := x.a.(storage.Glancer)
	if !ok {
		return x.listed(ctx, storage.Key{})
	}
	all := map[string]look{}
	logs := func(folder string) []string { return known[folder].logs }
	for f, err := range g.Glance(ctx, logs) {
		if err != nil {
			return nil, err
		}
		if was, ok := known[f.Name]; ok && f.Stamp != "" && f.Stamp == was.stamp {
			all[f.Name] = look{dir: f.Name, stamp: f.Stamp, files: was.files, logs: was.logs}
			continue
		}
		key, err := storage.ParseKey(f.Name)
		if err != nil {
			continue // no archive wrote this folder
		}
		some, err := x.listed(ctx, key)
		if err != nil {
			return nil, err
		}
		for dir, l := range some {
			if slices.Equal(l.logs, known[dir].logs) {
				l.stamp = f.Stamp // otherwise the stamp does not cover the growth of these logs
			}
			all[dir] = l
		}
	}
	return all, nil
}

// listed returns sessions with a hash of their files. Holds, releases and events
// change no text, so the hash does not cover their files.
func (x *Index) listed(ctx context.Context, prefix storage.Key) (map[string]look, error) {
	all := map[string]look{}
	h := map[string]*strings.Builder{}
	for info, err := range x.a.List(ctx, prefix) {
		if err != nil {
			return nil, err
		}
		dir, file, ok := strings.Cut(info.Key.String(), "/")
		if !ok || !record.IsFolder(dir) {
			continue
		}
		l := all[dir]
		if info.Modified.After(l.modified) {
			l.modified = info.Modified
		}
		l.dir = dir
		if isAppended(file) {
			l.logs = append(l.logs, file)
		}
		all[dir] = l
		if h[dir] == nil {
			h[dir] = &strings.Builder{}
		}
		if hasText(file) {
			fmt.Fprintf(h[dir], "%s %d %d\n", file, info.Size, info.Modified.UnixNano())
		}
	}
	for dir, l := range all {
		sum := sha256.Sum256([]byte(h[dir].String()))
		l.files = hex.EncodeToString(sum[:16])
		all[dir] = l
	}
	return all, nil
}

// hasText reports whether a file has text for the index.
func hasText(file string) bool {
	return file != "events.jsonl" && file != "manifest.jsonl"
}

// isAppended reports whether a file with text grows by appends.
func isAppended(file string) bool { return file == "edits.jsonl" || file == "journal.jsonl" }

// changedOf returns the sessions to index, sorted by their last write, because a
// search returns the last indexed sessions first.
func changedOf(there map[string]look, known map[string]row) (out []look) {
	for dir, l := range there {
		if was, ok := known[dir]; !ok || was.files != l.files || was.stamp != l.stamp {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b look) int { return cmp.Or(a.modified.Compare(b.modified), strings.Compare(a.dir, b.dir)) })
	return out
}

// atOnce limits the bytes of text in one transaction. During a transaction no other
// process can search.
const atOnce = 8 << 20

// putAll indexes sessions, several in one transaction.
func (x *Index) putAll(ctx context.Context, all []look, known map[string]row, progress func(done, total int)) error {
	for done := 0; done < len(all); {
		n, err := x.putSome(ctx, all[done:], known)
		if err != nil {
			return err
		}
		if done += n; progress != nil {
			progress(done, len(all))
		}
	}
	return nil
}

// putAttempts limits how often sessions are read again because a session was forgotten
// in the meantime. After that, the next update indexes them.
const putAttempts = 5

// putSome indexes the first sessions, and returns their number. It discards text that
// was read before a session was forgotten: a scrub or an erase can have removed that
// text from the archive.
func (x *Index) putSome(ctx context.Context, all []look, known map[string]row) (n int, err error) {
	for range putAttempts {
		forgotten, err := forgets(ctx, x.db)
		if err != nil {
			return 0, err
		}
		batch, err := x.readSome(ctx, all, known)
		if err != nil {
			return 0, err
		}
		n = len(batch)
		switch err := x.put(ctx, batch, known, forgotten); {
		case errors.Is(err, errForgotten):
			continue
		case err != nil:
			return 0, err
		}
		return n, nil
	}
	return n, nil
}

// readSome reads the first sessions, as many as go into one transaction.
func (x *Index) readSome(ctx context.Context, all []look, known map[string]row) (batch []*session, err error) {
	for size := 0; len(batch) < len(all) && size < atOnce && len(batch) < 500; {
		l := all[len(batch)]
		s := &session{look: l, same: known[l.dir].files == l.files}
		if !s.same {
			if err := s.read(ctx, x.a); err != nil {
				return nil, err
			}
		}
		size += s.size
		batch = append(batch, s)
	}
	return batch, nil
}

// errForgotten means that a session was forgotten after the batch was read.
var errForgotten = errors.New("removed from the index in the meantime")

// put replaces sessions in the index, and removes sessions that were erased in the
// meantime. forgotten is the number of forgets before the batch was read. If it has
// changed, put returns [errForgotten].
func (x *Index) put(ctx context.Context, batch []*session, known map[string]row, forgotten int64) error {
	err := x.write(ctx, func(tx *sql.Tx) error {
		w, err := newWriter(ctx, tx)
		if err != nil {
			return err
		}
		switch now, err := forgets(ctx, tx); {
		case err != nil:
			return err
		case now != forgotten:
			return errForgotten
		}
		for _, s := range batch {
			if err := w.session(ctx, s, known[s.dir].files); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	var gone []string
	for _, s := range batch {
		there, err := x.has(ctx, s.dir)
		if err != nil {
			return err
		}
		if !there {
			gone = append(gone, s.dir)
		}
	}
	if len(gone) > 0 {
		return x.Forget(ctx, gone...)
	}
	return nil
}

// has reports whether the archive has a session.
func (x *Index) has(ctx context.Context, dir string) (bool, error) {
	key, err := storage.ParseKey(dir)
	if err != nil {
		return false, err
	}
	for _, err := range x.a.List(ctx, key) {
		return err == nil, err
	}
	return false, nil
}

// write runs the function do as one transaction.
func (x *Index) write(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // does nothing after a commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}
