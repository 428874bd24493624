package tidy

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/policy"
)

// jsonShape reduces a JSON document to its shape. It reduces a long array or object to its
// ends and to the elements that hold an error or that the task names. Of an array, it also
// keeps elements that differ in shape from the first one. It cuts the middle out of a long
// string.
func jsonShape(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	if from >= to || r.asked.file != "" && d.numbered(from, to) || d.changed() {
		return pass
	}
	from = d.body(from, to)
	text := d.text[:d.lines[to-1].to]
	start := d.lines[from].from
	for start < len(text) && space(text[start]) {
		start++
	}
	if start == len(text) || text[start] != '{' && text[start] != '[' {
		return pass
	}
	doc := document{src: text}
	if end := doc.read(start, len(text)).end; end < 0 || strings.TrimSpace(text[end:]) != "" {
		return pass
	}
	const far = 4 // the last try is for a document that is still far larger than its room
	words := r.words()
	for _, keep := range []shaper{{ends: 8, text: 1600}, {ends: 4, text: 800}, {ends: 4, text: 400}, {ends: 2, text: 160}, {ends: 1, text: 160}} {
		s := keep
		s.document, s.words, s.named, s.r, s.lent, s.room = &doc, words, map[string]int{}, r, d.lent, room
		s.value(start, len(text), 0)
		s.copy(len(text))
		if s.gone == 0 {
			continue
		}
		if n := len(render(text, s.out)); n <= room || keep.ends == 2 && n <= far*room || keep.ends == 1 {
			lines := append([]line{}, d.lines[:from]...)
			lines = append(lines, line{no: d.lines[from].no, from: d.lines[from].from, to: len(text)}.rewritten(d.text, withHead(s.out, d.lines[from].from, start)...))
			d.lines = append(lines, d.lines[to:]...)
			d.leftOut("shape, ends and outliers of JSON")
			if s.inText != "" {
				d.what = "JSON with " + s.inText
			}
			return did
		}
	}
	return leaves
}

// body returns the line after the header of an HTTP answer, or from if there is none.
func (d *draft) body(from, to int) int {
	if !strings.HasPrefix(d.lines[from].text, "HTTP/") {
		return from
	}
	for i := from; i < to-1; i++ {
		if d.lines[i].text == "" {
			return i + 1
		}
	}
	return from
}

// withHead prepends the range in front of the document.
func withHead(out []policy.Segment, from, start int) []policy.Segment {
	if from == start {
		return out
	}
	return append([]policy.Segment{{From: from, To: start}}, out...)
}

// A shaper copies a document and leaves out parts of it.
type shaper struct {
	*document
	words terms
	named map[string]int // number of elements kept for each word
	ends  int            // number of elements to keep at either end of an array
	text  int            // number of bytes to keep at the beginning of a string
	out   []policy.Segment
	at    int // position in src up to which the document is copied or skipped
	begun bool
	gone  int // number of bytes left out

	r      *Result
	lent   *borrowedLists
	room   int    // room for the whole document
	inText string // description of the first text that was reduced
}

// copy copies the document up to the position to.
func (s *shaper) copy(to int) {
	if to > s.at {
		s.out = join(s.out, policy.Segment{From: s.at, To: to})
		s.at = to
	}
}

// skip leaves out the document up to the position to, and writes say in its place.
func (s *shaper) skip(to int, say string) {
	s.gone += to - s.at
	s.out = join(s.out, policy.Segment{Lit: say})
	s.at = to
}

// deepest is the nesting depth to which a document is reduced.
const deepest = 12

// value processes the value at i, which ends before end.
func (s *shaper) value(i, end, depth int) {
	if !s.begun {
		s.at, s.begun = i, true
	}
	switch {
	case depth > deepest:
	case s.src[i] == '[', s.src[i] == '{':
		s.elements(i, end, depth)
	case s.src[i] == '"':
		s.string(i)
	}
}

// string reduces a long string by lines if it is a text. Otherwise it cuts the string,
// unless it holds an error.
func (s *shaper) string(i int) {
	end := skipJSON(s.src, i)
	if end-i <= 2*s.text || s.lines(i+1, end-1) || holdsError(s.src[i:end]) {
		return
	}
	head, tail := s.whole(i+1, i+1+s.text), s.whole(i+1, end-1-s.text/4)
	s.copy(head)
	spots := s.r.spots()
	for k, _ := slices.BinarySearch(spots, head); k < len(spots) && spots[k] < tail; k++ {
		from, to := s.whole(i+1, spots[k]-lineTail), s.whole(i+1, spots[k]+lineTail)
		if from > s.at+lineJoin && to < tail-lineJoin {
			s.cut(from)
			s.copy(to)
		}
	}
	s.cut(tail)
}

// cut leaves out the text of a string up to the position to.
func (s *shaper) cut(to int) {
	s.skip(to, fmt.Sprintf(" … %d chars … ", utf8.RuneCountInString(s.src[s.at:to])))
}

// whole returns the start of the character or the escape at i in a string that begins at
// from.
func (s *shaper) whole(from, i int) int {
	i = charBefore(s.src, from, max(i, from))
	const longest = len(`\u12ab`)
	for at := i - 1; at > i-longest && at >= from; at-- {
		if s.src[at] != '\\' {
			continue
		}
		n := 1 // backslashes in a row; an odd number begins an escape
		for at-n >= from && s.src[at-n] == '\\' {
			n++
		}
		if n%2 == 1 && (at == i-1 || s.src[at+1] == 'u') {
			return at
		}
		break
	}
	return i
}

// elements processes the elements of the array or object at i.
func (s *shaper) elements(i, end, depth int) {
	spans := s.read(i, end).members
	array := s.src[i] == '['
	most := s.ends
	if !array {
		most = 10 * s.ends // more, because each key of an object is informative
	}
	unlike, gone := 0, 0
	usual := array && s.mostlyErrors(spans)
	for k, e := range spans {
		stays := k < most || k >= len(spans)-max(most/2, 1) || len(spans) <= 2*most
		if !stays && array && unlike < most && e.kind != spans[0].kind {
			unlike++
			stays = true
		}
		if stays || s.holds(e, usual) {
			s.rest(spans, &gone, k)
			s.value(e.value, e.to, depth+1)
			continue
		}
		gone++
	}
}

// rest leaves out the *gone members before member k.
func (s *shaper) rest(spans []member, gone *int, k int) {
	if *gone > 0 {
		s.copy(spans[k-*gone].from)
		s.skip(spans[k-1].to, fmt.Sprintf("… %d more …", *gone))
		*gone = 0
	}
}

// mostlyErrors reports whether most elements of a long array hold an error, as in the
// report of a linter. An error is then no reason to keep an element.
func (s *shaper) mostlyErrors(spans []member) bool {
	const least, sample = 40, 20
	if len(spans) < least {
		return false
	}
	n := 0
	for k := range sample {
		e := spans[k*len(spans)/sample]
		if holdsError(s.src[e.from:e.to]) {
			n++
		}
	}
	return 2*n > sample
}

// holds reports whether a member holds a word of the task or, if usual is false, an error.
// It accepts each term of the task only a few times.
func (s *shaper) holds(e member, usual bool) bool {
	const most = 4
	text := s.src[e.from:e.to]
	if !usual && holdsError(text) || s.r.hasSpotIn(e.from, e.to) {
		return true
	}
	w := s.words.in(text)
	if w == "" || s.named[w] >= most {
		return false
	}
	s.named[w]++
	return true
}
