package strategy

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Limits on excerpts from texts that the agent only read.
const (
	excerptChars = 420 // bytes of one excerpt
	excerptLines = 12
	leastExcerpt = 40 // bytes; a result must be longer
	excerptAhead = 2  // lines before the first line with a word of the task
	mostExcerpts = 60
	mostRead     = 96 << 10 // bytes of one result
	excerptValue = 0.1
)

// readsVerb introduces an excerpt of a file.
const readsVerb = " reads “"

// lineBreak separates the lines of an excerpt.
const lineBreak = " ⏎ "

// A piece is a run of lines of one result.
type piece struct {
	step, call int
	line       int // index of its first line in the result
	text       string
	score      float64
}

// excerptLines returns lines with the excerpts that are most relevant to the task. They are
// of texts, not of code: a few lines of code state nothing, and the file can be read again.
func (h *History) excerptLines(section int) []Line {
	x := newExcerpter(h)
	if len(x.weight) == 0 {
		return nil
	}
	best := x.pieces()
	slices.SortStableFunc(best, func(a, b piece) int { return cmp.Compare(b.score, a.score) })
	var out []Line
	for _, p := range best[:min(len(best), mostExcerpts)] {
		s := &h.Steps[p.step]
		c := &s.Calls[p.call]
		if file := c.shownFile(); file == "" || !fileops.OfProse(file) || h.editedSince(file, s.ID) {
			continue // an output, a file of code, or the file has other text now
		}
		out = append(out, Line{Section: section, Text: "`" + c.files[0].Path + "`" + readsVerb + p.text + " " + stepID(s.ID), Value: excerptValue * p.score / best[0].score, Order: 80_000 + 100*s.ID + p.line})
	}
	return out
}

// An excerpter scores lines by the words of the task that they contain. Rare
// words score highest.
type excerpter struct {
	h      *History
	weight map[string]float64
}

func newExcerpter(h *History) *excerpter {
	x := &excerpter{h: h, weight: map[string]float64{}}
	h.eachTyped(func(text string) {
		parts(text, func(w string) { x.weight[w] = 1 })
	})
	seen := map[string]int{}
	n := 0
	h.eachRead(func(_, _ int, text string) {
		n++
		here := map[string]bool{}
		parts(text, func(w string) {
			if x.weight[w] > 0 && !here[w] {
				here[w] = true
				seen[w]++
			}
		})
	})
	for w := range x.weight {
		if seen[w] == 0 || everyday[w] {
			delete(x.weight, w)
		} else {
			x.weight[w] = 0.3 + math.Log(float64(n+1)/float64(seen[w]))
		}
	}
	return x
}

// eachRead calls f for each result of a call that only looks.
func (h *History) eachRead(f func(step, call int, text string)) {
	for i := range h.Steps {
		for k := range h.Steps[i].Calls {
			c := &h.Steps[i].Calls[k]
			if c.deed() == deedLook && c.Outcome != Failed && len(c.Result) > leastExcerpt {
				f(i, k, withoutReader(c.Result[:boundary(c.Result, min(len(c.Result), mostRead))]))
			}
		}
	}
}

// leastPart is the minimum length of a word of the task, in bytes.
const leastPart = 5

// parts calls f for each word of a text, in lower case. It splits names in
// snake case and camel case.
func parts(text string, f func(w string)) {
	start := -1
	flush := func(end int) {
		if start >= 0 && end-start >= leastPart {
			f(strings.ToLower(text[start:end]))
		}
		start = -1
	}
	lower := false
	for i, r := range text {
		switch {
		case !unicode.IsLetter(r):
			flush(i)
		case start < 0:
			start = i
		case unicode.IsUpper(r) && lower:
			flush(i)
			start = i
		}
		lower = unicode.IsLower(r)
	}
	flush(len(text))
}

// pieces cuts the results into runs of lines that do not overlap, and scores
// them.
func (x *excerpter) pieces() []piece {
	var out []piece
	seen := map[string]bool{}
	x.h.eachRead(func(step, call int, text string) {
		lines := strings.Split(text, "\n")
		scores := make([]float64, len(lines))
		for i, l := range lines {
			parts(l, func(w string) { scores[i] += x.weight[w] })
		}
		for i, done := 0, 0; i < len(lines); {
			if scores[i] == 0 {
				i++
				continue
			}
			p, next := x.from(lines, max(i-excerptAhead, done))
			p.step, p.call = step, call
			if p.text != "" && !seen[p.text] {
				seen[p.text] = true
				out = append(out, p)
			}
			i, done = max(next, i+1), next
		}
	})
	return out
}

// pathsOnly reports whether all lines are paths, as in a listing.
func pathsOnly(lines []string) bool {
	for _, l := range lines {
		if strings.ContainsAny(l, " ({;") || !strings.Contains(l, "/") {
			return false
		}
	}
	return true
}

// searchHit reports whether a line is a hit of a search, or a line around one: "a/b.go:12: text".
func searchHit(l string) bool { return hitPlace.MatchString(l) }

var hitPlace = lazy.Compile(`^"?(?:[A-Za-z]:)?[\w./\\~@-]*[\w/\\]\.\w+[:-]\d+[:-]`)

// from returns the piece that begins at line i, and the index of the line after
// it. The piece is empty if fewer than two lines have text.
func (x *excerpter) from(lines []string, i int) (p piece, next int) {
	p.line = i
	var kept []string
	n := 0
	words := map[string]bool{}
	for next = i; next < len(lines) && next < i+excerptLines; next++ {
		l := prose.Squash(withoutGutter(lines, next))
		if l == "" || framed(l) || ourOwn(l) {
			continue
		}
		if prose.CodeLine(l) || searchHit(l) || saysCut(l) {
			if len(kept) > 0 {
				break // lines from both sides of the code would read as one text
			}
			continue
		}
		if n += len(l) + len(lineBreak); n > excerptChars && len(kept) > 0 {
			break
		}
		kept = append(kept, prose.Clip(l, excerptChars/2))
		parts(l, func(w string) {
			if !words[w] { // add in the order of the text, because the order changes a sum of floats
				words[w] = true
				p.score += x.weight[w]
			}
		})
	}
	if len(kept) < 2 || pathsOnly(kept) {
		return piece{}, max(next, i+1)
	}
	p.text = strings.ReplaceAll(strings.Join(kept, lineBreak), "`", "'") + "”"
	return p, max(next, i+1)
}
