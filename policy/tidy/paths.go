package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// hit is a line of a search: a path, the number of a line, and the text.
type hit struct {
	path string
	at   int // where the text begins; 0 = the line is no hit
}

// hitOf reads path:12:text, or path-12-text of the lines around a hit.
func hitOf(text string) hit {
	if h := hitBy(text, ':'); h.at > 0 {
		return h
	}
	h := hitBy(text, '-')
	if base := h.path[strings.LastIndexByte(h.path, '/')+1:]; strings.IndexByte(base, '.') <= 0 {
		return hit{} // a date, say
	}
	return h
}

func hitBy(text string, sep byte) hit {
	const longest = 400 // of a path
	head := text[:min(len(text), longest)]
	if head == "" || isDigit(head[0]) {
		return hit{} // the number of a line, or a time
	}
	for from := 1; from < len(head); {
		i := strings.IndexByte(head[from:], sep)
		if i < 0 {
			break
		}
		i += from
		end := i + 1
		for end < len(text) && isDigit(text[end]) {
			end++
		}
		if end > i+1 && end < len(text) && text[end] == sep && end-i < 8 && isPath(text[:i]) {
			return hit{path: text[:i], at: end + 1}
		}
		from = i + 1
	}
	return hit{}
}

// isPath reports whether a text can be the path of a file: no spaces, and a dot
// or a slash in it.
func isPath(s string) bool {
	mark := false
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case c <= ' ' || c == '"' || c == '\'' || c == '(' || c == '{' || c == '<' || c == '=' || c == ',' || c == ';' || c == '|' || c == '*':
			return false
		case c == '/' || c == '.':
			mark = true
		case c == ':' && i != 1: // C:\ is a path
			return false
		}
	}
	return mark && isNamed(s)
}

// isNamed reports whether there is a letter: a time or a version is no path.
func isNamed(s string) bool {
	for i := 0; i < len(s); i++ {
		if isLetter(s[i]) {
			return true
		}
	}
	return false
}

// paths writes the path of hits that stand one below the other once, in a line
// above them.
func paths(d *draft, _ *Result, _ int) verdict {
	var out []line // from the first change on
	changed := false
	for i := 0; i < len(d.lines); {
		h, n := hitsFrom(d.lines[i:])
		if n < 2 || n*(len(h.path)+1) <= len(h.path)+2 {
			if changed {
				out = append(out, d.lines[i])
			}
			i++
			continue
		}
		if !changed {
			out = append(make([]line, 0, len(d.lines)+len(d.lines)/8), d.lines[:i]...)
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

// hitsFrom returns how many lines are hits in the same file, from the first on.
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
