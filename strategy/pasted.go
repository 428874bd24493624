package strategy

import (
	"fmt"
	"strings"
	"unicode/utf8"
)

// Sizes of what is pasted, in characters.
const (
	leastPaste  = 800  // a block of code, a log or a quotation of that much is cited
	maxTyped    = 4000 // what is longer was not typed as a whole
	maxTemplate = 1500 // likewise of one that begins with markup
	pasteLead   = 500  // of what was not typed as a whole is shown at its beginning
	pasteTail   = 200  // and at its end
)

// splitPasted tells what a person typed from what they pasted: fenced blocks,
// logs and quoted mail of some size are cited in one line.
func splitPasted(text string) heard {
	var out []string
	s := heard{speech: Typed}
	cite := func(what string, lines []string) {
		n := utf8.RuneCountInString(strings.Join(lines, "\n"))
		if n < leastPaste {
			out = append(out, lines...)
			return
		}
		s.pasted += n
		out = append(out, fmt.Sprintf("[pasted %s: %d characters, %q …]", what, n, clip(squash(firstText(lines)), 80)))
	}
	for _, b := range blocks(strings.Split(text, "\n")) {
		if b.what == "" {
			out = append(out, b.lines...)
		} else {
			cite(b.what, b.lines)
		}
	}
	s.words = strings.TrimSpace(strings.Join(out, "\n"))
	if n := utf8.RuneCountInString(s.words); n > maxTyped || n > maxTemplate && template(s.words) {
		s.pasted += n - pasteLead - pasteTail
		s.words = ends(s.words, pasteLead, pasteTail, fmt.Sprintf("[pasted text: %d of %d characters left out]", n-pasteLead-pasteTail, n))
	}
	if strings.HasPrefix(s.words, "[pasted ") && !strings.Contains(s.words, "\n") {
		s.speech = Pasted
	}
	return s
}

// template reports whether a text begins with an element of markup on lines of
// its own: the body of a command, not typing.
func template(text string) bool {
	line, _, ok := strings.Cut(text, "\n")
	line = strings.TrimSpace(line)
	return ok && len(line) > 3 && line[0] == '<' && line[len(line)-1] == '>' && tagName(line[1:]) == line[1:len(line)-1]
}

// firstText is the first line that says something.
func firstText(lines []string) string {
	for _, l := range lines {
		if l = strings.TrimSpace(l); len(l) > 3 && !strings.HasPrefix(l, "```") {
			return l
		}
	}
	return strings.Join(lines, " ")
}

// A block is a run of lines of one kind; what = "" is prose.
type block struct {
	what  string
	lines []string
}

// blocks cuts lines into prose, fenced code, logs and quotations.
func blocks(lines []string) []block {
	var out []block
	fenced := false
	for _, l := range lines {
		what := lineKind(l)
		switch t := strings.TrimSpace(l); {
		case strings.HasPrefix(t, "```") || strings.HasPrefix(t, "~~~"):
			what = "code"
			if !fenced {
				out = append(out, block{what: what})
			}
			fenced = !fenced
		case fenced:
			what = "code"
		case t == "" && len(out) > 0:
			what = out[len(out)-1].what
		}
		if n := len(out); n > 0 && out[n-1].what == what {
			out[n-1].lines = append(out[n-1].lines, l)
		} else {
			out = append(out, block{what, []string{l}})
		}
	}
	return out
}

// lineKind tells a line of prose from one of a log or of quoted mail.
func lineKind(l string) string {
	t := strings.TrimSpace(l)
	switch {
	case strings.HasPrefix(t, "> "):
		return "quotation"
	case strings.HasPrefix(t, "at ") && strings.HasSuffix(t, ")"), strings.HasPrefix(t, `File "`), strings.HasPrefix(t, "Traceback (most"),
		strings.HasPrefix(t, "+++ "), strings.HasPrefix(t, "--- a/"), strings.HasPrefix(t, "@@ "), strings.HasPrefix(t, "diff --git"),
		stamped(t), strings.HasPrefix(l, "\t") && strings.ContainsAny(t, "{}();="), strings.HasPrefix(l, "    ") && strings.ContainsAny(t, "{}();="):
		return "log"
	case len(t) > 2000 && strings.Count(t, " ") < len(t)/30:
		return "data"
	}
	return ""
}

// stamped reports whether a line begins with a date or a time of a log.
func stamped(t string) bool {
	t = strings.TrimLeft(t, "[")
	digits := 0
	for i := 0; i < len(t) && i < 19; i++ {
		switch c := t[i]; {
		case c >= '0' && c <= '9':
			digits++
		case c == '-' || c == ':' || c == '/' || c == 'T' || c == ' ' || c == '.':
		default:
			return digits >= 6 && i >= 8
		}
	}
	return digits >= 10
}

// ends keeps the beginning and the end of a text, cut between words, with a
// note between them.
func ends(s string, head, tail int, note string) string {
	r := []rune(s)
	if len(r) <= head+tail {
		return s
	}
	begin := strings.TrimSuffix(clip(s, head), " …")
	end := string(r[len(r)-tail:])
	if i := strings.IndexAny(end, " \n"); i >= 0 && i < len(end)/2 {
		end = end[i+1:]
	}
	return begin + " " + note + " " + strings.TrimSpace(end)
}

// withoutNotes is what was typed without the notes on what was pasted.
func withoutNotes(words string) string {
	for {
		before, rest, ok := strings.Cut(words, "[pasted ")
		if !ok {
			return words
		}
		_, after, closed := strings.Cut(rest, "]")
		if !closed {
			return words
		}
		words = strings.TrimSpace(before) + "\n" + strings.TrimSpace(after)
	}
}
