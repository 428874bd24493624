package record

import (
	"crypto/sha256"
	"encoding/hex"
	"strings"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/internal/segment"
)

const (
	// maxFolderBytes limits the name of a session's folder. A longer name is
	// cut and ends in "~" and the hash of the whole id.
	maxFolderBytes = 120
	hashMark       = '~'
)

// SessionKey returns the key of a file of a session. The session id may be any
// non-empty text ([EscapeSession]); file is one segment of a key.
func SessionKey(session, file string) (storage.Key, error) {
	dir, err := Prefix(session)
	if err != nil {
		return storage.Key{}, err
	}
	if reason := segment.Check(file); reason != "" {
		return storage.Key{}, &storage.KeyError{Text: file, Reason: reason}
	}
	return child(dir, file), nil
}

// Prefix returns the key of a session's folder, for List. The session id may be
// any non-empty text.
func Prefix(session string) (storage.Key, error) {
	if session == "" {
		return storage.Key{}, &storage.KeyError{Text: session, Reason: "the session id is empty"}
	}
	return keyOf(EscapeSession(session)), nil
}

// EscapeSession returns the name of the folder of a session. Lower-case
// letters, digits, '-', '_' and '.' stay. Every other byte becomes %xx, and so
// do characters that some systems do not allow at their position: a leading
// '-', '_' or '.', a trailing '.', and the first letter of a name that is a
// device on some systems. An escaped id above 120 bytes is cut and ends in "~"
// and its SHA-256.
//
// Two ids never share a folder, not even on systems that ignore case. The empty
// id has no folder; its escape is "".
func EscapeSession(id string) string {
	var b strings.Builder
	device := segment.IsDevice(id)
	for i := range len(id) {
		if staysInFolder(id, i) && (i > 0 || !device) {
			b.WriteByte(id[i])
		} else {
			writeEscape(&b, id[i])
		}
	}
	if b.Len() <= maxFolderBytes {
		return b.String()
	}
	sum := sha256.Sum256([]byte(id))
	hash := hex.EncodeToString(sum[:])
	return cutEscaped(b.String(), maxFolderBytes-1-len(hash)) + string(hashMark) + hash
}

// UnescapeSession returns the session id of a folder. It returns false for a
// name that [EscapeSession] does not make, and for a cut name, which does not
// determine the id.
func UnescapeSession(dir string) (string, bool) {
	if dir == "" || strings.IndexByte(dir, hashMark) >= 0 {
		return "", false
	}
	var b strings.Builder
	for i := 0; i < len(dir); i++ {
		if dir[i] != '%' {
			b.WriteByte(dir[i])
			continue
		}
		if i+2 >= len(dir) {
			return "", false
		}
		raw, err := hex.DecodeString(dir[i+1 : i+3])
		if err != nil {
			return "", false
		}
		b.WriteByte(raw[0])
		i += 2
	}
	id := b.String()
	return id, EscapeSession(id) == dir
}

// IsFolder reports whether dir is a valid name for the folder of a session.
func IsFolder(dir string) bool {
	if _, ok := UnescapeSession(dir); ok {
		return true
	}
	i := strings.IndexByte(dir, hashMark)
	return i > 0 && len(dir) <= maxFolderBytes && isHash(dir[i+1:])
}

func staysInFolder(id string, i int) bool {
	c := id[i]
	switch {
	case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
		return true
	case c == '-' || c == '_':
		return i > 0
	case c == '.':
		return i > 0 && i < len(id)-1
	}
	return false
}

func writeEscape(b *strings.Builder, c byte) {
	const digits = "0123456789abcdef"
	b.WriteByte('%')
	b.WriteByte(digits[c>>4])
	b.WriteByte(digits[c&15])
}

// cutEscaped cuts s to at most n bytes, never inside a %xx.
func cutEscaped(s string, n int) string {
	s = s[:n]
	if i := strings.LastIndexByte(s, '%'); i >= 0 && i > n-3 {
		s = s[:i]
	}
	return s
}

// hashLen is the length of a SHA-256 in hex.
const hashLen = 2 * sha256.Size

// isHash reports whether s is a SHA-256 in lower-case hex.
func isHash(s string) bool {
	if len(s) != hashLen {
		return false
	}
	for i := range len(s) {
		if !isHexDigit(s[i]) {
			return false
		}
	}
	return true
}

// isHexDigit reports whether c is a digit in lower-case hex.
func isHexDigit(c byte) bool { return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' }
