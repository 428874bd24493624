package record

import (
	"bytes"
	"context"
	"crypto/sha256"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/redact"
)

// The bodies of edits.jsonl: the original of a changed message is the value of the
// only member of its line, so that the message is a range of the file, like a line of a
// transcript. Later transcripts can therefore refer to it ([Stretch]).
const (
	originalStart = `{"original":`
	originalEnd   = `}`
	editStart     = `{"edit":`
)

// Original returns the line of [Session.Edits] for a message in the form of a line of a
// transcript.
func Original(line redact.Text) redact.Text {
	return redact.Join(redact.Lit(originalStart), line, redact.Lit(originalEnd))
}

// Original returns the message in the line, which is the original of a change, and its
// offset in the file. It returns false for a line that describes changes. In a line of an
// earlier build the message is the body itself, which is no range of the file: its offset
// is 0.
func (l *EditsLine) Original() (line []byte, off int64, ok bool) {
	line, ok = originalOf(l.Body)
	if ok && len(line) < len(l.Body) {
		off = l.end - int64(len(line)+len(originalEnd))
	}
	return line, off, ok
}

// originalOf returns the original in the body of a line of edits.jsonl.
func originalOf(body []byte) (line []byte, ok bool) {
	if bytes.HasPrefix(body, []byte(editStart)) {
		return nil, false
	}
	if !bytes.HasPrefix(body, []byte(originalStart)) {
		return body, true
	}
	at, err := jsonscan.Value(body, len(originalStart))
	if err != nil || at.End != len(body)-len(originalEnd) || body[at.Start] != '{' {
		return body, true
	}
	return at.Of(body), true
}

// An OriginalAt is the place of an original in edits.jsonl.
type OriginalAt struct {
	Line int64 // its number, from 1
	Off  int64 // offset of the message, which is followed by one byte of its line
}

// originalsAt returns the places of the originals among lines of edits.jsonl that end
// at an offset, the last line with the number seq.
func originalsAt(lines []redact.Text, seq, end int64) (out []OriginalAt) {
	for i := len(lines) - 1; i >= 0; i-- {
		body := lines[i].String()
		end--                                       // the line feed
		if strings.HasPrefix(body, originalStart) { // it comes from [Original]
			out = append(out, OriginalAt{seq, end - int64(len(body)-len(originalStart))})
		}
		end -= int64(linkLen(seq) + len(body))
		seq--
	}
	slices.Reverse(out)
	return out
}

// originalSums adds the hashes of the originals in edits.jsonl, by offset. It leaves out lines
// that the chain shows to be changed.
func (s *Session) originalSums(ctx context.Context, sums map[int64][sha256.Size]byte) error {
	for l, err := range s.EditsLines(ctx, 0) {
		if err != nil {
			return err
		}
		if line, off, ok := l.Original(); ok && off > 0 && !l.Changed {
			sums[off] = sha256.Sum256(line)
		}
	}
	return nil
}

// message returns the message in a line of a file, with its offset: in edits.jsonl the
// original, in other files the line. Without one, text is nil.
func (l rawLine) message(file string) rawLine {
	if file != editsName {
		return l
	}
	link, ok := parseLink(l.text)
	if !ok {
		return rawLine{}
	}
	e := EditsLine{Body: link.body(), end: l.off + int64(len(l.text))}
	text, off, _ := e.Original()
	if off == 0 {
		return rawLine{}
	}
	return rawLine{off: off, text: text}
}
