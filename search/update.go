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

// Updated is what [Index.Update] did.
type Updated struct {
	Sessions int `json:"sessions"` // of the archive
	Put      int `json:"put"`      // sessions that were new or had changed
	Gone     int `json:"gone"`     // that the archive does not have any more
}

// Update puts into the index what is new in the archive, and takes out what it has
// not any more. progress, if any, is called with how many of the changed sessions
// are in. A session that can't be read is out of the index, and said to be so by
// every search.
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
	stamp, files string   // what it looked like when it was put in
	logs         []string // that had text then
}

// known returns the sessions of the index, in one value: a row for each of ten
// thousand costs more than a search.
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

// look is what a session looks like from outside.
type look struct {
	dir      string
	stamp    string   // "" = nothing is known cheaply
	files    string   // a hash of names, sizes and times; "" = not looked at yet
	logs     []string // that have text and grow
	modified time.Time
}

// there looks at the sessions of the archive: at their stamps where it has any, and at
// the files of those whose stamps are not those of the index.
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
			continue // no archive wrote it
		}
		some, err := x.listed(ctx, key)
		if err != nil {
			return nil, err
		}
		for dir, l := range some {
			if slices.Equal(l.logs, known[dir].logs) {
				l.stamp = f.Stamp // else it does not show how far these have grown
			}
			all[dir] = l
		}
	}
	return all, nil
}

// listed looks at the files of sessions. Holds, releases and events change none of
// their text.
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
		if grows(file) {
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

// hasText reports whether a file says anything that is in the index.
func hasText(file string) bool {
	return file != "events.jsonl" && file != "manifest.jsonl"
}

// grows reports whether a file that has text is appended to.
func grows(file string) bool { return file == "edits.jsonl" || file == "journal.jsonl" }

// changedOf returns the sessions to put in, the one that was written to last at the
// end: what comes last is found first.
func changedOf(there map[string]look, known map[string]row) (out []look) {
	for dir, l := range there {
		if was, ok := known[dir]; !ok || was.files != l.files || was.stamp != l.stamp {
			out = append(out, l)
		}
	}
	slices.SortFunc(out, func(a, b look) int { return cmp.Or(a.modified.Compare(b.modified), strings.Compare(a.dir, b.dir)) })
	return out
}

// atOnce is how much text one transaction takes: while it lasts nobody else can
// search.
const atOnce = 8 << 20

// putAll puts sessions in, several with one transaction.
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

// putAttempts limits how often sessions are read again because something was forgotten
// meanwhile. After that they are left to the next update.
const putAttempts = 5

// putSome puts the first sessions in, and returns how many. What was read before a
// session was forgotten is not put in: a scrub or an erase can have taken it out of the
// archive.
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

// errForgotten: something was forgotten since sessions were read.
var errForgotten = errors.New("forgotten meanwhile")

// put replaces sessions in the index, and takes those out again that were erased in
// the meantime. It returns [errForgotten] if any were forgotten since there were so many.
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

// write runs do as one transaction.
func (x *Index) write(ctx context.Context, do func(*sql.Tx) error) error {
	tx, err := x.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after a commit
	if err := do(tx); err != nil {
		return err
	}
	return tx.Commit()
}
