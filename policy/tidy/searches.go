package tidy

import (
	"fmt"
	"strings"

	"github.com/agentcompact/compact/policy"
)

// searches leaves of very many hits the files, the first hits of each, and those
// that the task names.
func searches(d *draft, r *Result, room int) bool {
	from, to := d.inner()
	files := d.hits(from, to)
	if len(files) == 0 {
		return false
	}
	c := newChoice(d)
	for _, f := range files {
		c.raise(f.head, best)
		for k, i := range f.hits {
			switch {
			case k < 3:
				c.raise(i, good)
			case k < 8:
				c.raise(i, some)
			default:
				c.raise(i, fill)
			}
		}
		if len(f.hits) > 3 {
			d.lines[f.head] = d.counted(f.head, len(f.hits))
		}
	}
	c.named(termsOf(r.Said...), good)
	return d.shown("first hits of each file", c.take(room))
}

// counted is the heading of a file with the number of its hits.
func (d *draft) counted(i, n int) line {
	l := d.lines[i]
	segs := append([]policy.Segment{}, l.segments()...)
	return l.rewritten(d.text, append(segs, policy.Segment{Lit: fmt.Sprintf(" (%d lines)", n)})...)
}

// hitFile is a file that hits are in: the line of its path, and those of its
// hits.
type hitFile struct {
	head int
	hits []int
}

// hits reads the result of a search: paths, each with numbered lines below it.
// nil where it is none.
func (d *draft) hits(from, to int) (files []hitFile) {
	lines := 0
	for i := from; i < to; i++ {
		text := d.lines[i].text
		switch {
		case text == "" || text == "--":
			continue
		case isHitPath(text) && i+1 < to && numberedHit(d.lines[i+1].text):
			files = append(files, hitFile{head: i})
		case numberedHit(text) && len(files) > 0:
			f := &files[len(files)-1]
			f.hits = append(f.hits, i)
			lines++
		case hitOf(text).at > 0: // a file with one hit
			files = append(files, hitFile{head: i})
		default:
			continue
		}
		lines++
	}
	if lines*10 < (to-from)*7 || lines < 10 {
		return nil
	}
	return files
}

func isHitPath(text string) bool { return isPath(strings.TrimSuffix(text, ":")) }

// numberedHit reports whether a line is 12:text, or 12-text.
func numberedHit(text string) bool {
	i := 0
	for i < len(text) && isDigit(text[i]) {
		i++
	}
	return i > 0 && i < 8 && i < len(text) && (text[i] == ':' || text[i] == '-')
}
