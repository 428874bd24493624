package record

import (
	"bytes"
	"cmp"
	"context"
	"maps"
	"slices"

	"github.com/agentcompact/compact/storage"
)

// logCheck checks a log, and reports where it was changed.
type logCheck struct {
	v    *verifier
	name string
	each func(number int, body []byte, hash string) // called for each record

	number int    // number of the physical line
	seq    int64  // seq of the last line in order
	last   int    // line number of the last line in order
	head   string // hash of the last line in order
	end    int64  // offset after the last line that was read
	junk   []byte // bytes after end that are not a line
	first  int    // number of the first line of junk
	// otherSeq and otherHead belong to the last line that was out of order. If the next line
	// continues that line, checking continues from there.
	otherSeq  int64
	otherHead string
	missing   map[int64]int // missing seq → number of the line that revealed it
	marks     []logMark
	lines     int64 // number of lines in the manifest's marks
	marked    int64 // end of the last mark
	unmarked  int   // number of lines after it, without the lines of a scrub
	broken    bool  // a problem was found
}

// logMark is a mark of a log in the manifest.
type logMark struct {
	end   int64
	head  string
	lines int64
}

// checkLog checks the log called name.
func (v *verifier) checkLog(ctx context.Context, name string, marks []logMark, each func(int, []byte, string)) error {
	slices.SortFunc(marks, func(x, y logMark) int { return cmp.Compare(x.end, y.end) })
	key := child(v.dir, name)
	c := &logCheck{v: v, name: name, each: each, head: genesis(key), missing: map[int64]int{}, marks: marks}
	for _, m := range marks {
		c.lines, c.marked = max(c.lines, m.lines), max(c.marked, m.end)
	}
	err := eachLineOf(ctx, v.a, key, 0, func(l rawLine) error {
		v.progress(l.next() - l.off)
		if len(c.junk)+len(l.text) > maxLineBytes {
			return storage.ErrDamaged
		}
		c.line(l)
		return nil
	})
	if err != nil {
		return v.unreadable(ctx, name, err)
	}
	c.finish()
	return nil
}

func (c *logCheck) problem(kind ProblemKind, line int, format string, args ...any) {
	c.broken = true
	c.v.problem(kind, c.name, line, format, args...)
}

// begin records the format version of a log's first line.
func (c *logCheck) begin(first linked) {
	key := child(c.v.dir, c.name)
	if v := versionOf(first.prev, key); v > 0 {
		c.head = genesisOf(v, key)
		if c.name == manifestName {
			c.v.report.Version = v
		}
	}
}

func (c *logCheck) line(l rawLine) {
	c.number++
	link, ok := parseLink(l.text)
	if !ok {
		if len(c.junk) == 0 {
			c.first = c.number
		}
		c.junk = append(c.junk, l.text...)
		if l.ended {
			c.junk = append(c.junk, '\n')
		}
		return
	}
	hash := hashOf(l.text)
	if c.last == 0 && link.seq == 1 {
		c.begin(link)
	}
	if len(c.junk) > 0 {
		c.closeJunk(link)
	}
	if c.inOrder(link, hash) {
		c.seq, c.last, c.head = link.seq, c.number, hash
	}
	c.end, c.junk = l.next(), nil
	if body := link.body(); c.end > c.marked+1 && fenceOf(body) == (fence{}) && string(body) != scrubMark {
		c.unmarked++
	}
	c.passMarks()
	if c.each != nil {
		c.each(c.number, link.body(), hash)
	}
}

// closeJunk checks the bytes between the last line and this one. If this line is a torn
// line for these bytes, a crash left them.
func (c *logCheck) closeJunk(next linked) {
	t, ok := next.torn()
	if ok && t.covers(c.junk) && next.prev == c.head {
		c.v.note("%s: line %d: %d bytes of a line that a crash cut off", c.name, c.first, len(c.junk))
		return
	}
	if next.seq == c.seq+1 && next.prev == c.head {
		c.problem(Added, c.first, "no session wrote this")
		return
	}
	c.problem(Changed, c.first, "this is not a line of a log")
	c.seq, c.head = next.seq-1, next.prev // the replaced line
}

// inOrder reports whether checking continues from a line, and reports a problem
// if the line does not follow the previous one.
func (c *logCheck) inOrder(l linked, hash string) bool {
	switch {
	case l.seq == c.seq+1 && l.prev == c.head:
		return true
	case c.otherHead != "" && l.prev == c.otherHead && l.seq == c.otherSeq+1:
		c.otherHead = ""
		return true
	case l.seq == c.seq+1 && c.last == 0:
		c.problem(Changed, c.number, "the first line does not belong to this log of this session")
		return true
	case l.seq == c.seq+1:
		c.problem(Changed, c.last, "the next line does not hold its hash")
		return true
	case l.seq > c.seq+1:
		for n := c.seq + 1; n < l.seq && len(c.missing) < maxMissing; n++ {
			c.missing[n] = c.number
		}
		return true
	}
	if _, ok := c.missing[l.seq]; ok {
		delete(c.missing, l.seq)
		c.problem(Reordered, c.number, "this was line %d", l.seq)
	} else {
		c.problem(Added, c.number, "there is a line %d already", l.seq)
	}
	c.otherSeq, c.otherHead = l.seq, hash
	return false
}

// maxMissing limits the memory that a forged number can cause.
const maxMissing = 100_000

// passMarks checks the marks of the log up to the current line. After a problem, offsets
// are not compared.
func (c *logCheck) passMarks() {
	for len(c.marks) > 0 && c.marks[0].end <= c.end {
		if m := c.marks[0]; !c.broken && len(c.missing) == 0 && (m.end < c.end || m.head != c.head) {
			c.problem(Changed, c.number, "the manifest records another log up to byte %d", m.end)
		}
		c.marks = c.marks[1:]
	}
}

// endMarks checks the marks after the end of the log. No line is missing, so the last
// line must have become shorter. Only its line feed may be missing.
func (c *logCheck) endMarks() {
	if c.broken || len(c.missing) > 0 || len(c.marks) == 0 {
		return
	}
	if m := c.marks[len(c.marks)-1]; m.end > c.end+1 || m.head != c.head {
		c.problem(Changed, c.number, "the manifest records another log up to byte %d", m.end)
	}
}

func (c *logCheck) finish() {
	for _, seq := range slices.Sorted(maps.Keys(c.missing)) {
		c.problem(Removed, c.missing[seq], "line %d, which was before this one, is gone", seq)
	}
	if c.seq < c.lines {
		c.problem(Truncated, 0, "it ends with line %d, the manifest records line %d", c.seq, c.lines)
		return
	}
	c.endMarks()
	if c.unmarked > 0 && c.name != manifestName && len(c.v.heads) > 0 { // a log of a session
		c.v.note("%s: lines may be missing at its end, or added by somebody else: the manifest confirms %d lines and none of the %d after them, because its agent is running or was killed", c.name, c.lines, c.unmarked)
		c.v.unmarked = true
	}
	c.finishJunk()
}

// finishJunk reports bytes after the last line. A crash can leave them, and so can anybody
// who can write to the archive; the next writer accounts for them (see tornBody).
func (c *logCheck) finishJunk() {
	n := len(c.junk)
	switch {
	case n == 0:
		return
	case bytes.IndexByte(c.junk, '\n') >= 0:
		c.v.note("%s: its last %d bytes are not a line of this log: a crash or a person left them", c.name, n)
	default:
		c.v.note("%s: its last %d bytes are an incomplete line: a crash or a person cut it off", c.name, n)
	}
	c.v.unmarked = true
}
