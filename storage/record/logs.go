package record

import (
	"context"
	"errors"
	"iter"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// Events appends to events.jsonl, the audit log. Each line must be one JSON object of at
// most 32 MiB ([ErrLine] otherwise, and then nothing is written); the archive adds the
// members "seq" and "prev" before its own, which chain the lines. The lines of one call
// are consecutive. No lines is no error.
func (s *Session) Events(ctx context.Context, lines []redact.Text) error {
	_, err := s.appendLog(ctx, s.events, lines)
	return err
}

// Journal appends to journal.jsonl, like Events. The journal holds each message
// once, as it first came in.
func (s *Session) Journal(ctx context.Context, lines []redact.Text) error {
	_, err := s.appendLog(ctx, s.journal, lines)
	return err
}

// Edits appends to edits.jsonl, like Events. That log holds what calls changed
// between two steps, the originals first.
func (s *Session) Edits(ctx context.Context, lines []redact.Text) (EditsWritten, error) {
	t, err := s.appendLog(ctx, s.edits, lines)
	return EditsWritten{
		Written: Written{Key: s.edits.key, Bytes: t.end - t.from, Location: location(s.a, s.edits.key)},
		Seq:     t.seq, Off: t.from,
	}, err
}

// EditsWritten describes lines that were appended to edits.jsonl. Bytes is
// their size; the file has no hash, as it grows.
type EditsWritten struct {
	Written
	Seq int64 // number of the last line
	Off int64 // offset of the first line
}

// An EditsLine is a line of edits.jsonl as it was passed in. Body is valid
// until the next iteration.
type EditsLine struct {
	Seq      int64
	Off, End int64 // offsets in the file
	Body     []byte

	// Changed: the hash in the next line does not match. Body must not be used,
	// and is nil if it is no valid line. The last line has no such check.
	Changed bool
}

// EditsLines yields the lines of edits.jsonl from an offset, which must be 0 or
// the start of a line. Incomplete lines of a crash are skipped.
func (s *Session) EditsLines(ctx context.Context, from int64) iter.Seq2[EditsLine, error] {
	return checkedLines(ctx, s.edits, from)
}

func (s *Session) appendLog(ctx context.Context, c *chain, lines []redact.Text) (tail, error) {
	out := make([]string, len(lines))
	for i, l := range lines {
		out[i] = l.String()
		if err := checkBody(out[i]); err != nil {
			return tail{}, &storage.Error{Op: "append", Key: c.key, Err: err}
		}
	}
	t, err := s.behindFences(ctx, c, out)
	return t, s.taken(ctx, err)
}

// EventLines yields the lines of events.jsonl as they were passed in, without
// the members that chain them. Incomplete lines of a crash are skipped. The
// chain is not checked; [Verify] does that. A slice is valid until the next
// iteration.
func (s *Session) EventLines(ctx context.Context) iter.Seq2[[]byte, error] {
	return logLines(ctx, s.events)
}

// JournalLines is EventLines for journal.jsonl, without changed lines, whose
// hash in the next line differs.
func (s *Session) JournalLines(ctx context.Context) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for l, err := range checkedLines(ctx, s.journal, 0) {
			if !l.Changed && !yield(l.Body, err) {
				return
			}
		}
	}
}

func logLines(ctx context.Context, c *chain) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		junk := false // the previous line is not valid
		err := eachLineOfLog(ctx, c.a, c.key, 0, func(l rawLine) error {
			link, ok := parseLink(l.text)
			_, torn := link.torn()
			skip := !ok || torn && junk
			junk = !ok
			if !skip && !yield(link.body(), nil) {
				return errStop
			}
			return nil
		})
		if err != nil && !errors.Is(err, errStop) {
			yield(nil, err)
		}
	}
}

// Checkpoint records in the manifest the length of the logs that this Session
// appended to, so that [Verify] detects a missing end. Each commit does this as
// well; call it at the end of a session. Without news it writes nothing. It also
// writes heads that are missing.
func (s *Session) Checkpoint(ctx context.Context) error {
	err := s.record(ctx, s.marks()...)
	if errors.Is(err, ErrScrubbed) {
		err = s.markAnew(ctx)
	}
	if err != nil {
		return err
	}
	s.mu.Lock()
	untold := s.untold
	s.mu.Unlock()
	if untold {
		s.told(ctx, head{Op: headMark})
	}
	return nil
}

// marks returns a mark for each log that has grown since its last mark. A log whose
// last line lacks its line feed gets none, because its end will change.
func (s *Session) marks() []record {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []record
	for _, c := range []*chain{s.events, s.journal, s.edits} {
		t, ok := c.known()
		name := c.key.Base()
		if ok && t.seq > 0 && !t.open && t.end > s.marked[name] {
			out = append(out, mark(name, t))
		}
	}
	return out
}

// settle records the marks among records that are durable now. It also notes that the
// manifest has lines without a head.
func (s *Session) settle(records []record) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.untold = s.untold || len(records) > 0
	for _, r := range records {
		if r.Op == opMark {
			s.marked[r.Name] = max(s.marked[r.Name], r.Bytes)
		}
	}
}
