package record

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/storage"
)

// Each line of a log (manifest, events, journal) is one JSON object. This package adds
// two members before the object's own, always in this form, so that the original can be
// restored byte for byte:
//
//	{"seq":3,"prev":"<64 hex digits>",…
//
// seq counts the lines from 1. prev is the SHA-256 of the previous line,
// without its line feed; in the first line it is [genesis], which binds the log
// to its session and name.
const (
	linkSeq  = `{"seq":`
	linkPrev = `,"prev":"`
	linkEnd  = `"`
)

// FormatVersion is the version of the written format. Version 1 can be read: its
// fingerprints have no key, and none of its files refers to lines of another file.
const FormatVersion = 2

// genesis returns the prev of the first line of a log.
func genesis(k storage.Key) string { return genesisOf(FormatVersion, k) }

func genesisOf(version int, k storage.Key) string {
	return hashOf([]byte("compact archive v" + strconv.Itoa(version) + "\n" + k.String()))
}

// versionOf returns the version of a log whose first line has this prev; 0 if it
// is not the first line of a log with this name.
func versionOf(prev string, k storage.Key) int {
	for v := FormatVersion; v > 0; v-- {
		if prev == genesisOf(v, k) {
			return v
		}
	}
	return 0
}

func hashOf(b []byte) string {
	sum := sha256.Sum256(b)
	return hex.EncodeToString(sum[:])
}

// MaxLogLine is the maximum size of a line for [Session.Events], [Session.Journal] and
// [Session.Edits].
const MaxLogLine = maxLineBytes / 2

// errTooLong means that the line could not be read back.
var errTooLong = fmt.Errorf("%w that can be read back: it is too long", ErrLine)

// checkBody returns an error for a body that can't be a line of a log: it must be one
// JSON object on one line, and short enough to be read back.
func checkBody(body string) error {
	if len(body) > MaxLogLine {
		return errTooLong
	}
	if body == "" || body[0] != '{' || strings.IndexByte(body, '\n') >= 0 || jsonscan.Check([]byte(body)) != nil {
		return ErrLine
	}
	return nil
}

// link inserts seq and prev before the members of body.
func link(seq int64, prev, body string) string {
	head := linkSeq + strconv.FormatInt(seq, 10) + linkPrev + prev + linkEnd
	if strings.HasPrefix(strings.TrimLeft(body[1:], " \t\r"), "}") {
		return head + body[1:]
	}
	return head + "," + body[1:]
}

// linkLen returns the number of bytes by which link makes a body with members longer.
func linkLen(seq int64) int {
	return len(linkSeq) + len(strconv.FormatInt(seq, 10)) + len(linkPrev) + hashLen + len(linkEnd)
}

// linked is a parsed line of a log.
type linked struct {
	seq  int64
	prev string
	tail []byte // the rest of the line after prev
}

// parseLink parses a line of a log. It returns false for an incomplete or
// foreign line.
func parseLink(line []byte) (linked, bool) {
	rest, ok := bytes.CutPrefix(line, []byte(linkSeq))
	if !ok {
		return linked{}, false
	}
	digits, rest, ok := bytes.Cut(rest, []byte(linkPrev))
	if !ok || len(digits) == 0 || digits[0] < '1' || digits[0] > '9' {
		return linked{}, false
	}
	seq, err := strconv.ParseInt(string(digits), 10, 64)
	if err != nil || len(rest) <= hashLen+len(linkEnd) {
		return linked{}, false
	}
	prev, tail := string(rest[:hashLen]), rest[hashLen:]
	if !isHash(prev) || !bytes.HasPrefix(tail, []byte(linkEnd)) || jsonscan.Check(line) != nil {
		return linked{}, false
	}
	return linked{seq, prev, tail[len(linkEnd):]}, true
}

// body returns the original object, byte for byte.
func (l linked) body() []byte {
	return append([]byte("{"), bytes.TrimPrefix(l.tail, []byte(","))...)
}

// torn is the line that a writer puts after an incomplete line that a crash left at the
// end of a log. It holds the length and the hash of the incomplete line, so that a later
// change of that line is detected.
type torn struct {
	Bytes  int64  `json:"bytes"`
	SHA256 string `json:"sha256"`
}

const (
	tornStart  = `,"torn":{`
	tornObject = `{"torn":{` // the beginning of the body
)

func tornBody(region []byte) string {
	b, _ := json.Marshal(map[string]torn{"torn": {int64(len(region)), hashOf(region)}}) // never fails
	return string(b)
}

// torn returns the content of a torn line.
func (l linked) torn() (torn, bool) {
	if !bytes.HasPrefix(l.tail, []byte(tornStart)) {
		return torn{}, false
	}
	var v struct{ Torn torn }
	if err := json.Unmarshal(l.body(), &v); err != nil {
		return torn{}, false
	}
	return v.Torn, v.Torn.Bytes > 0
}

// covers reports whether t describes region.
func (t torn) covers(region []byte) bool {
	return t.Bytes == int64(len(region)) && t.SHA256 == hashOf(region)
}
