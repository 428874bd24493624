package strategy

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// Sizes of pasted text, in characters.
const (
	leastPaste  = 800    // minimum size of a block of code, a log or a quotation that is cited
	maxTyped    = 4000   // length in characters above which a text was not typed as a whole, and to which it is cut
	maxTemplate = 1500   // like maxTyped, for a text that begins with markup
	mostTask    = 16_000 // a longer text is a document, not a task
	pasteLead   = 500    // characters of a document that are shown, in addition to pasteTail
	pasteTail   = 200    // see pasteLead
)

// splitPasted separates typed text from pasted text. Large fenced blocks, logs and quoted
// mails are cited in one line.
func splitPasted(text string) heard {
	var out []string
	s := heard{speech: speechTyped}
	cite := func(what string, lines []string) {
		n := utf8.RuneCountInString(strings.Join(lines, "\n"))
		if n < leastPaste {
			out = append(out, lines...)
			return
		}
		s.pasted += n
		out = append(out, fmt.Sprintf("[pasted %s: %d characters, %q …]", what, n, prose.Clip(prose.Squash(firstText(lines)), 80)))
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
		keep := maxTyped
		if template(s.words) {
			keep = maxTemplate
		}
		if n > mostTask {
			keep = pasteLead + pasteTail
		}
		s.pasted += n - keep
		s.words = essence(s.words, keep, cutNote(n-keep, n))
	}
	if strings.HasPrefix(s.words, "[pasted ") && !strings.Contains(s.words, "\n") {
		s.speech = speechPasted
	}
	return s
}

// cutNote returns the note in a text that was not typed as a whole.
func cutNote(gone, of int) string {
	return fmt.Sprintf("%s%d of %d characters left out]", leftOutMark, gone, of)
}

const (
	leftOutMark = "[pasted text: "
	wholeMark   = " [all of it: recall "
)

// briefest shortens a text that was cut already, with a note of cutNote in it. ok is false
// if the text has no such note, or can't become shorter.
func briefest(text string) (brief string, ok bool) {
	text, whole, _ := strings.Cut(text, wholeMark)
	before, rest, found := strings.Cut(text, leftOutMark)
	note, after, closed := strings.Cut(rest, "]")
	gone, of := 0, 0
	if _, err := fmt.Sscanf(note, "%d of %d characters left out", &gone, &of); !found || !closed || err != nil || of-gone <= pasteLead+pasteTail {
		return "", false
	}
	keep := pasteLead + pasteTail
	brief = essence(strings.TrimSpace(before)+" "+strings.TrimSpace(after), keep, cutNote(of-keep, of))
	if whole != "" {
		brief += wholeMark + whole
	}
	return brief, true
}

// demonstrationMark begins the line before a recorded session that a prompt shows as an
// example. demonstrationEnd begins the line after it.
const (
	demonstrationMark = "--- DEMONSTRATION ---\n"
	demonstrationEnd  = "--- END OF DEMONSTRATION ---"
)

// withoutDemonstration cites a session that a prompt shows as an example: its words are
// those of another task.
func withoutDemonstration(text string) string {
	before, rest, found := strings.Cut(text, demonstrationMark)
	shown, after, ends := strings.Cut(rest, demonstrationEnd)
	if !found || !ends {
		return text
	}
	return fmt.Sprintf("%s[pasted demonstration of another task: %d characters]%s", before, utf8.RuneCountInString(shown), after)
}

// onlyDemonstrates reports whether a text has a demonstration, and no task after it.
func onlyDemonstrates(text string) bool {
	before, rest, found := strings.Cut(text, demonstrationMark)
	_, after, ends := strings.Cut(rest, demonstrationEnd)
	return found && ends && strings.TrimSpace(after) == "" && strings.Contains(strings.ToLower(before), "demonstration")
}

// template reports whether a text begins with a markup element on a line of its own. Such
// a text is the body of a command and was not typed.
func template(text string) bool {
	line, _, ok := strings.Cut(text, "\n")
	line = strings.TrimSpace(line)
	return ok && len(line) > 3 && line[0] == '<' && line[len(line)-1] == '>' && tagName(line[1:]) == line[1:len(line)-1]
}

// firstText returns the first meaningful line.
func firstText(lines []string) string {
	for _, l := range lines {
		if l = strings.TrimSpace(l); len(l) > 3 && !strings.HasPrefix(l, "```") {
			return l
		}
	}
	return strings.Join(lines, " ")
}

// A block is a run of lines of one kind. The field named what is "" for prose.
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

// lineKind classifies a line: prose (""), quotation, log or data.
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

// stamped reports whether a line begins with the date or time of a log entry.
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

// ends keeps the beginning and the end of a text, cut between sentences, else between
// words, and puts a note between them.
func ends(s string, head, tail int, note string) string {
	if utf8.RuneCountInString(s) <= head+tail {
		return s
	}
	begin := strings.TrimSuffix(prose.Clip(s, head), " …")
	for _, stop := range []string{"\n", ". ", "! ", "? "} {
		if i := strings.LastIndex(begin, stop); i >= len(begin)/3 {
			begin = strings.TrimSpace(begin[:i+len(stop)])
			break
		}
	}
	end := s[prose.Trailing(s, tail):]
	for _, stop := range []string{"\n", ". ", " "} { // a line, else a sentence, else a word
		if i := strings.Index(end, stop); i >= 0 && i < len(end)/2 {
			end = end[i+len(stop):]
			break
		}
	}
	return begin + " " + note + " " + strings.TrimSpace(end)
}

// withoutNotes removes the notes on pasted text from the typed words.
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
