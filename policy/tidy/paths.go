package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// A hit is a line in the output of a search: a path, a line number and the text.
type hit struct {
	path string
	at   int // index at which the text starts; 0 = the line is not a hit
}

// hitOf parses a line of the form path:12:text, or of the form path-12-text, which tools
// use for the lines around a hit. The path must look like the path of a file, see isPath.
func hitOf(text string) hit {
	const longest = 400 // length of a path
	head := text[:min(len(text), longest)]
	if head == "" || isDigit(head[0]) {
		return hit{} // a line number or a time
	}
	if strings.IndexByte(head, ':') < 0 && strings.IndexByte(head, '-') < 0 {
		return hit{}
	}
	mark, named, around := false, false, hit{}
	for i := range len(head) {
		switch pathBytes[head[i]] {
		case inPath:
		case aLetter:
			named = true
		case aMark:
			mark = true
		case aDash:
			if i > 0 && named && around.at == 0 {
				around = hitAt(text, i).dated()
			}
		case aColon:
			if i > 0 && mark && named {
				if h := hitAt(text, i); h.at > 0 {
					return h
				}
			}
			if i != 1 { // C:\ is a path
				return around
			}
		default:
			return around
		}
	}
	return around
}

// hitAt parses the line number between two separators. The first separator is at i.
func hitAt(text string, i int) hit {
	end := i + 1
	for end < len(text) && isDigit(text[end]) {
		end++
	}
	if end > i+1 && end < len(text) && text[end] == text[i] && end-i < 8 {
		return hit{path: text[:i], at: end + 1}
	}
	return hit{}
}

// dated returns the zero hit if the path has no file extension, and h otherwise. A date
// such as 2026-11-23 is therefore not a line around a hit.
func (h hit) dated() hit {
	if base := h.path[strings.LastIndexByte(h.path, '/')+1:]; strings.IndexByte(base, '.') <= 0 {
		return hit{}
	}
	return h
}

// The classes of bytes in a path.
const (
	noPath uint8 = iota
	inPath
	aLetter
	aMark
	aDash
	aColon
)

var pathBytes = func() (t [256]uint8) {
	for i := range t {
		switch c := byte(i); {
		case c <= ' ' || strings.IndexByte(`"'({<=,;|*`, c) >= 0:
		case isLetter(c):
			t[i] = aLetter
		case c == '/' || c == '.':
			t[i] = aMark
		case c == '-':
			t[i] = aDash
		case c == ':':
			t[i] = aColon
		default:
			t[i] = inPath
		}
	}
	return t
}()

// isPath reports whether a text can be the path of a file: it has a dot or a slash, a
// letter, and no spaces. Times and versions therefore do not count.
func isPath(s string) bool {
	mark, named := false, false
	for i := range len(s) {
		switch pathBytes[s[i]] {
		case noPath:
			return false
		case aLetter:
			named = true
		case aMark:
			mark = true
		case aColon:
			if i != 1 { // C:\ is a path
				return false
			}
		}
	}
	return mark && named
}

// paths groups consecutive hits in one file: it writes the path once, in a line above the
// hits.
func paths(d *draft, _ *Result, _ int) verdict {
	var out []line // filled from the first change on
	changed := false
	for i := 0; i < len(d.lines); {
		h, n := hitsFrom(d.lines[i:])
		if n < 2 { // with two hits, the line with the path already saves bytes
			if changed {
				out = append(out, d.lines[i])
			}
			i++
			continue
		}
		if !changed {
			out = append(d.lent.lines(len(d.lines)+len(d.lines)/8), d.lines[:i]...)
		}
		first := d.lines[i]
		out = append(out, line{no: first.no, from: first.from, to: first.to, text: h.path + ":",
			segs: append(first.piece(0, len(h.path)), policy.Segment{Lit: ":"})})
		for _, l := range d.lines[i : i+n] {
			if l.segs == nil {
				l.from += len(h.path) + 1
			} else {
				l.segs = l.piece(len(h.path)+1, len(l.text))
			}
			l.text = l.text[len(h.path)+1:]
			out = append(out, l)
		}
		changed = true
		i += n
	}
	if changed {
		d.lines = out
	}
	return done(changed)
}

// hitsFrom returns the first hit and the number of consecutive lines, from the
// first on, that are hits in the same file.
func hitsFrom(lines []line) (first hit, n int) {
	for n < len(lines) {
		l := lines[n].text
		if n > 0 {
			if !strings.HasPrefix(l, first.path) || hitOf(l).path != first.path {
				break
			}
		} else if first = hitOf(l); first.at == 0 {
			return first, 0
		}
		n++
	}
	return first, n
}
