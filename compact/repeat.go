package compact

import (
	"crypto/sha256"
	"encoding/hex"
	"io"

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

// repeatFull is the value of storage.repeat for complete files.
const repeatFull = "full"

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

// lineOf returns a line with its hash and length, and without a place.
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
	if run[0].file == record.EditsFile {
		return run[0].inLog()
	}
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

// inLog returns the reference to an original in edits.jsonl, whose range has no line feed.
func (l *storedLine) inLog() record.Stretch {
	return record.Stretch{From: l.file, First: l.number, Lines: 1, Off: l.off, Len: l.len, SHA256: hex.EncodeToString(l.sum[:])}
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

// leadsTo reports whether next is the line after this one in its file. Between two originals of
// a log are other bytes.
func (l *storedLine) leadsTo(next *storedLine) bool {
	return next.file == l.file && next.number == l.number+1 && next.off == l.off+l.len+1
}
