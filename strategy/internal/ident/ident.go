// Package ident finds the identifiers in a text: strings that a reader needs letter by
// letter, because no other words name the object. They are URLs, paths, file names,
// hashes, ids of tickets and other objects, versions, numbers of three digits or more, and
// the names of symbols.
package ident

import "strings"

// A Kind is the kind of an identifier.
type Kind uint8

// The kinds of identifiers.
const (
	URL Kind = iota
	Path
	File
	Hex     // hash or other hex of seven digits or more, UUIDs
	Ticket  // ABC-123
	Number  // three digits or more
	Version // 1.2, v1.2.3, dates; also decimal numbers, which look the same
	Camel   // camelCase
	Pascal  // PascalCase
	Snake   // snake_case, SNAKE_CASE
	Code    // HAT227, W1234567: capitals mixed with digits
	Email
	Member // fmt.Println, self.config; only [ScanAll] reports it
	kinds
)

// Kinds is the number of kinds.
const Kinds = int(kinds)

var names = [kinds]string{"url", "path", "file", "hex", "ticket", "number", "version", "camel", "pascal", "snake", "code", "email", "member"}

// String returns the name of the kind.
func (k Kind) String() string { return names[k] }

// Scan calls found for every identifier in text, from left to right, in one pass. The
// identifiers do not overlap.
func Scan(text string, found func(k Kind, start, end int)) { scan(text, false, found) }

// ScanAll is like Scan and also reports members, each before the identifiers in it.
func ScanAll(text string, found func(k Kind, start, end int)) { scan(text, true, found) }

func scan(text string, members bool, found func(k Kind, start, end int)) {
	for i := 0; i < len(text); {
		c := class[text[i]]
		if c&starts == 0 {
			i++
			continue
		}
		if escaped(text, i) {
			i++
			continue
		}
		if end := scheme(text, i); end > 0 {
			end = urlEnd(text, end)
			found(URL, i, end)
			i = end
			continue
		}
		if end := thousands(text, i); end > 0 {
			found(Number, i, end)
			i = end
			continue
		}
		end, slashes := i, 0
		for end < len(text) && class[text[end]]&(inWord|inPath) != 0 {
			if text[end] == '/' {
				if strings.HasPrefix(text[end:], "//") {
					break
				}
				slashes++
			}
			end++
		}
		if end == i {
			i++
			continue
		}
		if slashes > 0 {
			path(text, i, end, members, found)
		} else {
			word(text, i, end, members, found)
		}
		i = end
	}
}

// escaped reports whether the letter at i belongs to an escape in the text of a
// quoted string: \nNext is a new line and Next.
func escaped(text string, i int) bool {
	if i == 0 || text[i-1] != '\\' || i+1 >= len(text) || class[text[i+1]]&upper == 0 {
		return false
	}
	return text[i] == 'n' || text[i] == 't' || text[i] == 'r'
}

// All returns the identifiers of text in order, with repetitions.
func All(text string) []string {
	var out []string
	Scan(text, func(_ Kind, start, end int) { out = append(out, text[start:end]) })
	return out
}

const (
	inWord = 1 << iota // letters, digits, _
	inPath             // other bytes of paths and compounds: / . - ~ @ + %
	starts             // first bytes of an identifier
	digit
	hexDigit
	upper
	lower
)

var class = func() (t [256]uint8) {
	for c := range t {
		switch {
		case c >= '0' && c <= '9':
			t[c] = inWord | starts | digit | hexDigit
		case c >= 'a' && c <= 'z':
			t[c] = inWord | starts | lower
		case c >= 'A' && c <= 'Z':
			t[c] = inWord | starts | upper
		}
		if c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F' {
			t[c] |= hexDigit
		}
	}
	t['_'] = inWord | starts
	for _, c := range "/.~@" {
		t[c] = inPath | starts
	}
	for _, c := range "-+%" {
		t[c] = inPath
	}
	return t
}()

// schemes holds the schemes of URLs by their first byte.
var schemes = func() (t [256][]string) {
	for _, s := range []string{"https://", "http://", "file://", "ssh://", "git://", "s3://", "ws://", "wss://", "postgres://", "redis://"} {
		t[s[0]] = append(t[s[0]], s)
	}
	return t
}()

// scheme returns the end of a URL scheme that begins at i, 0 if there is none.
func scheme(text string, i int) int {
	for _, s := range schemes[text[i]] {
		if strings.HasPrefix(text[i:], s) {
			return i + len(s)
		}
	}
	return 0
}

// thousands returns the end of a number with commas, such as 128,000, that begins at i; 0
// if there is none.
func thousands(text string, i int) int {
	end := i
	for end < len(text) && class[text[end]]&digit != 0 {
		end++
	}
	if n := end - i; n == 0 || n > 3 {
		return 0
	}
	groups := 0
	for end+3 < len(text) && text[end] == ',' && threeDigits(text[end+1:]) {
		end += 4
		groups++
	}
	if groups == 0 || end < len(text) && class[text[end]]&inWord != 0 {
		return 0
	}
	return end
}

func threeDigits(s string) bool {
	return class[s[0]]&class[s[1]]&class[s[2]]&digit != 0 && (len(s) == 3 || class[s[3]]&inWord == 0)
}

func urlEnd(text string, i int) int {
	start := i
loop:
	for ; i < len(text); i++ {
		switch c := text[i]; {
		case c <= ' ' || c >= 0x7f:
			break loop
		case strings.IndexByte("\"'<>()[]{}|\\^`", c) >= 0:
			break loop
		}
	}
	for i > start && strings.IndexByte(".,;:!?*", text[i-1]) >= 0 {
		i--
	}
	return i
}
