package compact

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
)

// A RecallOption selects lines of a text; without one the whole text is
// returned. Several apply in order, each to the result of the one before.
type RecallOption func(lines []string) []string

// Head returns the first n lines.
func Head(n int) RecallOption {
	return func(lines []string) []string { return lines[:min(max(n, 0), len(lines))] }
}

// Tail returns the last n lines.
func Tail(n int) RecallOption {
	return func(lines []string) []string { return lines[len(lines)-min(max(n, 0), len(lines)):] }
}

// Lines returns lines first to last, counted from 1, inclusive.
func Lines(first, last int) RecallOption {
	return func(lines []string) []string {
		from := min(max(first-1, 0), len(lines))
		return lines[from:max(from, min(last, len(lines)))]
	}
}

// Matching returns the matching lines, each with this many lines of context on
// both sides. The search stops after ten seconds; the last line then says so.
func Matching(pattern *regexp.Regexp, around int) RecallOption {
	return func(lines []string) []string {
		ctx, cancel := withMatchTime(context.Background())
		defer cancel()
		at, err := matching(newMatcher(ctx, pattern), lines, around)
		var out []string
		for _, l := range at {
			out = append(out, lines[l.at])
		}
		if err != nil {
			out = append(out, "["+err.Error()+": the lines behind were not searched]")
		}
		return out
	}
}

// hit is the position of a line of the answer: a match, or a line around one.
type hit struct {
	at      int
	matches bool
}

// matching returns the positions of the matching lines and those around them,
// each once and in order. On an error it returns those found so far.
func matching(m matcher, lines []string, around int) (hits []hit, err error) {
	next := 0
	around = min(max(around, 0), len(lines))
	for i, line := range lines {
		found, err := m.find(line)
		if err != nil {
			return hits, err
		}
		if found == nil {
			continue
		}
		for k := max(next, i-around); k <= min(i+around, len(lines)-1); k++ {
			hits = append(hits, hit{at: k})
			next = k + 1
		}
		for k := len(hits) - 1; k >= 0 && hits[k].at >= i; k-- {
			hits[k].matches = hits[k].matches || hits[k].at == i
		}
	}
	return hits, nil
}

// AtMost returns the first lines with at most this many bytes in total, line
// feeds included, and then a line that states how much was left out. A first
// line above the limit is cut between two characters.
func AtMost(bytes int) RecallOption {
	return func(lines []string) []string {
		kept, left := fitting(lines, bytes)
		if left == 0 {
			return lines
		}
		return append(kept, fmt.Sprintf("[%d of %d lines follow, %d bytes are left out]", len(lines)-len(kept), len(lines), left))
	}
}

// fitting returns the first lines with at most this many bytes, and the size of
// the others in bytes.
func fitting(lines []string, bytes int) (kept []string, left int) {
	for i, line := range lines {
		if len(line)+1 <= bytes || i == len(lines)-1 && len(line) <= bytes {
			bytes -= len(line) + 1
			continue
		}
		for _, l := range lines[i:] {
			left += len(l) + 1
		}
		left-- // the last line has no line feed
		kept = lines[:i:i]
		if i == 0 {
			head := line[:prefix(line, bytes)]
			kept, left = []string{head}, left-len(head)
		}
		return kept, left
	}
	return lines, 0
}

// prefix returns the length of the longest beginning of s that ends with a
// whole character and has at most n bytes.
func prefix(s string, n int) int {
	n = min(max(n, 0), len(s))
	for n > 0 && n < len(s) && !utf8.RuneStart(s[n]) {
		n--
	}
	return n
}

// Recall returns text that was removed from a session's view, redacted, from
// the archive and never from memory. ref is the reference in a placeholder; the
// first 8 or more hex digits of the fingerprint of a message or a part; "s12"
// or "s12-s20", as a summary cites messages; "turn:17" for a whole turn; or
// "turn:17:observation" for one of its slots (request, reasoning, action,
// observation).
//
// After the headers of the indexes are read, a recall reads one page of the
// turn index and one range of the transcript. Text in no index is looked up in
// final transcripts without an index and in the journal. The error is
// [ErrNotFound] when the archive holds no such text, or an *[ArchiveError].
func (m *CompactManager) Recall(ctx context.Context, sessionID, ref string, opts ...RecallOption) (text string, err error) {
	defer m.rescue("Recall", &err)
	q, err := parseRef(ref)
	if err != nil {
		return "", err
	}
	switch {
	case sessionID == "":
		return "", ErrSession
	case isUnnamed(sessionID):
		return "", fmt.Errorf("%w: the session has no name", ErrNotFound)
	}
	return m.recall(ctx, sessionID, q, opts)
}

func (m *CompactManager) recall(ctx context.Context, sessionID string, q reference, opts []RecallOption) (string, error) {
	s, err := m.session(ctx, sessionID)
	if err != nil {
		return "", err
	}
	defer m.release(s)
	if err := m.recordRead(ctx, s, "recall", q.text); err != nil {
		return "", err
	}
	began := m.now()
	text, err := s.recall(ctx, q, opts)
	if errors.Is(err, storage.ErrChanged) {
		text, err = m.recallAnew(ctx, s, q, opts, err)
	}
	if err == nil {
		s.wasRecalled(q.text)
	}
	m.sayRecall(ctx, s, trace.Recalled{Ref: q.text, Found: err == nil, Chars: utf8.RuneCountInString(text)}, began, err)
	if why := s.late.missing(); why != nil && errors.Is(err, ErrNotFound) {
		return "", &ArchiveError{Op: "open", Session: s.id, Err: why} // the archive could not be opened, so the answer is unknown
	}
	return text, err
}

// recallAnew retries a recall after a changed file. If the session was scrubbed since
// it was opened, it is read again.
func (m *CompactManager) recallAnew(ctx context.Context, s *session, q reference, opts []RecallOption, changed error) (string, error) {
	err := s.log.Fresh(ctx)
	if !errors.Is(err, record.ErrScrubbed) {
		return "", changed
	}
	m.forsake(s, err)
	again, err := m.session(ctx, s.id)
	if err != nil {
		return "", err
	}
	defer m.release(again)
	return again.recall(ctx, q, opts)
}

// Recall is [CompactManager.Recall] for those who have an archive and no
// manager. It only reads. sessionID is the id as the archive lists it, which is
// a hash if the id holds a secret.
func Recall(ctx context.Context, archive storage.Archive, sessionID, ref string, opts ...RecallOption) (text string, err error) {
	defer rescue(nil, nil, "Recall", &err)
	q, err := parseRef(ref)
	if err != nil {
		return "", err
	}
	if sessionID == "" {
		return "", ErrSession
	}
	s, err := openSession(ctx, archive, sessionID, nil)
	if err != nil {
		return "", &ArchiveError{Op: "read", Session: sessionID, Err: err}
	}
	return s.recall(ctx, q, opts)
}

func (s *session) recall(ctx context.Context, q reference, opts []RecallOption) (string, error) {
	text, found, err := s.find(ctx, q)
	if err != nil {
		return "", &ArchiveError{Op: "read", Session: s.id, Err: err}
	}
	if !found {
		return "", &missing{q.text, s.thereAre(q)}
	}
	return choose(text, opts), nil
}

// missing is the error for a reference that is not in the archive; there lists
// what is.
type missing struct{ ref, there string }

func (e *missing) Error() string { return ErrNotFound.Error() + ": " + e.ref + e.there }

func (e *missing) Unwrap() error { return ErrNotFound }

// thereAre says which turns or messages exist, for the error about one that
// does not.
func (s *session) thereAre(q reference) string {
	what, of := "turns %d to %d", func(e *eviction) int { return int(e.Turn) }
	switch {
	case q.first > 0:
		what, of = "s%d to s%d", func(e *eviction) int { return int(e.Number) }
	case !q.query.IsTurn():
		return ""
	}
	first, last := 0, 0
	for _, step := range s.snapshot() {
		for i := range step.Evicted {
			if n := of(&step.Evicted[i]); n > 0 {
				first, last = cmp.Or(min(first, n), n), max(last, n)
			}
		}
	}
	if last == 0 {
		return ""
	}
	return "; " + fmt.Sprintf(what, first, last) + " were taken out"
}

func choose(text string, opts []RecallOption) string {
	if len(opts) == 0 {
		return text
	}
	lines := strings.Split(text, "\n")
	for _, o := range opts {
		lines = o(lines)
	}
	return strings.Join(lines, "\n")
}
