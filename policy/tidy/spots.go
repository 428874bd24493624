package tidy

import (
	"slices"
	"strings"
)

// Limits for the ordinary words of the call and the task.
const (
	mostSought = 16 // number of words that are looked up
	mostSpots  = 4  // number of places of a word; one that occurs in more is not informative
	sameSpot   = 80 // bytes after a place that belong to it
	mostIndent = 16 // spaces before a word at the beginning of a line
)

// frequentWords are words of requests that do not name anything.
var frequentWords = func() map[string]bool {
	m := map[string]bool{}
	for _, w := range strings.Fields("about after again also another because been before being between both call called change changed changes code command could does done each else file file_path files filePath find first fixed from function have here into just know last like limit line lines list look made make mend more most much must need number offset only other output over path pattern please read result results same should show some such sure take test tests than that their them then there these they this those through under until update used using very want well were what when where which while whole will with work would write your") {
		m[w] = true
	}
	return m
}()

// spots returns the positions in the result of the words that the call and the task
// look for, in increasing order. A word counts if it occurs only a few times in the
// result. It may be an ordinary word, an option, a path or a name with dashes; terms
// has the other names.
func (r *Result) spots() []int {
	if r.spotted != nil {
		return r.spotted
	}
	r.spotted = []int{}
	for _, w := range sought(r.Said) {
		r.spotted = append(r.spotted, spotsOf(r.Text, w)...)
	}
	slices.Sort(r.spotted)
	return r.spotted
}

// hasSpotIn reports whether a word that the call or the task looks for is in [from, to).
func (r *Result) hasSpotIn(from, to int) bool {
	spots := r.spots()
	k, _ := slices.BinarySearch(spots, from)
	return k < len(spots) && spots[k] < to
}

// spotsOf returns the positions of a word in a text. If an ordinary word has too many, it
// returns nil. If a name with dashes or dots has too many, it returns the positions at the
// beginnings of lines, where a manual explains an option, and then the first of the other
// positions.
func spotsOf(text, word string) []int {
	const enough = 64
	var first, others []int // at the beginning of a line, and elsewhere
	for at := 0; len(first)+len(others) < enough; {
		i := strings.Index(text[at:], word)
		if i < 0 {
			break
		}
		i += at
		at = i + len(word)
		if i > 0 && wordByte[text[i-1]] || at < len(text) && wordByte[text[at]] {
			continue
		}
		before := text[max(i-mostIndent, 0):i]
		if strings.TrimLeft(before[strings.LastIndexByte(before, '\n')+1:], " \t") == "" {
			first = append(first, i)
		} else {
			others = append(others, i)
		}
		if len(first)+len(others) > mostSpots && isWord(word) {
			return nil
		}
		at += min(sameSpot, max(strings.IndexByte(text[at:], '\n'), 0))
	}
	first = first[:min(len(first), mostSpots)]
	return append(first, others[:min(len(others), mostSpots-len(first))]...)
}

// sought returns words of the texts: first the words of the first text, which is the last
// message of the user, then those of the call and of the text before it.
func sought(said []string) (out []string) {
	const most = 2000 // limit in bytes for one text
	for n := range said {
		text := said[0]
		if n > 0 {
			text = said[len(said)-n]
		}
		for _, w := range strings.FieldsFunc(text[:min(len(text), most)], isSeparator) {
			w = strings.TrimRight(strings.Trim(w, ".:?!/*"), "-")
			if len(w) < termLeast || len(w) > termMost || frequentWords[w] || slices.Contains(out, w) {
				continue
			}
			if out = append(out, w); len(out) == mostSought || n == 0 && len(out) == mostSought/2 {
				break
			}
		}
		if len(out) == mostSought {
			break
		}
	}
	return out
}

// isWord reports whether a text has only letters.
func isWord(s string) bool {
	for i := range len(s) {
		if !isLetter(s[i]) {
			return false
		}
	}
	return true
}

// isSeparator reports whether a character separates words.
func isSeparator(c rune) bool {
	return c <= ' ' || strings.ContainsRune("\"'`()<>[]{},;=|\\", c)
}
