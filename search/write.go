package search

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"strings"
)

// writer holds the statements of a transaction.
type writer struct {
	tx                 *sql.Tx
	said, word, worked *sql.Stmt
	next               int64 // id of the next text
}

func newWriter(ctx context.Context, tx *sql.Tx) (*writer, error) {
	w := &writer{tx: tx}
	for _, p := range []struct {
		to   **sql.Stmt
		text string
	}{
		{&w.said, `INSERT INTO said VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`},
		{&w.word, `INSERT INTO word(rowid, text) VALUES (?, ?)`},
		{&w.worked, `INSERT OR IGNORE INTO worked VALUES (?, ?, ?)`},
	} {
		var err error
		if *p.to, err = tx.PrepareContext(ctx, p.text); err != nil {
			return nil, err
		}
	}
	// Gaps between ids are not filled, because the rows of a session have consecutive
	// ids.
	err := tx.QueryRowContext(ctx, `SELECT max(coalesce((SELECT max(last) FROM session), 0), coalesce((SELECT max(id) FROM said), 0)) + 1`).Scan(&w.next)
	return w, err
}

// session replaces a session in the index, unless another process has indexed the
// session since it was read. before is the hash of the session's files that the index
// had at the read.
func (w *writer) session(ctx context.Context, s *session, before string) error {
	if s.same {
		_, err := w.tx.ExecContext(ctx, `UPDATE session SET stamp = ? WHERE dir = ? AND files = ?`, s.stamp, s.dir, s.files)
		return err
	}
	var now string
	switch err := w.tx.QueryRowContext(ctx, `SELECT files FROM session WHERE dir = ?`, s.dir).Scan(&now); {
	case err != nil && !errors.Is(err, sql.ErrNoRows):
		return err
	case now != before:
		return nil
	}
	if err := w.forget(ctx, s); err != nil {
		return err
	}
	first := w.next
	res, err := w.tx.ExecContext(ctx, `INSERT INTO session(dir, stamp, files, logs, newest, first, last, unread) VALUES (?, ?, ?, ?, ?, ?, ?, ?)`,
		s.dir, s.stamp, s.files, strings.Join(s.logs, ","), s.newest(), first, first+int64(len(s.texts))-1, s.unread)
	if err != nil {
		return err
	}
	id, err := res.LastInsertId()
	if err != nil {
		return err
	}
	for by := range s.worked {
		if _, err := w.worked.ExecContext(ctx, id, by.agent, by.model); err != nil {
			return err
		}
	}
	for i := range s.texts {
		if err := w.text(ctx, id, &s.texts[i]); err != nil {
			return err
		}
	}
	return nil
}

// forget removes the old texts of a session that is indexed again. The file must be
// cleaned only if one of them is no longer a text of the session.
func (w *writer) forget(ctx context.Context, s *session) error {
	now := make(map[string]bool, len(s.texts))
	for i := range s.texts {
		now[s.texts[i].body] = true
	}
	lost, err := w.loses(ctx, s.dir, now)
	if err != nil {
		return err
	}
	if _, err := forget(ctx, w.tx, s.dir); err != nil || !lost {
		return err
	}
	return unclean(ctx, w.tx)
}

// loses reports whether the index has a text of a session that the session no longer
// has.
func (w *writer) loses(ctx context.Context, dir string, now map[string]bool) (bool, error) {
	rows, err := w.tx.QueryContext(ctx, `SELECT text FROM said, session WHERE dir = ? AND said.id BETWEEN first AND last`, dir)
	if err != nil {
		return false, err
	}
	lost := false
	for rows.Next() && !lost {
		var was string
		if err := rows.Scan(&was); err != nil {
			return false, errors.Join(err, rows.Close())
		}
		lost = !now[was]
	}
	return lost, errors.Join(rows.Err(), rows.Close())
}

func (w *writer) text(ctx context.Context, session int64, t *text) error {
	var agent, model any
	if t.by != nil {
		agent, model = t.by.agent, t.by.model
	}
	if _, err := w.said.ExecContext(ctx, w.next, session, t.body, t.at(), t.Turn, t.role, t.tool, agent, model, t.File, t.Line, t.ref); err != nil {
		return err
	}
	if _, err := w.word.ExecContext(ctx, w.next, t.body); err != nil {
		return err
	}
	w.next++
	return nil
}

// Forget removes sessions, by the names of their folders. A session that is not in the
// index is not an error. Traces of the sessions can stay in the file until the next
// [Index.Update], [Index.Search] or [Index.Close].
func (x *Index) Forget(ctx context.Context, dirs ...string) error {
	err := x.write(ctx, func(tx *sql.Tx) error {
		// Sessions that are not in the index are recorded, too, because another process
		// may be about to index text that it read earlier.
		if _, err := tx.ExecContext(ctx, `INSERT INTO fact VALUES ('forgets', 1) ON CONFLICT (name) DO UPDATE SET value = value + 1`); err != nil {
			return err
		}
		some := false
		for _, dir := range dirs {
			had, err := forget(ctx, tx, dir)
			if err != nil {
				return err
			}
			some = some || had
		}
		if !some {
			return nil
		}
		return unclean(ctx, tx)
	})
	if err != nil {
		return fmt.Errorf("search: forget: %w", err)
	}
	return nil
}

// forgets returns how often [Index.Forget] was called, by any process.
func forgets(ctx context.Context, q interface {
	QueryRowContext(ctx context.Context, query string, args ...any) *sql.Row
}) (n int64, err error) {
	err = q.QueryRowContext(ctx, `SELECT coalesce((SELECT value FROM fact WHERE name = 'forgets'), 0)`).Scan(&n)
	return n, err
}

func unclean(ctx context.Context, tx *sql.Tx) error {
	_, err := tx.ExecContext(ctx, `INSERT OR REPLACE INTO fact VALUES ('unclean', random() | 1)`)
	return err
}

// uncleaned returns the mark that the file must be cleaned, 0 if it need not be. Each
// removal of a text sets another mark.
func (x *Index) uncleaned(ctx context.Context) (mark int64, err error) {
	err = x.db.QueryRowContext(ctx, `SELECT coalesce((SELECT value FROM fact WHERE name = 'unclean'), 0)`).Scan(&mark)
	return mark, err
}

// cleaned removes a mark. A mark that another process has set since it was read stays:
// the cleaning may have been too early for that removal.
func (x *Index) cleaned(ctx context.Context, mark int64) error {
	_, err := x.db.ExecContext(ctx, `DELETE FROM fact WHERE name = 'unclean' AND value = ?`, mark)
	return err
}

// forget removes a session, and reports whether the index had it.
func forget(ctx context.Context, tx *sql.Tx, dir string) (bool, error) {
	var id, first, last int64
	err := tx.QueryRowContext(ctx, `SELECT id, first, last FROM session WHERE dir = ?`, dir).Scan(&id, &first, &last)
	if errors.Is(err, sql.ErrNoRows) {
		return false, nil
	}
	if err != nil {
		return false, err
	}
	for _, do := range []string{
		`INSERT INTO word(word, rowid, text) SELECT 'delete', id, text FROM said WHERE id BETWEEN ?2 AND ?3`,
		`DELETE FROM said WHERE id BETWEEN ?2 AND ?3`,
		`DELETE FROM worked WHERE session = ?1`,
		`DELETE FROM session WHERE id = ?1`,
	} {
		if _, err := tx.ExecContext(ctx, do, id, first, last); err != nil {
			return false, err
		}
	}
	return true, nil
}

// clean removes the traces of forgotten sessions from the file: unused parts of
// pages, and words that the full-text index keeps as the beginnings of its pages.
func (x *Index) clean(ctx context.Context) error {
	mark, err := x.uncleaned(ctx)
	if err != nil || mark == 0 {
		return err
	}
	err = x.write(ctx, func(tx *sql.Tx) error {
		stale, err := stale(ctx, tx)
		if err == nil && stale {
			_, err = tx.ExecContext(ctx, `INSERT INTO word(word) VALUES('rebuild')`)
		}
		return err
	})
	if err != nil {
		return err
	}
	if _, err := x.db.ExecContext(ctx, `VACUUM`); err != nil {
		return err
	}
	return x.cleaned(ctx, mark)
}

// stale reports whether the full-text index keeps, as the beginning of a page, the
// beginning of a word that no text has any more.
func stale(ctx context.Context, tx *sql.Tx) (bool, error) {
	var n int
	err := tx.QueryRowContext(ctx, `SELECT count(*) FROM (
		SELECT 1 FROM (SELECT DISTINCT substr(term, 2) AS begins FROM word_idx WHERE length(term) > 1) AS page
		WHERE coalesce(substr(CAST((SELECT term FROM known WHERE term >= CAST(page.begins AS TEXT) LIMIT 1) AS BLOB), 1, length(page.begins)), x'') <> page.begins
		LIMIT 1)`).Scan(&n)
	return n > 0, err
}
