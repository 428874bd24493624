package redact

import (
	"encoding/base64"
	"strings"
	"unicode/utf8"
)

// profile counts the kinds of characters in a value.
type profile struct {
	lower, upper, letters, digits int
	joints                        int // _ - . which join words
	blanks                        int
	foreign                       int // bytes of letters beyond ASCII
	symbols                       int // all other characters
	turns                         int // changes between lower case, upper case and digits
}

func profileOf(s string) profile {
	var p profile
	last := 0
	for i := range len(s) {
		class := 0
		switch c := s[i]; {
		case isLower(c):
			p.lower++
			class = 1
		case isUpper(c):
			p.upper++
			class = 2
		case isDigit(c):
			p.digits++
			class = 3
		case c == '_' || c == '-' || c == '.':
			p.joints++
		case isSpace(c):
			p.blanks++
		case c >= utf8.RuneSelf:
			p.foreign++
		default:
			p.symbols++
		}
		if class != last && class != 0 && last != 0 {
			p.turns++
		}
		last = class
	}
	p.letters = p.lower + p.upper
	return p
}

// looksRandom reports whether s looks generated: long, with mixed letters and
// digits, and not a UUID or a digest, which must stay.
func looksRandom(s string) bool {
	p := profileOf(s)
	if len(s) < 16 || p.blanks > 0 || p.digits < 2 || p.letters < 2 || hasUUID(s) || isDigest(s) {
		return false
	}
	return p.turns*5 >= len(s) && distinct(s) >= 8
}

// isEncodedText reports whether s is printable text in base64.
func isEncodedText(s string) bool {
	raw, err := base64.StdEncoding.DecodeString(s)
	if err != nil {
		return false
	}
	for _, c := range raw {
		if c < ' ' || c > '~' {
			return false
		}
	}
	return true
}

// isPairOf reports whether s is itself an assignment, as in a cookie.
func isPairOf(s string) bool {
	i := run(s, 0, maxName, isNameByte)
	return i > 0 && i+1 < len(s) && s[i] == '=' && s[i+1] != '='
}

// distinct counts the different bytes of s.
func distinct(s string) int {
	var seen [256]bool
	n := 0
	for i := range len(s) {
		if !seen[s[i]] {
			seen[s[i]] = true
			n++
		}
	}
	return n
}

// hasUUID reports whether s is a UUID, or begins or ends with one.
func hasUUID(s string) bool {
	return len(s) >= 36 && (isUUID(s[:36]) || isUUID(s[len(s)-36:]))
}

// isUUID reports whether s has the form 8-4-4-4-12.
func isUUID(s string) bool {
	if len(s) != 36 {
		return false
	}
	for i := range len(s) {
		if i == 8 || i == 13 || i == 18 || i == 23 {
			if s[i] != '-' {
				return false
			}
		} else if !isHex(s[i]) {
			return false
		}
	}
	return true
}

// isDigest reports whether s has the form of a git or integrity hash.
func isDigest(s string) bool {
	if strings.HasPrefix(s, "sha1-") || strings.HasPrefix(s, "sha256-") || strings.HasPrefix(s, "sha384-") || strings.HasPrefix(s, "sha512-") || strings.HasPrefix(s, "sha256:") {
		return true
	}
	switch len(s) {
	case 32, 40, 56, 64, 96, 128:
		return run(s, 0, len(s), isHex) == len(s)
	}
	return false
}

// isNumbered reports whether s consists of words followed by a number: token2,
// my-key-01, part_3.
func isNumbered(s string) bool {
	end := len(s)
	for end > 0 && isDigit(s[end-1]) {
		end--
	}
	if len(s)-end > 4 || end == len(s) || end == 0 {
		return false
	}
	p := profileOf(s[:end])
	if isGibberish(s[:end], 10) {
		return false
	}
	return p.digits == 0 && p.symbols == 0 && (p.upper == 0 || p.lower == 0 || p.turns*4 < end)
}

// isWords reports whether s is three or more words joined by - _ . or /. Some of them may
// be short numbers: e2e-test-secret-do-not-use.
func isWords(s string) bool {
	parts := 0
	for i := 0; i < len(s); {
		j := run(s, i, len(s), isAlnum)
		if part := s[i:j]; !isIdentifier(part) && len(part) > 4 {
			return false
		}
		if j < len(s) && strings.IndexByte("-_./ ", s[j]) < 0 {
			return false
		}
		parts++
		i = j + 1
	}
	return parts >= 3
}

// isTechnical reports whether all digits of s are part of words like
// Uint8Array, sha256 and base64.
func isTechnical(s string) bool {
	if len(s) > 40 {
		return false
	}
	for i := 0; i < len(s); i++ {
		if !isDigit(s[i]) {
			continue
		}
		from := i
		for from > 0 && isLetter(s[from-1]) {
			from--
		}
		if !technicalWord(s[from:i]) {
			return false
		}
		i = run(s, i, 6, isDigit)
	}
	p := profileOf(s)
	return p.symbols == 0
}

// technicalWord reports whether s ends in a word that is often followed by a
// number.
func technicalWord(s string) bool {
	var buf [8]byte
	if len(s) > len(buf) {
		s = s[len(s)-len(buf):]
	}
	for i := range len(s) {
		buf[i] = lower(s[i])
	}
	t := buf[:len(s)]
	for _, w := range [...]string{"int", "float", "base", "sha", "utf", "md", "aes", "rsa", "oauth", "http", "ipv", "x", "ed", "secp", "rs", "hs", "es", "ps", "argon", "pbkdf", "u", "i", "f", "word", "key", "pass", "token", "secret"} {
		if endsIn(t, w) && (len(w) > 2 || len(t) == len(w)) {
			return true
		}
	}
	return false
}

// isIdentifier reports whether s could be a name in a program: words without
// digits, joined by case, _ - or dots.
func isIdentifier(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && c != '_' && c != '-' && c != '.' && c < utf8.RuneSelf {
			return false
		}
	}
	return true
}
