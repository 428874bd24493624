package tidy

import (
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// searches reduces a long list of hits to the files with their numbers of lines, the
// first hits of each file, and the hits that hold names from the task.
func searches(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	to = d.summed(from, to)
	files := d.hits(from, to, r.asked.searches())
	if len(files.all) == 0 {
		return pass
	}
	keep := d.firstHits(files, r, room)
	s := hitList{d: d, keep: keep, room: room / 4}
	s.out = append(d.lent.lines(len(d.lines)/4), d.lines[:from]...)
	for i := range files.all {
		f := &files.all[i]
		s.file(f, files.hits[f.from:f.to])
	}
	if s.files > 0 {
		s.out = append(s.out, literalLine("⋮ "+counts(s.files, "more file")+" with "+counts(s.lines, "line")))
	}
	d.lines = append(s.out, d.lines[to:]...)
	return done(d.shown("first hits of each file", s.left))
}

// A hitFile is a file with hits. head is the index of the line with its path, or -1 if
// each hit holds the path. from and to are its range of the hits of all files.
type hitFile struct {
	path     string
	head     int
	from, to int
}

// hitFiles are files in the order of their hits. hits are the indexes of their hits and of
// the lines around them; is reports for each of them whether it is a hit.
type hitFiles struct {
	all  []hitFile
	hits []int
	is   []bool
}

// file adds a file. At most the given number of lines follow.
func (f *hitFiles) file(path string, head, lines int) {
	if f.all == nil {
		f.hits, f.is = make([]int, 0, lines), make([]bool, 0, lines)
	}
	f.all = append(f.all, hitFile{path: path, head: head, from: len(f.hits), to: len(f.hits)})
}

// add adds a line to the last file.
func (f *hitFiles) add(line int, is bool) {
	f.hits, f.is = append(f.hits, line), append(f.is, is)
	f.all[len(f.all)-1].to = len(f.hits)
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

// file adds the kept lines of a file with hits.
func (s *hitList) file(f *hitFile, hits []int) {
	gone := len(hits)
	for _, i := range hits {
		if s.keep[i] {
			gone--
		}
	}
	s.left += gone
	if gone == len(hits) {
		if s.room -= len(f.path) + 1; s.room < 0 {
			s.files, s.lines = s.files+1, s.lines+gone
			return
		}
	}
	switch {
	case f.head >= 0 && gone == 0:
		s.out = append(s.out, s.d.lines[f.head])
	case f.head >= 0:
		s.out = append(s.out, s.d.heading(f.head, len(s.d.lines[f.head].text), gone, len(hits)))
	case gone > 0:
		s.out = append(s.out, s.d.heading(hits[0], len(f.path), gone, len(hits)))
	}
	for _, i := range hits {
		if s.keep[i] {
			s.out = append(s.out, s.d.lines[i])
		}
	}
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
func (d *draft) firstHits(files hitFiles, r *Result, room int) []bool {
	keep := make([]bool, len(d.lines))
	take := func(i int) {
		if n := len(d.lines[i].text) + 1; !keep[i] && n <= room {
			keep[i] = true
			room -= n
		}
	}
	d.namedHits(files, r, take)
	for _, around := range []bool{false, true} {
		left := make([]int, len(files.all)) // the files with more hits
		for k := range left {
			left[k] = k
		}
		for nth := 0; len(left) > 0 && room > 0; nth++ {
			left = slices.DeleteFunc(left, func(k int) bool { return files.all[k].from+nth >= files.all[k].to })
			for _, k := range left {
				if at := files.all[k].from + nth; around || files.is[at] {
					take(files.hits[at])
				}
			}
		}
	}
	return keep
}

// namedHits takes the hits that hold a word, a few for each word.
func (d *draft) namedHits(files hitFiles, r *Result, take func(i int)) {
	const most = 6
	words := r.words()
	named := map[string]int{}
	for _, i := range files.hits {
		l := &d.lines[i]
		if w := words.in(l.text); w != "" && named[w] < most {
			named[w]++
			take(i)
		} else if r.hasSpotIn(l.from, l.to) {
			take(i)
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
// no files if the result does not come from a search. If the call is a search, its hits may
// have no path, because they all lie in one file.
func (d *draft) hits(from, to int, searched bool) (files hitFiles) {
	lines, others := 0, 0
	for i := from; i < to; i++ {
		text := d.lines[i].text
		last := len(files.all) - 1
		h := hitOf(text)
		switch {
		case h.at > 0:
			if last < 0 || files.all[last].path != h.path {
				files.file(h.path, -1, to-i)
			}
			files.add(i, text[len(h.path)] == ':')
			lines++
		case last >= 0 && files.all[last].head >= 0 && text == d.lines[files.all[last].head].text:
			// the next group of hits in the same file
		case i+1 < to && numberedHit(d.lines[i+1].text) && isHitPath(text):
			files.file(strings.TrimSuffix(text, ":"), i, to-i)
			lines++
		case text == "" || text == "--":
		case last < 0 && searched && numberedHit(text):
			files.file("", -1, to-i)
			files.add(i, text[hitNumber(text)] == ':')
			lines++
		case last < 0:
			return hitFiles{}
		case numberedHit(text):
			files.add(i, text[hitNumber(text)] == ':')
			lines++
		default:
			files.add(i, false)
			others++
		}
		if others > 50 && others > lines {
			return hitFiles{}
		}
	}
	if lines < 10 || others*4 > lines {
		return hitFiles{}
	}
	return files
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
