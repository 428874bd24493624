package lookup

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

// Find looks up a reference: in the indexes of the steps, newest first; then in
// steps that others have committed since; then in files that belong to no step.
func (s *Session) Find(ctx context.Context, q Ref) (text string, found bool, err error) {
	var changed error // error for a changed file that has the reference; another file may also have it
	for known := -1; known != len(s.book.Steps()); {
		steps := s.book.Steps()
		if q.First > 0 {
			text, found, err = s.findNumbered(ctx, steps, q)
		} else {
			text, found, err = s.FindInSteps(ctx, steps, q)
		}
		if s.isChange(err) {
			changed, err = err, nil
		}
		if found || err != nil {
			return text, found, err
		}
		known = len(steps)
		if err := s.book.Reload(ctx); err != nil {
			return "", false, err
		}
	}
	if q.First > 0 {
		return "", false, changed // only steps number the messages that summaries cite
	}
	text, found, err = s.findElsewhere(ctx, q)
	if err == nil && !found {
		err = changed
	}
	return text, found, err
}

// findElsewhere searches the files that belong to no step.
func (s *Session) findElsewhere(ctx context.Context, q Ref) (text string, found bool, err error) {
	if text, found, err = s.findInEdits(ctx, q); found || err != nil {
		return text, found, err
	}
	var changed error
	if text, found, err = s.findInFinals(ctx, q); s.isChange(err) {
		changed, err = err, nil
	}
	if !found && err == nil && !q.Query.IsTurn() {
		text, found, err = s.scan(ctx, s.log.JournalLines(ctx), q)
	}
	if !found && err == nil {
		err = changed
	}
	return text, found, err
}

// FindInSteps looks up a reference in the indexes of steps, newest first. It reads no
// newer steps.
func (s *Session) FindInSteps(ctx context.Context, steps []ledger.Step, q Ref) (string, bool, error) {
	var pieces pieces
	var changed error
	for k := len(steps); k >= 1; {
		if steps[k-1].Volatile || steps[k-1].Changed != nil {
			k--
			continue
		}
		records, first, err := s.lookup(ctx, steps, k, q.Query)
		if err != nil {
			return "", false, err
		}
		text, done, err := s.take(ctx, &pieces, records, q, steps[first-1:k])
		if s.isChange(err) {
			pieces, changed, err = nil, err, nil // older transcripts may also have the text
		}
		if done || err != nil {
			return text, done, err
		}
		k = first - 1
	}
	text, done, err := s.turnText(ctx, pieces, q)
	if err == nil && !done {
		err = changed
	}
	return text, done, err
}

// take reads the lines of records, which the index of some steps has. If the messages of
// a turn were archived one by one, older indexes have the rest of the turn.
func (s *Session) take(ctx context.Context, p *pieces, records []turnindex.Record, q Ref, of []ledger.Step) (string, bool, error) {
	if !q.Query.IsTurn() {
		return s.textAt(ctx, records, q)
	}
	// Originals in the log belong to transcripts, which have the whole turn, too.
	single := slices.ContainsFunc(of, func(s ledger.Step) bool { return record.IsOriginals(s.Archive) })
	partial := func(r turnindex.Record) bool {
		return record.IsOriginals(r.File) || single && r.File == record.EditsFile
	}
	if p.add(records, q.Slot); len(*p) == 0 || slices.ContainsFunc(*p, partial) {
		return "", false, nil
	}
	return s.turnText(ctx, *p, q)
}

// textAt reads the lines of records until one holds the text that q names.
func (s *Session) textAt(ctx context.Context, records []turnindex.Record, q Ref) (string, bool, error) {
	var last turnindex.Record
	var changed error
	for _, r := range records {
		if r.File == last.File && r.Off == last.Off { // a message and its part are in one line
			continue
		}
		if last = r; q.Most > 0 && r.Len > q.Most {
			return "", false, ErrMost
		}
		line, err := s.piece(ctx, r)
		switch {
		case s.isChange(err):
			changed = err
			continue
		case err != nil:
			return "", false, err
		}
		if text, ok := ledger.InLine(line, q.Text); ok {
			return text, true, nil
		}
	}
	return "", false, changed
}

// lookup returns the records in the index whose last step is k, and the first step that
// this index covers. A missing or damaged index is rebuilt.
func (s *Session) lookup(ctx context.Context, steps []ledger.Step, k int, q turnindex.Query) (records []turnindex.Record, first int, err error) {
	if ref := steps[k-1].Index; ref != nil {
		records, err = s.lookupIn(ctx, ref.File, q)
		if err == nil {
			return records, min(max(ref.First, 1), k), nil
		}
		if !errors.Is(err, turnindex.ErrDamaged) && !errors.Is(err, storage.ErrNotExist) {
			return nil, 0, err
		}
	}
	table, err := s.rebuild(ctx, &steps[k-1])
	if err != nil {
		return nil, 0, err
	}
	records, err = table.Lookup(ctx, q)
	return records, k, err
}

func (s *Session) lookupIn(ctx context.Context, name string, q turnindex.Query) ([]turnindex.Record, error) {
	table, err := s.table(ctx, name)
	if err != nil || !table.Mentions(q) {
		return nil, err
	}
	return table.Lookup(ctx, q)
}

// table returns an index of the session, which is opened once.
func (s *Session) table(ctx context.Context, name string) (*turnindex.Table, error) {
	s.mu.Lock()
	table := s.tables[name]
	s.mu.Unlock()
	if table != nil {
		return table, nil
	}
	table, err := s.log.OpenIndex(ctx, name)
	if err != nil {
		return nil, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.tables[name] = table
	return table, nil
}

// findInEdits searches the originals that no step has archived.
func (s *Session) findInEdits(ctx context.Context, q Ref) (string, bool, error) {
	if q.Query.IsTurn() {
		return "", false, nil // these lines have no turn numbers
	}
	for line, err := range s.Unarchived(ctx) {
		if err != nil {
			return "", false, err
		}
		if text, ok := ledger.InLine(line, q.Text); ok {
			return text, true, nil
		}
	}
	return "", false, nil
}

// Unarchived yields the lines with the originals that no step has archived, oldest
// first. It leaves out changed lines. A line is valid until the next one.
func (s *Session) Unarchived(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, span := range s.book.Unarchived() {
			for l, err := range s.log.EditsLines(ctx, span.From) {
				if err != nil {
					yield(nil, err)
					return
				}
				if l.End > span.To {
					break
				}
				if line, _, ok := l.Original(); ok && !l.Changed && !yield(line, nil) {
					return
				}
			}
		}
	}
}

// findInFinals searches the final transcripts, newest first. A transcript
// without an intact index is read.
func (s *Session) findInFinals(ctx context.Context, q Ref) (string, bool, error) {
	var finals []string
	for info, err := range s.log.Files(ctx) {
		if err != nil {
			return "", false, err
		}
		if _, ok := record.FinalIndexName(info.Key.Base()); ok {
			finals = append(finals, info.Key.Base())
		}
	}
	var changed error
	for _, name := range slices.Backward(finals) {
		index, _ := record.FinalIndexName(name)
		records, err := s.lookupIn(ctx, index, q.Query)
		text, found := "", false
		switch {
		case errors.Is(err, turnindex.ErrDamaged) || errors.Is(err, storage.ErrNotExist):
			text, found, err = s.scan(ctx, s.wholeLines(ctx, name), q)
		case err == nil && q.Query.IsTurn():
			var p pieces
			p.add(records, q.Slot)
			text, found, err = s.turnText(ctx, p, q)
		case err == nil:
			text, found, err = s.textAt(ctx, records, q)
		}
		if s.isChange(err) {
			changed, err = err, nil
		}
		if found || err != nil {
			return text, found, err
		}
	}
	return "", false, changed
}

// scan reads lines until one holds the reference.
func (s *Session) scan(_ context.Context, lines func(func([]byte, error) bool), q Ref) (text string, found bool, err error) {
	if q.Query.IsTurn() {
		return "", false, nil // these lines have no turn numbers
	}
	lines(func(line []byte, lineErr error) bool {
		if err = lineErr; err == nil {
			text, found = ledger.InLine(line, q.Text)
		}
		return err == nil && !found
	})
	return strings.Clone(text), found, err
}
