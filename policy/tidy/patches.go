package tidy

import "strings"

// patches reduces a large patch to its files, its hunks and as many changed lines as
// there is room for. Lines with names from the call or the task take precedence.
func patches(d *draft, r *Result, room int) verdict {
	from, to := d.inner()
	numbered := d.numbered(from, to)
	files, hunks := 0, 0
	for i := from; i < to; i++ {
		switch text := unnumbered(d.lines[i].text, numbered); {
		case text == "" || text[0] != 'd' && text[0] != '+' && text[0] != '@':
		case strings.HasPrefix(text, "diff --git "), strings.HasPrefix(text, "+++ "):
			files++
		case strings.HasPrefix(text, "@@ "):
			hunks++
		}
	}
	if files == 0 || hunks == 0 {
		return pass
	}
	c := newChoice(d)
	for i := from; i < to; i++ {
		switch text := unnumbered(d.lines[i].text, numbered); {
		case strings.HasPrefix(text, "diff --git "), strings.HasPrefix(text, "commit "):
			c.raise(i, best)
		case strings.HasPrefix(text, "+++ "), strings.HasPrefix(text, "--- "), strings.HasPrefix(text, "index "):
		case strings.HasPrefix(text, "@@ "):
			c.raise(i, good)
		case len(text) > 1 && (text[0] == '+' || text[0] == '-') && declares(unindented(text[1:])):
			c.raise(i, some)
		case len(text) > 1 && (text[0] == '+' || text[0] == '-'):
			c.raise(i, fill)
		}
	}
	c.namedHunks(r, from, to)
	c.named(r, some)
	return done(d.shown("files, hunks and some changes of a patch", c.take(room)))
}

// namedHunks raises the hunks whose changes hold a word of the call or the task, the first
// few of each word.
func (c *choice) namedHunks(r *Result, from, to int) {
	const each, most, longest = 3, 6, 40 // hunks of a word, hunks, and lines of a hunk
	words, found, head, all := r.words(), map[string]int{}, from, 0
	for i := from; i < to && all < most; i++ {
		text := unnumbered(c.d.lines[i].text, c.numbered)
		if strings.HasPrefix(text, "@@ ") {
			head = i
		}
		if text == "" || text[0] != '+' && text[0] != '-' && text[0] != '@' {
			continue
		}
		w := words.in(text)
		if w == "" || found[w] >= each || c.rank[i] == wanted {
			continue
		}
		found[w]++
		all++
		for k := head; k < to && k <= head+longest; k++ {
			if is := unnumbered(c.d.lines[k].text, c.numbered); k > head && (strings.HasPrefix(is, "@@ ") || strings.HasPrefix(is, "diff --git ")) {
				break
			}
			c.raise(k, wanted)
		}
	}
}
