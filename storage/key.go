package storage

import (
	"fmt"
	"strings"
)

const (
	maxSegmentBytes = 200 // below the limit of every file system and S3-compatible server
	maxKeyBytes     = 600 // leaves room for a prefix within S3's 1,024
)

// Key names one file of an archive, or a folder for [Archive.List]. Its form is
// session/file, in characters that mean the same on every file system and in
// every bucket: lower-case letters, digits and - _ . % ~ + in segments divided
// by slashes. So no key can leave the archive's root, and no two keys share a
// file on systems that ignore case.
//
// Only [ParseKey], [SessionKey] and [Prefix] make one. The zero Key stands for
// the whole archive, and is valid for List only. Keys are comparable.
type Key struct{ s string }

// A KeyError is the reason why a text is not a key.
type KeyError struct {
	Text   string // as it was given
	Reason string
}

// Error quotes at most 80 bytes of the text.
func (e *KeyError) Error() string {
	return fmt.Sprintf("storage: %s is no key: %s", quoteShort(e.Text), e.Reason)
}

// ParseKey parses the output of [Key.String]. It returns a [*KeyError] for
// anything else: empty, absolute, with "..", with upper case, with NUL or any
// other character outside of the set, too long, or a name that some system
// reserves.
func ParseKey(s string) (Key, error) {
	if s == "" {
		return Key{}, &KeyError{s, "it is empty"}
	}
	if len(s) > maxKeyBytes {
		return Key{}, &KeyError{s, fmt.Sprintf("it is longer than %d bytes", maxKeyBytes)}
	}
	for seg := range strings.SplitSeq(s, "/") {
		if reason := checkSegment(seg); reason != "" {
			return Key{}, &KeyError{s, reason}
		}
	}
	return Key{s}, nil
}

// SessionKey returns the key of a file of a session. The session id may be any
// non-empty text ([EscapeSession]); file is one segment of a key.
func SessionKey(session, file string) (Key, error) {
	dir, err := Prefix(session)
	if err != nil {
		return Key{}, err
	}
	if reason := checkSegment(file); reason != "" {
		return Key{}, &KeyError{file, reason}
	}
	return dir.child(file), nil
}

// Prefix returns the key of a session's folder, for List. The session id may be
// any non-empty text.
func Prefix(session string) (Key, error) {
	if session == "" {
		return Key{}, &KeyError{session, "the session id is empty"}
	}
	return Key{EscapeSession(session)}, nil
}

// String returns the key as text, "" for the zero Key.
func (k Key) String() string { return k.s }

// IsZero reports whether k is the zero Key.
func (k Key) IsZero() bool { return k.s == "" }

// Dir returns the first segment: the session's folder.
func (k Key) Dir() string {
	dir, _, _ := strings.Cut(k.s, "/")
	return dir
}

// Base returns the last segment: the name of the file.
func (k Key) Base() string { return k.s[strings.LastIndexByte(k.s, '/')+1:] }

// Has reports whether k is prefix or lies below it. Everything lies below
// the zero Key; "a/bc" does not lie below "a/b".
func (k Key) Has(prefix Key) bool {
	if prefix.IsZero() || k == prefix {
		return true
	}
	return len(k.s) > len(prefix.s) && k.s[len(prefix.s)] == '/' && strings.HasPrefix(k.s, prefix.s)
}

// child returns the key of a name below k. The name must be valid; it is not
// checked.
func (k Key) child(name string) Key {
	if k.IsZero() {
		return Key{name}
	}
	return Key{k.s + "/" + name}
}

// checkSegment returns why seg cannot be a segment of a key, or "".
func checkSegment(seg string) string {
	switch {
	case seg == "":
		return "a segment is empty"
	case len(seg) > maxSegmentBytes:
		return fmt.Sprintf("a segment is longer than %d bytes", maxSegmentBytes)
	case seg[0] == '.':
		return "a segment begins with a dot"
	case seg[len(seg)-1] == '.':
		return "a segment ends with a dot"
	case isDeviceName(seg):
		return "a segment is a device on some systems"
	}
	for i := range len(seg) {
		if !keyByte(seg[i]) {
			return fmt.Sprintf("byte %#02x is not allowed", seg[i])
		}
	}
	return ""
}

func keyByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || strings.IndexByte("-_.%~+", c) >= 0
}

func quoteShort(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
