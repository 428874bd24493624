// Package segment defines the valid segments of a key, and the maximum length
// of a key.
package segment

import (
	"fmt"
	"strings"
)

// MaxKey is the maximum number of bytes of a key. It leaves room for a prefix
// within S3's 1,024.
const MaxKey = 600

const maxBytes = 200 // below the limit of every file system and S3-compatible server

// Check returns the reason why seg cannot be a segment of a key, or "".
func Check(seg string) string {
	switch {
	case seg == "":
		return "a segment is empty"
	case len(seg) > maxBytes:
		return fmt.Sprintf("a segment is longer than %d bytes", maxBytes)
	case seg[0] == '.':
		return "a segment begins with a dot"
	case seg[len(seg)-1] == '.':
		return "a segment ends with a dot"
	case IsDevice(seg):
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

// IsDevice reports whether a name is a device on Windows, with any extension.
func IsDevice(name string) bool {
	stem, _, _ := strings.Cut(name, ".")
	switch stem {
	case "con", "prn", "aux", "nul":
		return true
	}
	if len(stem) != 4 || stem[3] < '0' || stem[3] > '9' {
		return false
	}
	return stem[:3] == "com" || stem[:3] == "lpt"
}

// Quote quotes at most 80 bytes of a text.
func Quote(s string) string {
	const most = 80
	if len(s) > most {
		return fmt.Sprintf("%q…", s[:most])
	}
	return fmt.Sprintf("%q", s)
}
