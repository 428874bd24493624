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
	d := s.split(from, to)
	if len(d.lines) < leastTextLines {
		return false
	}
	room := 2 * s.text
	if 2*(to-from) > len(s.src) {
		room = s.room * 3 / 4
	}
	r := *s.r
	for _, reduce := range textReducers {
		is := reduce(d, &r, room)
		if is == pass {
			continue
		}
		if is == did {
			s.join(d, from, to)
		}
		return is == did
	}
	return false
}

// split returns a draft of the lines of a string, which end with \n. Its lines have their
// text as a reader sees it, and their place in the document.
func (s *shaper) split(from, to int) *draft {
	d := &draft{text: s.src, lent: s.lent}
	for at := from; at <= to; {
		end, next, plain := at, to+1, true
		for end < to {
			if s.src[end] != '\\' {
				end++
				continue
			}
			if s.src[end+1] == 'n' {
				next = end + 2
				break
			}
			plain = false
			end += 2
		}
		l := line{no: len(d.lines) + 1, from: at, to: end, text: s.src[at:end], segs: []policy.Segment{}}
		if end > at {
			l.segs = append(l.segs, policy.Segment{From: at, To: end})
		}
		if !plain {
			l.text = unescaped.Replace(l.text)
		}
		d.lines = append(d.lines, l)
		at = next
	}
	if d.total = len(d.lines); d.total > 0 && d.lines[d.total-1].text == "" {
		d.total--
	}
	return d
}

var unescaped = strings.NewReplacer(`\"`, `"`, `\\`, `\`, `\/`, `/`, `\t`, "\t", `\r`, "")

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
