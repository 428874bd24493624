package strategy

import (
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// headingReferences is the heading of identifiers that no other section of the summary
// names.
const headingReferences = "References"

// A Document is a summary split into its sections.
type Document struct {
	Sections   [][]string // the lines of each section of the strategy, without bullets
	Notes      []string   // lines that are under no heading of the strategy
	References []string   // the lines under the heading References, without bullets
	Words      []Word     // the user's messages, oldest first
	Base       string     // the folder that a mark abbreviates in paths; "" = none
}

// notes is the heading of lines that fit no section of a strategy.
const notes = "Notes"

// ParseDocument reads a summary. Unknown headings are dropped; the lines under
// them become notes.
func ParseDocument(s Strategy, text string) Document {
	d := Document{Sections: make([][]string, max(len(s.Sections), 1))}
	d.Words, text = cutWords(withoutIntroduction(text), s.title)
	into := &d.Notes
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if framing(line) {
			continue
		}
		h, ok := s.heading(line)
		if !ok && into == &d.Notes { // Render writes notes without bullets, and they must be readable again
			if line = bullet(line); framing(line) {
				continue
			}
			h, ok = s.heading(line)
		}
		if ok {
			if into = &d.Notes; headingKey(h) == headingKey(headingReferences) {
				into = &d.References
				continue
			}
			if i, ok := s.section(h); ok {
				into = &d.Sections[i]
			}
			continue
		}
		if line = bullet(line); baseIn(line) != "" {
			d.Base = baseIn(line)
		} else if line != "" {
			*into = append(*into, line)
		}
	}
	return d
}

// framing reports whether a line only frames the text and states nothing.
func framing(line string) bool {
	return line == "" || strings.HasPrefix(line, "```") || ruled(line) || tag(line)
}

// ruled reports whether a line is a horizontal rule, or underlines a heading.
func ruled(line string) bool { return len(line) > 2 && strings.Trim(line, "=-*_") == "" }

// tag reports whether a line is a single tag. Models put tags around a summary.
func tag(line string) bool {
	return strings.HasPrefix(line, "<") && strings.HasSuffix(line, ">") && !strings.ContainsAny(line[1:len(line)-1], "<> ")
}

// heading returns the title of a heading in any of the common forms: markdown, bold,
// HTML, the name of a section with a colon, or the title of a section alone.
func (s Strategy) heading(line string) (string, bool) {
	if h, ok := prose.Heading(line); ok {
		return h, true
	}
	if _, alone := s.titled(line); alone && bullet(line) == line && prose.Unnumbered(line) == line {
		return line, true
	}
	if !strings.HasSuffix(line, ":") || len(line) > prose.MaxHeading || strings.HasPrefix(line, "- ") || strings.HasPrefix(line, "* ") {
		return "", false
	}
	h := strings.TrimSuffix(line, ":")
	_, known := s.section(h)
	return h, known || headingKey(h) == headingKey(headingReferences)
}

// bullet returns a line without the mark of a list item, and without marks that
// would make it a heading.
func bullet(line string) string {
	for {
		rest := line
		for _, b := range []string{"- ", "* ", "• ", "+ "} {
			rest = strings.TrimSpace(strings.TrimPrefix(rest, b))
		}
		if h, ok := prose.Heading(rest); ok {
			rest = h
		}
		if rest == line {
			return line
		}
		line = rest
	}
}

// Render writes the document with the headings of s. It leaves out empty sections.
func (d Document) Render(s Strategy) string {
	words := renderWords(d.Words, s.title)
	body := d.body(s)
	if words == "" || body == "" {
		return words + body
	}
	return words + "\n\n" + body
}

// body returns the rendered document without the words of the user.
func (d Document) body(s Strategy) string {
	var b strings.Builder
	write := func(title string, lines []string) {
		if len(lines) == 0 {
			return
		}
		if b.Len() > 0 {
			b.WriteByte('\n')
		}
		b.WriteString("## " + title + "\n")
		for _, l := range lines {
			b.WriteString("- " + l + "\n")
		}
	}
	if d.Base != "" {
		write(headingPaths, []string{baseLine(d.Base)})
	}
	for i := range min(len(s.Sections), len(d.Sections)) {
		write(s.Sections[i].Title, d.Sections[i])
	}
	if b.Len() == 0 && len(d.References) == 0 {
		return strings.Join(d.Notes, "\n")
	}
	write(notes, d.Notes)
	write(headingReferences, d.References)
	return strings.TrimSuffix(b.String(), "\n")
}

// empty reports whether the document has no lines and no words.
func (d Document) empty() bool {
	for _, s := range d.Sections {
		if len(s) > 0 {
			return false
		}
	}
	return len(d.References) == 0 && len(d.Notes) == 0 && len(d.Words) == 0
}

// all replaces every list of lines with the result of f.
func (d *Document) all(f func(lines []string) []string) {
	for i := range d.Sections {
		d.Sections[i] = f(d.Sections[i])
	}
	d.Notes, d.References = f(d.Notes), f(d.References)
}

// clone returns a copy that shares no list of lines with d.
func (d Document) clone() Document {
	d.Sections = slices.Clone(d.Sections)
	d.all(slices.Clone)
	return d
}

// lastStep returns the highest number among the steps that lines cite and the user's
// messages.
func (d Document) lastStep() int {
	last := 0
	d.all(func(lines []string) []string {
		for _, l := range lines {
			last = max(last, lastStep(l))
		}
		return lines
	})
	for _, w := range d.Words {
		last = max(last, w.Step)
	}
	return last
}

// lastStep returns the highest number of a step that a line cites: [s12], or
// [s12–s31].
func lastStep(line string) int {
	last := 0
	for {
		_, after, ok := strings.Cut(line, "[s")
		if !ok {
			return last
		}
		number, tail, _ := strings.Cut(after, "]")
		if _, end, ok := strings.Cut(number, "–s"); ok {
			number = end
		}
		if n, err := strconv.Atoi(number); err == nil && n < maxStep {
			last = max(last, n)
		}
		line = tail
	}
}

// maxStep limits the step number that a forged citation can claim.
const maxStep = 1_000_000

// stepID returns the citation of a step.
func stepID(n int) string { return "[s" + strconv.Itoa(n) + "]" }
