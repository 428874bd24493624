package tidy

import (
	"strings"

	"github.com/agentcompact/compact/policy"
)

// leastTextLines is the number of lines from which a string of a JSON document counts as a
// text. Many tools put the output of a command or a file into such a string.
const leastTextLines = 20

// textReducers reduce the text in a string. They keep or leave out whole lines.
var textReducers = []func(*draft, *Result, int) verdict{patches, tests, logs, tables, code, documents, ends}

// lines reduces the string in [from, to), without its quotes, if it is a text. Its room is
// a part of the room of the document.
func (s *shaper) lines(from, to int) bool {
	if 2*(to-from) <= len(s.src) {
		d, is := s.reduced(from, to, 2*s.text)
		if is {
			s.join(d, from, to)
		}
		return is
	}
	if !s.main.tried { // the room of the main text is the same in each try
		s.main.tried = true
		s.main.d, s.main.is = s.reduced(from, to, s.room*3/4)
	}
	if s.main.is {
		s.join(s.main.d, from, to)
	}
	return s.main.is
}

// mainText is the reduced form of a text that is most of a document.
type mainText struct {
	tried, is bool
	d         *draft
}

// reduced reduces a text to room bytes. It returns false if the string is no text, or if
// nothing can be left out.
func (s *shaper) reduced(from, to, room int) (*draft, bool) {
	if strings.Count(s.src[from:to], `\n`) < leastTextLines {
		return nil, false
	}
	d := s.split(from, to)
	for _, reduce := range textReducers {
		if is := reduce(d, s.r, room); is != pass {
			return d, is == did
		}
	}
	return nil, false
}

// split returns a draft of the lines of a string, which end with \n. Its lines have their
// text as a reader sees it, and their place in the document.
func (s *shaper) split(from, to int) *draft {
	n := strings.Count(s.src[from:to], `\n`) + 1
	d := &draft{text: s.src, lent: s.lent, lines: s.lent.lines(n)}
	segs := s.lent.pieces(n)
	var plain strings.Builder // does not grow, so that the texts of lines are parts of it
	plain.Grow(to - from)
	for at := from; at <= to; {
		end, next, start := at, to+1, plain.Len()
		for end < to {
			if s.src[end] != '\\' {
				stop := strings.IndexByte(s.src[end:to], '\\')
				if stop < 0 {
					stop = to - end
				}
				plain.WriteString(s.src[end : end+stop])
				end += stop
				continue
			}
			if s.src[end+1] == 'n' {
				next = end + 2
				break
			}
			plain.WriteString(unescaped(s.src[end : end+2]))
			end += 2
		}
		segs = append(segs, policy.Segment{From: at, To: end})
		l := line{no: len(d.lines) + 1, from: at, to: end, text: plain.String()[start:], segs: segs[len(segs)-1 : len(segs) : len(segs)]}
		d.lines = append(d.lines, l)
		at = next
	}
	if d.total = len(d.lines); d.lines[d.total-1].text == "" {
		d.total--
	}
	return d
}

// unescaped returns the character that an escape of two bytes stands for. Other escapes
// stay.
func unescaped(s string) string {
	switch s[1] {
	case '"', '\\', '/':
		return s[1:]
	case 't':
		return "\t"
	case 'r':
		return ""
	}
	return s
}

// join writes the lines of a reduced string that ends at to.
func (s *shaper) join(d *draft, from, to int) {
	const feed = `\n`
	s.copy(from)
	say := ""
	for k := range d.lines {
		l := &d.lines[k]
		if k > 0 {
			say += feed
		}
		if l.no == 0 {
			say += l.text // made of digits, dashes and words
			continue
		}
		if say == feed && l.from == s.at+len(feed) {
			s.copy(l.to)
			say = ""
			continue
		}
		if l.from > s.at || say != "" {
			s.skip(l.from, say)
		}
		s.copy(l.to)
		say = ""
	}
	if say != "" || s.at < to {
		s.skip(to, say)
	}
	if s.inText == "" {
		s.inText = d.what
	}
}
