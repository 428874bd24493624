package tidy

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// searches reduces a long list of hits to the files with their numbers of lines, the
// first hits of each file, and the hits that hold names from the task.
func searches(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	to = d.summed(from, to)
	files := d.hits(from, to, r.asked.searches())
	if len(files) == 0 {
		return pass
	}
	keep := d.firstHits(files, r, room)
	s := hitList{d: d, keep: keep, room: room / 4}
	s.out = append(s.out, d.lines[:from]...)
	for _, f := range files {
		s.file(f)
	}
	if s.files > 0 {
		s.out = append(s.out, literalLine("⋮ "+counts(s.files, "more file")+" with "+counts(s.lines, "line")))
	}
	d.lines = append(s.out, d.lines[to:]...)
	return done(d.shown("first hits of each file", s.left))
}

// A hitFile is a file with hits. head is the index of the line with its path, or -1 if
// each hit holds the path. hits are the indexes of its hits and of the lines around them.
type hitFile struct {
	path string
	head int
	hits []int
	is   []bool // by element of hits: a hit, not a line around a hit
}

// hitFiles are files in the order of their hits. The slices of all files share
// one allocation each.
type hitFiles struct {
	all  []hitFile
	hits []int
	is   []bool
}

// add adds a line to the last file.
func (f *hitFiles) add(line int, is bool) {
	last := &f.all[len(f.all)-1]
	f.hits, f.is = append(f.hits, line), append(f.is, is)
	n, from := len(f.hits), len(f.hits)-len(last.hits)-1
	last.hits, last.is = f.hits[from:n:n], f.is[from:n:n]
}

// A hitList builds the reduced list of hits.
type hitList struct {
	d    *draft
	keep []bool // by line
	room int    // room for files without a kept hit
	out  []line
	left int // number of lines left out

	files, lines int // number of files that are not named, and number of their lines
}

// file adds the kept lines of a file.
func (s *hitList) file(f hitFile) {
	var kept []line
	for _, i := range f.hits {
		if s.keep[i] {
			kept = append(kept, s.d.lines[i])
		}
	}
	gone := len(f.hits) - len(kept)
	s.left += gone
	if len(kept) == 0 {
		if s.room -= len(f.path) + 1; s.room < 0 {
			s.files, s.lines = s.files+1, s.lines+gone
			return
		}
	}
	switch {
	case f.head >= 0 && gone == 0:
		s.out = append(s.out, s.d.lines[f.head])
	case f.head >= 0:
		s.out = append(s.out, s.d.heading(f.head, len(s.d.lines[f.head].text), gone, len(f.hits)))
	case gone > 0:
		s.out = append(s.out, s.d.heading(f.hits[0], len(f.path), gone, len(f.hits)))
	}
	s.out = append(s.out, kept...)
}

// heading returns the heading of a file from which lines were left out: the first path
// bytes of line i, the number of lines left out, and the number of all lines.
func (d *draft) heading(i, path, gone, all int) line {
	l, left := d.lines[i], fmt.Sprintf("⋮ %d of %s", gone, counts(all, "line"))
	if path == 0 {
		return literalLine(left)
	}
	return l.rewritten(d.text, append(l.piece(0, path), policy.Segment{Lit: " " + left})...)
}

// firstHits chooses the hits to keep while there is room: hits that hold a word, then the
// first hit of each file, then the second hit of each file, and so on. The lines around
// hits come last.
func (d *draft) firstHits(files []hitFile, r *Result, room int) []bool {
	keep := make([]bool, len(d.lines))
	take := func(i int) {
		if n := len(d.lines[i].text) + 1; !keep[i] && n <= room {
			keep[i] = true
			room -= n
		}
	}
	d.namedHits(files, r, take)
	for _, around := range []bool{false, true} {
		for nth, more := 0, true; more && room > 0; nth++ {
			more = false
			for _, f := range files {
				if nth < len(f.hits) {
					more = true
					if around || f.is[nth] {
						take(f.hits[nth])
					}
				}
			}
		}
	}
	return keep
}

// namedHits takes the hits that hold a word, a few for each word.
func (d *draft) namedHits(files []hitFile, r *Result, take func(i int)) {
	const most = 6
	words := r.words()
	named := map[string]int{}
	for _, f := range files {
		for _, i := range f.hits {
			l := &d.lines[i]
			if w := words.in(l.text); w != "" && named[w] < most {
				named[w]++
				take(i)
			} else if r.hasSpotIn(l.from, l.to) {
				take(i)
			}
		}
	}
}

// summed returns the end of the lines before to, without the last lines that sum up the
// hits.
func (d *draft) summed(from, to int) int {
	const most = 3
	for end := to - 1; end > from && to-end <= most; end-- {
		text := d.lines[end].text
		if text == "" {
			continue
		}
		if hitOf(text).at > 0 || numberedHit(text) {
			return end + 1
		}
		if unindented(text) != text || text == "--" {
			break
		}
	}
	return to
}

// hits parses the result of a search. A path is in a line above its numbered lines, or at
// the beginning of each of them. Other lines belong to the file above them. hits returns
// nil if the result does not come from a search. If the call is a search, its hits may
// have no path, because they all lie in one file.
func (d *draft) hits(from, to int, searched bool) []hitFile {
	lines, others := 0, 0
	var files hitFiles
	for i := from; i < to; i++ {
		text := d.lines[i].text
		last := len(files.all) - 1
		h := hitOf(text)
		switch {
		case h.at > 0 && last < 0:
			files.hits, files.is = make([]int, 0, to-i), make([]bool, 0, to-i)
			fallthrough
		case h.at > 0 && files.all[last].path != h.path:
			files.all = append(files.all, hitFile{path: h.path, head: -1})
			fallthrough
		case h.at > 0:
			files.add(i, text[len(h.path)] == ':')
			lines++
		case last >= 0 && files.all[last].head >= 0 && text == d.lines[files.all[last].head].text:
			// the next group of hits in the same file
		case i+1 < to && numberedHit(d.lines[i+1].text) && isHitPath(text):
			files.all = append(files.all, hitFile{path: strings.TrimSuffix(text, ":"), head: i})
			lines++
		case text == "" || text == "--":
		case last < 0 && searched && numberedHit(text):
			files.hits, files.is = make([]int, 0, to-i), make([]bool, 0, to-i)
			files.all = append(files.all, hitFile{head: -1})
			files.add(i, text[hitNumber(text)] == ':')
			lines++
		case last < 0:
			return nil
		case numberedHit(text):
			files.add(i, text[hitNumber(text)] == ':')
			lines++
		default:
			files.add(i, false)
			others++
		}
		if others > 50 && others > lines {
			return nil
		}
	}
	if lines < 10 || others*4 > lines {
		return nil
	}
	return files.all
}

func isHitPath(text string) bool { return isPath(strings.TrimSuffix(text, ":")) }

// numberedHit reports whether a line has one of the forms of hitNumber.
func numberedHit(text string) bool { return hitNumber(text) > 0 }

// lineWord precedes the number in the results of search tools that some agents have.
const lineWord = "  Line "

// hitNumber returns the end of the number in a line of the form 12:text, 12-text or
// "  Line 12: text", and 0 for other lines.
func hitNumber(text string) int {
	start := 0
	if strings.HasPrefix(text, lineWord) {
		start = len(lineWord)
	}
	i := start
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i == start || i-start >= 8 || i >= len(text) || text[i] != ':' && text[i] != '-' {
		return 0
	}
	return i
}
