package compact

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io"
	"time"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
)

// filed holds the places of a transcript's lines in the archive. It is
// immutable.
type filed struct {
	file  string // name of the transcript
	seen  int    // number of the session's steps when it was written
	lines []storedLine
}

// filedWeight is the memory of one line's place, in bytes.
const filedWeight = 96

func (k *filed) weight() int64 {
	if k == nil {
		return 0
	}
	return filedWeight * int64(len(k.lines))
}

// known returns the places of the lines of the lane's last transcript, which
// another process can have written. Lines that can't be read or were changed
// are left out, and so written again.
func (c *call) known(ctx context.Context) []storedLine {
	if c.m.cfg.Storage.Repeat == repeatFull {
		return nil
	}
	mine, seen := c.lane.filed.Load(), 0
	if mine != nil {
		seen = mine.seen
	}
	of := c.q.owner()
	last := c.s.lastTranscript(seen, func(s *ledger.Step) bool { return s.Owner() == of })
	if last != "" && (mine == nil || last != mine.file) {
		if lines := c.s.places(ctx, last, c.until(ctx)); len(lines) > 0 {
			return lines
		}
	}
	if mine == nil {
		return nil
	}
	return mine.lines
}

// repeatFull is the value of storage.repeat for complete files.
const repeatFull = "full"

// lastTranscript returns the file of the newest whole transcript, "" if there is
// none, among the steps from index behind on that want accepts.
func (s *session) lastTranscript(behind int, want func(*ledger.Step) bool) string {
	steps := s.snapshot()
	for k := len(steps) - 1; k >= behind; k-- {
		step := &steps[k]
		if !step.Volatile && step.Archive != "" && !record.IsOriginals(step.Archive) && want(step) {
			return step.Archive
		}
	}
	return ""
}

// placesTime limits the time for reading a transcript to avoid writing it
// again.
const placesTime = 2 * time.Second

// places reads the places of a transcript's lines, in at most half of the
// remaining time.
func (s *session) places(ctx context.Context, file string, until time.Time) []storedLine {
	end := time.Now().Add(placesTime)
	if half := time.Now().Add(time.Until(until) / 2); !until.IsZero() && half.Before(end) {
		end = half
	}
	ctx, cancel := context.WithDeadline(ctx, end)
	defer cancel()
	all, err := s.log.Places(ctx, file)
	s.isChange(err) // reported; unchanged lines can still be referred to
	out := make([]storedLine, len(all))
	for i, p := range all {
		out[i] = storedLine{span{p.Off, p.Len}, p.SHA256, p.File, p.Number}
	}
	return out
}

// knownToAll returns the places of the lines of all lanes' last transcripts and of the
// last final transcript. If this process knows no transcript, it reads the newest
// transcript of a step.
func (s *session) knownToAll(ctx context.Context, repeat string) (out []storedLine) {
	if repeat == repeatFull {
		return nil
	}
	s.mu.Lock()
	if s.final != nil {
		out = append(out, s.final.lines...)
	}
	for _, l := range s.lanes {
		if k := l.filed.Load(); k != nil {
			out = append(out, k.lines...)
		}
	}
	s.mu.Unlock()
	if len(out) > 0 {
		return out
	}
	if last := s.lastTranscript(0, func(*ledger.Step) bool { return true }); last != "" {
		return s.places(ctx, last, time.Time{})
	}
	return nil
}

func (s *session) keepFinal(k *filed) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.final = k
}

// leastStretch is the minimum size of a stretch in bytes. A shorter stretch is
// smaller than a reference to it.
const leastStretch = 512

// layOut decides for each line of a transcript whether it is written or refers to
// an earlier file, and returns the places of all lines. Lines to be written have
// no file yet.
func layOut(lines [][]redact.Text, known []storedLine) (*record.Content, stored) {
	content, out := &record.Content{}, stored{lines: make([]storedLine, len(lines))}
	for i, pieces := range lines {
		out.lines[i] = lineOf(pieces)
	}
	m := newKnownLines(known)
	for i := 0; i < len(lines); {
		run := m.run(out.lines[i:])
		if len(run) == 0 {
			l := &out.lines[i]
			l.number, l.off = content.Line(lines[i]...)
			i++
			continue
		}
		content.Same(stretchOf(run, lines[i:i+len(run)]))
		copy(out.lines[i:], run)
		i += len(run)
	}
	return content, out
}

// lineOf returns the hash and length of a line without a place.
func lineOf(pieces []redact.Text) (l storedLine) {
	h := sha256.New()
	for _, p := range pieces {
		_, _ = io.WriteString(h, p.String()) // a hash never fails
		l.len += int64(p.Len())
	}
	h.Sum(l.sum[:0])
	return l
}

// stretchOf returns the reference to consecutive lines of a file.
func stretchOf(run []storedLine, lines [][]redact.Text) record.Stretch {
	h := sha256.New()
	for _, pieces := range lines {
		for _, p := range pieces {
			_, _ = io.WriteString(h, p.String())
		}
		_, _ = io.WriteString(h, "\n")
	}
	first, last := run[0], run[len(run)-1]
	return record.Stretch{
		From: first.file, First: first.number, Lines: len(run),
		Off: first.off, Len: last.off + last.len + 1 - first.off, SHA256: hex.EncodeToString(h.Sum(nil)),
	}
}

// knownLines finds lines among known ones.
type knownLines struct {
	all  []storedLine
	at   map[[sha256.Size]byte]int
	next int // likely index of the next line
}

func newKnownLines(known []storedLine) *knownLines {
	m := &knownLines{all: known, at: make(map[[sha256.Size]byte]int, len(known))}
	for i := len(known) - 1; i >= 0; i-- {
		m.at[known[i].sum] = i
	}
	return m
}

// run returns the places of the next lines as far as they are consecutive in one
// file, and nothing if they are too short for a reference.
func (m *knownLines) run(lines []storedLine) (run []storedLine) {
	size, next := int64(0), m.next
	for _, l := range lines {
		k, ok := next, next < len(m.all) && m.all[next].sum == l.sum
		if !ok {
			k, ok = m.at[l.sum]
		}
		if !ok || len(run) > 0 && !run[len(run)-1].leadsTo(&m.all[k]) || size+l.len+1 > record.MaxStretch {
			break
		}
		run, size, next = append(run, m.all[k]), size+l.len+1, k+1
	}
	if size < leastStretch {
		return nil
	}
	m.next = next
	return run
}

// leadsTo reports whether next is the line after this one in its file.
func (l *storedLine) leadsTo(next *storedLine) bool {
	return next.file == l.file && next.number == l.number+1 && next.off == l.off+l.len+1
}
