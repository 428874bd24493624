package storage

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/storage/internal/segment"
	"github.com/agentcompact/compact/storage/internal/unchecked"
)

// Key names one file of an archive, or a folder for [Archive.List]. Its form is
// session/file, in characters that mean the same on every file system and in
// every bucket: lower-case letters, digits and - _ . % ~ + in segments divided
// by slashes. So no key can leave the archive's root, and no two keys share a
// file on systems that ignore case.
//
// Only [ParseKey] makes keys; package storage/record also makes the keys of the files of
// sessions. The zero Key stands for the whole archive, and is valid for List only. Keys
// are comparable.
type Key struct{ s string }

func init() { unchecked.Key = func(text string) any { return Key{text} } }

// A KeyError is the reason why a text is not a key.
type KeyError struct {
	Text   string // the given text
	Reason string
}

// Error quotes at most 80 bytes of the text.
func (e *KeyError) Error() string {
	return fmt.Sprintf("storage: %s is not a key: %s", segment.Quote(e.Text), e.Reason)
}

// ParseKey parses the output of [Key.String]. It returns a [*KeyError] for
// anything else: empty, absolute, with "..", with upper case, with NUL or any
// other character outside of the set, too long, or a name that some system
// reserves.
func ParseKey(s string) (Key, error) {
	if s == "" {
		return Key{}, &KeyError{s, "it is empty"}
	}
	if len(s) > segment.MaxKey {
		return Key{}, &KeyError{s, fmt.Sprintf("it is longer than %d bytes", segment.MaxKey)}
	}
	for seg := range strings.SplitSeq(s, "/") {
		if reason := segment.Check(seg); reason != "" {
			return Key{}, &KeyError{s, reason}
		}
	}
	return Key{s}, nil
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
