package tidy

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// searches leaves of very many hits the files, each with the number of its
// lines, the first hits of each, and those that the task names.
func searches(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	files := d.hits(from, to)
	if len(files) == 0 {
		return pass
	}
	keep := d.firstHits(files, termsOf(r.Said...), room)
	out := append([]line{}, d.lines[:from]...)
	left := 0
	for _, f := range files {
		out, left = d.hitsOf(out, f, keep, left)
	}
	d.lines = append(out, d.lines[to:]...)
	return done(d.shown("first hits of each file", left))
}

// hitsOf appends the heading of a file, and the hits of it that stay.
func (d *draft) hitsOf(out []line, f hitFile, keep map[int]bool, left int) ([]line, int) {
	kept := 0
	for _, i := range f.hits {
		if keep[i] {
			kept++
		}
	}
	head := d.lines[f.head]
	gone := len(f.hits) - kept
	if gone > 0 {
		segs := append([]policy.Segment{}, head.segments()...)
		head = head.rewritten(d.text, append(segs, policy.Segment{Lit: fmt.Sprintf(" %d of %d lines left out", gone, len(f.hits))})...)
	}
	out = append(out, head)
	for _, i := range f.hits {
		if keep[i] {
			out = append(out, d.lines[i])
		}
	}
	return out, left + gone
}

// firstHits chooses which hits stay: those that a word names, then the first of
// each file, the second of each, and so on while there is room; the lines around
// hits come last.
func (d *draft) firstHits(files []hitFile, words terms, room int) map[int]bool {
	keep := map[int]bool{}
	take := func(i int) {
		if n := len(d.lines[i].text) + 1; !keep[i] && n <= room {
			keep[i] = true
			room -= n
		}
	}
	for _, f := range files {
		room -= len(d.lines[f.head].text) + 1
	}
	named := map[string]int{}
	const most = 6
	for round := range 3 {
		for nth := 0; room > 0; nth++ {
			more := false
			for _, f := range files {
				if nth >= len(f.hits) {
					continue
				}
				more = true
				i := f.hits[nth]
				switch match := isMatch(d.lines[i].text); {
				case round == 0 && match:
					if w := words.in(d.lines[i].text); w != "" && named[w] < most {
						named[w]++
						take(i)
					}
				case round == 1 && match, round == 2:
					take(i)
				}
			}
			if !more {
				break
			}
		}
	}
	return keep
}

// hitFile is a file that hits are in: the line of its path, and those of its
// hits.
type hitFile struct {
	head int
	hits []int
}

// hits reads the result of a search: paths, each with numbered lines below it.
// nil where it is none. Lines that are neither belong to the file above them.
func (d *draft) hits(from, to int) (files []hitFile) {
	lines, others := 0, 0
	for i := from; i < to; i++ {
		text := d.lines[i].text
		switch {
		case isHitPath(text) && i+1 < to && numberedHit(d.lines[i+1].text), hitOf(text).at > 0:
			files = append(files, hitFile{head: i})
			lines++
		case text == "" || text == "--":
		case len(files) == 0:
			return nil
		case numberedHit(text):
			f := &files[len(files)-1]
			f.hits = append(f.hits, i)
			lines++
		default:
			f := &files[len(files)-1]
			f.hits = append(f.hits, i)
			others++
		}
	}
	if lines < 10 || others*4 > lines {
		return nil
	}
	return files
}

func isHitPath(text string) bool { return isPath(strings.TrimSuffix(text, ":")) }

// numberedHit reports whether a line is 12:text, or 12-text.
func numberedHit(text string) bool { return hitNumber(text) > 0 }

// isMatch reports whether a line is a hit and not one around it.
func isMatch(text string) bool {
	n := hitNumber(text)
	return n > 0 && text[n] == ':'
}

func hitNumber(text string) int {
	i := 0
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	if i == 0 || i >= 8 || i >= len(text) || text[i] != ':' && text[i] != '-' {
		return 0
	}
	return i
}
