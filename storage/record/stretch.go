package record

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/segment"
)

// A Stretch is a range of consecutive lines in a file of the session. A
// transcript that repeats these lines refers to them with a line such as
//
//	{"from":"transcript-pre-compact-001.jsonl","lines":[1,412],"at":[0,482113],"sha256":"…"}
//
// The file holds the lines themselves: a stretch never refers to another
// stretch. A stretch of edits.jsonl is one original ([Original]): Off and Len are the range
// of the message within its line, without a line feed.
type Stretch struct {
	From     string // name of the file in the session's folder
	First    int    // number of the first line in the file, from 1
	Lines    int    // 1 for edits.jsonl
	Off, Len int64  // range of the lines in the file, with line feeds; Len is at most [MaxStretch]
	SHA256   string // of these bytes, in lower-case hex
}

// MaxStretch is the maximum number of bytes of a [Stretch], because a reader holds
// all of them in memory.
const MaxStretch = 16 << 20

// stretchStart is the beginning of a stretch's line, and maxStretchLine its maximum
// length. A message has other members (such as "meta"), so it is never a stretch.
const (
	stretchStart   = `{"from":"`
	maxStretchLine = 1 << 10
)

// stretchLine is the written form of a stretch.
type stretchLine struct {
	From   string   `json:"from"`
	Lines  [2]int   `json:"lines"` // numbers of the first and the last
	At     [2]int64 `json:"at"`    // offset and bytes
	SHA256 string   `json:"sha256"`
}

func (st Stretch) line() string {
	b, _ := json.Marshal(stretchLine{st.From, [2]int{st.First, st.First + st.Lines - 1}, [2]int64{st.Off, st.Len}, st.SHA256}) // never fails
	return string(b)
}

// parseStretch parses the line of a stretch. It accepts only the exact bytes that
// line returns.
func parseStretch(line []byte) (Stretch, bool) {
	if len(line) > maxStretchLine || !bytes.HasPrefix(line, []byte(stretchStart)) {
		return Stretch{}, false
	}
	var l stretchLine
	if json.Unmarshal(line, &l) != nil {
		return Stretch{}, false
	}
	st := Stretch{l.From, l.Lines[0], l.Lines[1] - l.Lines[0] + 1, l.At[0], l.At[1], l.SHA256}
	return st, st.valid() && st.line() == string(line)
}

func (st Stretch) valid() bool {
	return (HasMessages(st.From) || st.inLog() && st.Lines == 1) && segment.Check(st.From) == "" && st.First > 0 && st.Lines > 0 &&
		st.Off >= 0 && st.Len >= int64(st.Lines) && st.Len <= MaxStretch && isHash(st.SHA256)
}

// inLog reports whether the stretch is an original in a line of edits.jsonl.
func (st Stretch) inLog() bool { return st.From == editsName }

// HasMessages reports whether each line of a file is a message, or a reference to
// lines of earlier files ([Session.Whole]): transcripts and originals.
func HasMessages(name string) bool {
	return hasKind(name, transcriptKind) || hasKind(name, finalKind) || hasKind(name, originalsKind)
}

// Content is a transcript to be stored. The zero Content is empty.
type Content struct {
	parts []string
	size  int64
	lines int
	err   error
}

// contentOf returns a Content with these lines.
func contentOf(lines []redact.Text) *Content {
	c := &Content{parts: make([]string, 0, 2*len(lines))}
	for _, l := range lines {
		c.Line(l)
	}
	return c
}

// Line adds a line, given in pieces, and returns its number, from 1, and its offset
// in bytes. If the line contains a line feed, has the form of a stretch, or has more
// than 512 MiB, storing the Content fails with [ErrLine].
func (c *Content) Line(pieces ...redact.Text) (number int, off int64) {
	from, off := len(c.parts), c.size
	for _, p := range pieces {
		if strings.IndexByte(p.String(), '\n') >= 0 {
			c.err = ErrLine
		}
		c.add(p.String())
	}
	if isStretch(c.parts[from:]) {
		c.err = ErrLine
	}
	if c.size-off > maxMessageBytes {
		c.err = errTooLong
	}
	c.end()
	return c.lines, off
}

func (c *Content) add(piece string) {
	c.parts = append(c.parts, piece)
	c.size += int64(len(piece))
}

func (c *Content) end() {
	c.add("\n")
	c.lines++
}

// isStretch reports whether the pieces of a line have the form of a stretch.
func isStretch(pieces []string) bool {
	if len(pieces) > 0 && len(pieces[0]) >= len(stretchStart) && !strings.HasPrefix(pieces[0], stretchStart) {
		return false
	}
	size := 0
	for _, p := range pieces {
		if size += len(p); size > maxStretchLine {
			return false
		}
	}
	_, ok := parseStretch([]byte(strings.Join(pieces, "")))
	return ok
}

// Same adds a reference to stored lines of the session. With an invalid [Stretch],
// storing the Content fails with [ErrLine].
func (c *Content) Same(st Stretch) {
	if !st.valid() {
		c.err = ErrLine
	}
	c.add(st.line())
	c.end()
}

// Size returns the current number of bytes.
func (c *Content) Size() int64 { return c.size }

func (c *Content) blob() (storage.Blob, error) {
	if c.err != nil {
		return storage.Blob{}, c.err
	}
	return blobOf(c.parts...), nil
}
