package record

import (
	"context"
	"errors"
	"iter"
	"slices"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
)

// Events appends to events.jsonl, the audit log. Each line must be one JSON object of at
// most 32 MiB ([ErrLine] otherwise, and then nothing is written); the archive adds the
// members "seq" and "prev" before its own, which chain the lines. The lines of one call
// are consecutive. Without lines it does nothing.
func (s *Session) Events(ctx context.Context, lines []redact.Text) error {
	_, err := s.appendLog(ctx, s.events, lines)
	return err
}

// Journal appends to journal.jsonl, like Events. The journal holds each message once,
// in its original form.
func (s *Session) Journal(ctx context.Context, lines []redact.Text) error {
	_, err := s.appendLog(ctx, s.journal, lines)
	return err
}

// Edits appends to edits.jsonl, like Events. That log holds the changes of calls
// between two steps, the originals first, each in the line that [Original] returns.
func (s *Session) Edits(ctx context.Context, lines []redact.Text) (EditsWritten, error) {
	t, err := s.appendLog(ctx, s.edits, lines)
	w := EditsWritten{
		Written: Written{Key: s.edits.key, Bytes: t.end - t.from, Location: location(s.a, s.edits.key)},
		Seq:     t.seq, Off: t.from,
	}
	if err == nil {
		w.Originals = originalsAt(lines, t.seq, t.end)
	}
	return w, err
}

// EditsWritten describes lines that were appended to edits.jsonl. Bytes is their size;
// the file has no hash, because it grows.
type EditsWritten struct {
	Written
	Seq       int64        // number of the last line
	Off       int64        // offset of the first line
	Originals []OriginalAt // places of the originals, in their order
}

// An EditsLine is a line of edits.jsonl without the members that chain it. Body is valid until the
// next iteration.
type EditsLine struct {
	Seq      int64
	Off, End int64 // offsets in the file
	Body     []byte

	// Changed is true if the hash in the next line does not match. Body must then not
	// be used, and is nil if it is not a valid line. The last line has no such check.
	Changed bool

	end int64 // offset after the line, before its line feed
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

// EventLines yields the lines of events.jsonl in their original form, without the
// members that chain them. Incomplete lines of a crash are skipped. The chain is not
// checked; [Verify] does that. A slice is valid until the next iteration.
func (s *Session) EventLines(ctx context.Context) iter.Seq2[[]byte, error] {
	return logLines(ctx, s.events)
}

// JournalLines is EventLines for journal.jsonl, without changed lines (lines whose
// hash in the next line differs).
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

// Checkpoint records in the manifest the length of the logs that this Session appended
// to, so that [Verify] detects a missing end. Each commit does this as well; call it
// at the end of a session. If nothing is new, it writes nothing. It also writes heads
// that are missing.
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

// CheckpointEdits is [Session.Checkpoint] if this Session appended to edits.jsonl since
// its last mark. Otherwise it does nothing.
func (s *Session) CheckpointEdits(ctx context.Context) error {
	if !slices.ContainsFunc(s.marks(), func(r record) bool { return r.Name == editsName }) {
		return nil
	}
	return s.Checkpoint(ctx)
}

// marks returns a mark for each log that has grown since its last mark. A log whose
// last line lacks its line feed gets no mark, because its end will change.
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

// settle updates the state with the marks among records, which are durable now. It also
// records that the manifest has lines without a head.
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
