package strategy

import (
	"slices"
	"strings"
)

// planShare is the maximum share of the plan in a model's summary.
const planShare = 0.3

// withPlan adds the plan, as the tools last wrote it, to a model's document. It removes
// the model's lines about the same items, so that only the recorded status remains. The
// function fitted fits the rest of the document into the tokens that the plan leaves.
func (h *History) withPlan(d Document, s Strategy, limit int, count func(string) int, fitted func(d Document, limit int) Document) Document {
	into, ok := s.section(headingComing)
	if !ok {
		into = 0
	}
	d = d.clone()
	items := h.plan(d)
	lines := linesWithin(items, int(float64(limit)*planShare), count)
	if len(lines) == 0 {
		return fitted(d, limit)
	}
	known := map[string]bool{}
	for _, it := range items {
		known[itemKey(it.Text)] = true
	}
	d.all(func(lines []string) []string {
		return slices.DeleteFunc(lines, func(l string) bool { return restates(l, known) })
	})
	own := Document{Sections: make([][]string, len(s.Sections))}
	own.Sections[into] = lines
	d = fitted(d, limit-count(own.body(s)))
	for len(d.Sections) <= into {
		d.Sections = append(d.Sections, nil)
	}
	d.Sections[into] = append(d.Sections[into], lines...)
	return d
}

// plan returns the items that tools of this part wrote, and the items of the previous
// summary for which no line of d states the outcome. It omits a model's own items,
// which cite steps, because the model carries them over.
func (h *History) plan(d Document) []item {
	return slices.DeleteFunc(h.items(), func(it item) bool {
		return it.Step == 0 && (strings.Contains(it.Text, "[s") || d.decides(it))
	})
}

// decides reports whether a line with a status is about an item, that is, contains two
// thirds of the item's words.
func (d Document) decides(it item) bool {
	want, found := wordSet(it.Text), false
	d.all(func(lines []string) []string {
		for _, l := range lines {
			if _, text, ok := statusOf(l); ok && !found {
				found = contains(wordSet(text), want)
			}
		}
		return lines
	})
	return found
}

// contains reports whether a text has two thirds of the words of an item.
func contains(have, item map[string]bool) bool {
	n := 0
	for w := range item {
		if have[w] {
			n++
		}
	}
	return n > 0 && 3*n >= 2*len(item)
}

// linesWithin returns the lines of items that fit room, open items first.
func linesWithin(items []item, room int, count func(string) int) []string {
	all := itemLines(items, 0)
	slices.SortStableFunc(all, func(a, b Line) int { return a.Order - b.Order })
	var out []string
	for _, l := range all {
		if room -= count("- " + l.Text + "\n"); room < 0 {
			break
		}
		out = append(out, l.Text)
	}
	return out
}

// restates reports whether a line is an item of the plan, in any status.
func restates(line string, known map[string]bool) bool {
	_, text, ok := statusOf(line)
	if !ok {
		text = strings.TrimPrefix(strings.TrimPrefix(line, "[ ] "), "[x] ")
	}
	return known[itemKey(unmarked(withoutSteps(text)).Text)]
}

// withoutSteps returns a line without its step citations.
func withoutSteps(line string) string {
	for {
		before, after, ok := strings.Cut(line, "[s")
		if !ok {
			return strings.TrimSpace(line)
		}
		_, rest, closed := strings.Cut(after, "]")
		if !closed {
			return strings.TrimSpace(line)
		}
		line = before + rest
	}
}
