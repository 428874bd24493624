package search

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
)

// A Match is a text that has all words of a query.
type Match struct {
	Session string    `json:"session"` // its id, or its folder if the id was too long for a folder name
	Folder  string    `json:"folder"`
	At      time.Time `json:"at,omitzero"` // time of storage; the message itself is older
	Turn    int       `json:"turn,omitempty"`
	Role    string    `json:"role"` // "user", "assistant", "tool", "summary", …
	Tool    string    `json:"tool,omitempty"`
	Agent   string    `json:"agent,omitempty"`
	Model   string    `json:"model,omitempty"`
	Ref     string    `json:"ref,omitempty"` // reference for recall
	File    string    `json:"file"`          // in the session's folder
	Line    int       `json:"line"`          // of the file
	Text    string    `json:"text"`          // first line with a word of the query, cut to 400 bytes around it
	Lines   int       `json:"matching_lines"`
}

// Found is the result of a search.
type Found struct {
	Matches  []Match  `json:"matches"`        // sorted by session, the last written session first; within a session the newest match first
	More     bool     `json:"more,omitempty"` // there are more matches than the query requested
	Sessions int      `json:"sessions"`       // number of sessions that were searched
	Unread   []Unread `json:"unread,omitempty"`
}

// Unread is a session that was not searched in full.
type Unread struct {
	Session string `json:"session"`
	Why     string `json:"why"`
}

// Search updates the index and returns the texts that have all words of a query. It
// returns [ErrNoWords] for a query without a word.
func (x *Index) Search(ctx context.Context, q Query) (Found, error) {
	t, err := parse(q.Words)
	if err != nil {
		return Found{}, err
	}
	if _, err := x.Update(ctx, nil); err != nil {
		return Found{}, err
	}
	f, err := x.find(ctx, q, t)
	if err != nil {
		return Found{}, fmt.Errorf("search: %w", err)
	}
	return f, nil
}

func (x *Index) find(ctx context.Context, q Query, t terms) (f Found, err error) {
	most := cmp.Or(q.Most, defaultMost)
	f.Matches = []Match{}
	where, err := x.ranges(ctx, q)
	if err != nil {
		return f, err
	}
	for _, r := range where {
		if left := most + 1 - len(f.Matches); left > 0 {
			if err := x.in(ctx, &f, q, t, r, left); err != nil {
				return f, err
			}
		}
	}
	if len(f.Matches) > most {
		f.Matches, f.More = f.Matches[:most], true
	}
	return f, x.about(ctx, &f, q)
}

// span is a range of text ids. It covers sessions that were indexed in sequence.
type span struct{ first, last int64 }

// mostRanges limits the ranges that are queried one by one. More ranges than this cover
// so much of the archive that one query over all of it soon finds enough matches.
const mostRanges = 300

// ranges returns the text ids of the sessions that can have matches, the newest
// first.
func (x *Index) ranges(ctx context.Context, q Query) ([]span, error) {
	const all = math.MaxInt64
	if q.Session == "" && q.Since.IsZero() && q.Agent == "" && q.Model == "" {
		return []span{{0, all}}, nil
	}
	rows, err := x.db.QueryContext(ctx, `SELECT first, last FROM session WHERE last >= first AND (?1 = '' OR dir = ?1) AND (?2 = 0 OR newest >= ?2)
		AND (?3 = '' AND ?4 = '' OR EXISTS (SELECT 1 FROM worked WHERE session = session.id AND (?3 = '' OR agent = ?3)) AND EXISTS (SELECT 1 FROM worked WHERE session = session.id AND (?4 = '' OR model = ?4)))
		ORDER BY first DESC`, q.Session, q.since(), q.Agent, q.Model)
	if err != nil {
		return nil, err
	}
	var out []span
	for rows.Next() {
		var s span
		if err := rows.Scan(&s.first, &s.last); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		if n := len(out); n > 0 && out[n-1].first == s.last+1 {
			out[n-1].first = s.first
			continue
		}
		out = append(out, s)
	}
	if len(out) > mostRanges {
		out = []span{{out[len(out)-1].first, out[0].last}}
	}
	return out, errors.Join(rows.Err(), rows.Close())
}

func (q *Query) since() int64 {
	if q.Since.IsZero() {
		return 0
	}
	return q.Since.UnixMilli()
}

// in adds the matches of a range to f, up to the limit most.
func (x *Index) in(ctx context.Context, f *Found, q Query, t terms, where span, most int) error {
	text, args := q.sql(t, where)
	rows, err := x.db.QueryContext(ctx, text, args...)
	if err != nil {
		return err
	}
	newer := newer{}
	for most > 0 && rows.Next() {
		m, err := scan(rows, t, newer)
		if err != nil {
			return errors.Join(err, rows.Close())
		}
		if m.Lines > 0 || m.Role != roleSummary {
			f.Matches = append(f.Matches, m)
			most--
		}
	}
	return errors.Join(rows.Err(), rows.Close())
}

// sql returns the query as SQL, with its arguments. Rows come in the order of their
// ids, in which the full-text table stores them, so no sorting is needed,
// and the caller stops reading when it has enough.
func (q *Query) sql(t terms, in span) (string, []any) {
	var where []string
	var args []any
	and := func(condition string, with ...any) {
		where, args = append(where, condition), append(args, with...)
	}
	from, marked, by := "said JOIN session ON session.id = said.session", "said.text", "said.id"
	if t.match != "" {
		from = "word JOIN said ON said.id = word.rowid JOIN session ON session.id = said.session"
		marked, by = fmt.Sprintf("highlight(word, 0, '%s', '%s')", markBegin, markEnd), "word.rowid"
		and("word MATCH ?", t.match)
	}
	for _, part := range t.parts {
		and("instr(said.text, ?) > 0", part)
	}
	and(by+" BETWEEN ? AND ?", in.first, in.last)
	if q.Session != "" {
		and("dir = ?", q.Session)
	}
	if !q.Since.IsZero() {
		and("said.at >= ?", q.since())
	}
	for _, by := range []struct{ column, name string }{{"agent", q.Agent}, {"model", q.Model}} {
		if by.name != "" {
			and(fmt.Sprintf("(said.%[1]s = ? OR said.%[1]s IS NULL AND EXISTS (SELECT 1 FROM worked WHERE worked.session = session.id AND worked.%[1]s = ?))", by.column), by.name, by.name)
		}
	}
	if q.Tool != "" {
		and("said.tool = ?", q.Tool)
	}
	if q.Role != "" {
		and("said.role = ?", q.Role)
	}
	return "SELECT dir, said.at, turn, role, tool, coalesce(agent, ''), coalesce(model, ''), ref, file, line, " + marked + " FROM " + from +
		" WHERE " + strings.Join(where, " AND ") + " ORDER BY " + by + " DESC", args
}

func scan(rows *sql.Rows, t terms, seen newer) (m Match, err error) {
	var at int64
	var marked string
	if err := rows.Scan(&m.Folder, &at, &m.Turn, &m.Role, &m.Tool, &m.Agent, &m.Model, &m.Ref, &m.File, &m.Line, &marked); err != nil {
		return m, err
	}
	m.Session = nameOf(m.Folder)
	if at > 0 {
		m.At = time.UnixMilli(at).UTC()
	}
	for _, part := range t.parts {
		marked = strings.ReplaceAll(marked, part, markBegin+part+markEnd)
	}
	m.Text, m.Lines = lineOf(seen.without(&m, marked))
	return m, nil
}

// lineBytes limits the bytes of a shown line.
const lineBytes = 400

// lineOf returns the first line with a mark, cut around that mark, and the number of
// such lines.
func lineOf(marked string) (line string, count int) {
	for l := range strings.SplitSeq(marked, "\n") {
		if !strings.Contains(l, markBegin) {
			continue
		}
		if count++; count == 1 {
			line = around(l)
		}
	}
	return line, count
}

// around returns a line without marks, or only the part around the first mark if the
// line is too long.
func around(marked string) string {
	at := strings.Index(marked, markBegin)
	text := strings.NewReplacer(markBegin, "", markEnd, "").Replace(marked)
	text = strings.TrimRight(text, "\r")
	if len(text) <= lineBytes {
		return text
	}
	from := max(0, min(at-lineBytes/4, len(text)-lineBytes))
	to := from + lineBytes
	out := strings.ToValidUTF8(text[from:to], "")
	if from > 0 {
		out = "…" + out
	}
	if to < len(text) {
		out += "…"
	}
	return out
}

// about adds the number of sessions, and the sessions that were not searched in
// full.
func (x *Index) about(ctx context.Context, f *Found, q Query) error {
	rows, err := x.db.QueryContext(ctx, `SELECT dir, unread FROM session WHERE unread <> '' AND (?1 = '' OR dir = ?1) ORDER BY dir`, q.Session)
	if err != nil {
		return err
	}
	for rows.Next() {
		var u Unread
		if err := rows.Scan(&u.Session, &u.Why); err != nil {
			return errors.Join(err, rows.Close())
		}
		u.Session = nameOf(u.Session)
		f.Unread = append(f.Unread, u)
	}
	if err := errors.Join(rows.Err(), rows.Close()); err != nil {
		return err
	}
	return x.db.QueryRowContext(ctx, `SELECT count(*) FROM session WHERE ?1 = '' OR dir = ?1`, q.Session).Scan(&f.Sessions)
}
