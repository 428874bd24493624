package strategy

import "strings"

// A sentence is one sentence of a text that people wrote.
type sentence struct {
	text    string
	heading bool
	item    bool   // part of a list item
	later   bool   // not the first sentence of its item
	mark    string // number of the item, in the item's first sentence: "3."
	indent  int    // indentation of the item, in columns
	code    bool   // a block of code follows
	title   bool   // a whole line in bold without a full stop, that reads like a heading
}

// eachSentence calls f for each sentence of a text, with its place in a list. An indented
// line below an item continues the item.
func eachSentence(text string, f func(s sentence)) {
	var in sentence // the item around the line
	fenced := false
	for at := 0; at < len(text); {
		raw := text[at:]
		if i := strings.IndexByte(raw, '\n'); i >= 0 {
			raw = raw[:i+1]
		}
		at += len(raw)
		line := strings.TrimSpace(raw)
		if fenceLine(line) {
			fenced = !fenced
			continue
		}
		if fenced || line == "" || line[0] == '|' || line[0] == '<' || strings.HasPrefix(line, "---") {
			continue
		}
		s, bare := lineOf(raw, line)
		if in.item && !s.item && !s.heading && s.indent > in.indent {
			s.item, s.later, s.indent = true, true, in.indent
		}
		in = s
		s.code = strings.HasSuffix(line, ":") && codeNext(text[at:])
		splitSentences(strings.ReplaceAll(bare, "**", ""), func(t string) {
			s.text = t
			f(s)
			s.later, s.mark = s.item, ""
		})
	}
}

// lineOf classifies a line, and returns its text without the marks of a heading or an
// item.
func lineOf(raw, line string) (s sentence, text string) {
	s.heading = line[0] == '#'
	if strings.HasPrefix(line, "**") {
		head, bold := heading(line)
		s.title = bold && len(head) <= maxHeading && !strings.Contains(head, "**") && !endsSentence(head)
	}
	bare := strings.TrimSpace(strings.TrimLeft(line, "#>*-+•"))
	text = unnumbered(bare)
	s.item = bare != line && !s.heading && !strings.HasPrefix(line, "**") && line[0] != '>' || text != bare
	if s.item && text != bare {
		s.mark = strings.TrimSpace(bare[:len(bare)-len(text)])
	}
	s.indent = len(strings.ReplaceAll(raw[:len(raw)-len(strings.TrimLeft(raw, " \t"))], "\t", "    "))
	return s, text
}

// endsSentence reports whether a text ends like a sentence.
func endsSentence(t string) bool {
	return strings.HasSuffix(t, ".") || strings.HasSuffix(t, "!") || strings.HasSuffix(t, "?") || strings.HasSuffix(t, "。")
}

func fenceLine(line string) bool {
	return strings.HasPrefix(line, "```") || strings.HasPrefix(line, "~~~")
}

// codeNext reports whether a text begins with a block of code.
func codeNext(text string) bool { return fenceLine(strings.TrimLeft(text, " \t\r\n")) }
