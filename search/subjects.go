package search

import (
	"context"
	"errors"
	"fmt"
	"strings"
)

// Held is a session with matching texts.
type Held struct {
	Session string `json:"session"`
	Folder  string `json:"folder"`
	Texts   int    `json:"texts"` // parts of messages, and summaries
}

// Holding updates the index and returns every session with a text that has all words of
// a query, sorted by folder. It ignores the other fields of the query. It returns the
// same errors as [Index.Search].
func (x *Index) Holding(ctx context.Context, q Query) ([]Held, error) {
	t, err := parse(q.Words)
	if err != nil {
		return nil, err
	}
	if _, err := x.Update(ctx, nil); err != nil {
		return nil, err
	}
	where, args := []string{}, []any{}
	from := "said JOIN session ON session.id = said.session"
	if t.match != "" {
		from = "word JOIN said ON said.id = word.rowid JOIN session ON session.id = said.session"
		where, args = append(where, "word MATCH ?"), append(args, t.match)
	}
	for _, part := range t.parts {
		where, args = append(where, "instr(said.text, ?) > 0"), append(args, part)
	}
	return x.held(ctx, "SELECT dir, count(*) FROM "+from+" WHERE "+strings.Join(where, " AND ")+" GROUP BY dir ORDER BY dir", args...)
}

// Workplaces updates the index and returns every session in which an agent of this name
// made a step, sorted by folder. Texts is 0 in each.
func (x *Index) Workplaces(ctx context.Context, agent string) ([]Held, error) {
	if _, err := x.Update(ctx, nil); err != nil {
		return nil, err
	}
	return x.held(ctx, "SELECT DISTINCT dir, 0 FROM worked JOIN session ON session.id = worked.session WHERE agent = ? ORDER BY dir", agent)
}

func (x *Index) held(ctx context.Context, query string, args ...any) ([]Held, error) {
	rows, err := x.db.QueryContext(ctx, query, args...)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	var out []Held
	for rows.Next() {
		var h Held
		if err := rows.Scan(&h.Folder, &h.Texts); err != nil {
			return nil, errors.Join(err, rows.Close())
		}
		h.Session = nameOf(h.Folder)
		out = append(out, h)
	}
	return out, errors.Join(rows.Err(), rows.Close())
}
