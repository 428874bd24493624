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
	c.named(r, some)
	return done(d.shown("files, hunks and some changes of a patch", c.take(room)))
}
