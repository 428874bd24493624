package redact

import "strings"

// value is what an assignment assigns, and how it was written.
type value struct {
	text   string
	quoted bool
	env    bool // NAME=value without blanks, as in a shell or a .env file
}

// secret is the filter on the values of telling names: it reports whether v
// is a secret rather than a type, a reference, a template or a word.
func (v value) secret(s strength) bool {
	t := v.text
	switch {
	case len(t) < 4 || len(t) > maxValue, isPlaceholder(t), isStandIn(t), isReference(t):
		return false
	case !v.quoted && !v.env && isCode(t), v.quoted && isQuotedCode(t):
		return false
	}
	switch s {
	case password:
		return v.password()
	case telling:
		return v.telling()
	case weak:
		return looksRandom(t) && !isPairOf(t)
	}
	return false
}

const maxValue = 16 << 10

// password accepts what a person may have chosen.
func (v value) password() bool {
	p := profileOf(v.text)
	switch {
	case p.letters+p.digits < 3:
		return false
	case p.blanks > 0:
		return v.quoted && p.digits > 0 && p.blanks < 6 && p.symbols > 0
	case v.env:
		return !commonWord(v.text)
	case v.quoted:
		return p.digits > 0 || p.symbols > 0 && !isIdentifier(v.text) || !isIdentifier(v.text) || len(v.text) >= 6 && p.upper == 0 && p.joints == 0 && !commonWord(v.text)
	}
	return p.digits > 0 || p.symbols > 0 && !isIdentifier(v.text)
}

// telling accepts what no one writes as a word.
func (v value) telling() bool {
	p := profileOf(v.text)
	switch {
	case len(v.text) < 6 || p.blanks > 0 && (p.digits == 0 || p.symbols == 0):
		return false
	case p.digits == len(v.text):
		return false
	case p.digits > 0 && p.letters > 0:
		return !isNumbered(v.text)
	case p.letters == len(v.text) && p.lower > 0 && p.upper > 0:
		return len(v.text) >= 16 && p.turns*3 >= len(v.text)
	case p.letters == len(v.text):
		return len(v.text) >= 20
	}
	return p.symbols > 1 && len(v.text) >= 12 && !isIdentifier(v.text)
}

// profile counts what a value is made of.
type profile struct {
	lower, upper, letters, digits int
	joints                        int // _ - . which join words
	blanks                        int
	symbols                       int // the rest
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

// looksRandom accepts only what a generator made: long, letters and digits
// mixed, and no identifier that must survive.
func looksRandom(s string) bool {
	p := profileOf(s)
	if len(s) < 16 || p.blanks > 0 || p.digits < 2 || p.letters < 2 || isUUID(s) || isDigest(s) {
		return false
	}
	return p.turns*5 >= len(s) && distinct(s) >= 8
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

// isNumbered reports whether s is words with a number behind: token2, my-key-01,
// part_3.
func isNumbered(s string) bool {
	end := len(s)
	for end > 0 && isDigit(s[end-1]) {
		end--
	}
	if len(s)-end > 4 || end == len(s) {
		return false
	}
	p := profileOf(s[:end])
	return p.digits == 0 && p.symbols == 0 && (p.upper == 0 || p.lower == 0 || p.turns*4 < end)
}

// isIdentifier reports whether s could be the name of something in a program:
// words without digits, joined by case, _ - or dots.
func isIdentifier(s string) bool {
	for i := range len(s) {
		if c := s[i]; !isLetter(c) && c != '_' && c != '-' && c != '.' {
			return false
		}
	}
	return true
}
