package strategy

import "strings"

// headingSigns are the signs that begin a heading, by the extension of the format. In
// another one a "#" begins a comment or nothing.
var headingSigns = map[string]string{".md": "#", ".mdx": "#", ".markdown": "#", ".adoc": "=#", ".org": "*"}

// deepest is the largest number of signs before a heading.
const deepest = 6

// headingIn returns the heading in a line of a format, "" for none. An indented line is
// code.
func headingIn(ext, line string) string {
	signs := headingSigns[ext]
	text := strings.TrimLeft(line, " ")
	if signs == "" || text == "" || len(line)-len(text) > 3 || !strings.Contains(signs, text[:1]) {
		return ""
	}
	head := strings.TrimLeft(text, text[:1])
	if len(text)-len(head) > deepest || !strings.HasPrefix(head, " ") {
		return ""
	}
	head = strings.TrimSpace(head)
	if open := strings.TrimRight(head, text[:1]); strings.HasSuffix(open, " ") { // signs may close it, too
		head = strings.TrimSpace(open)
	}
	return head
}

// A codeFence reads which lines of a text stand in a block of code: it is the mark that began
// the block, or "" outside of one.
type codeFence string

// takes reports whether a line is a mark, or stands between two.
func (f *codeFence) takes(line string) bool {
	line = strings.TrimSpace(line)
	open := *f
	if !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
		return open != ""
	}
	rest := strings.TrimLeft(line, line[:1])
	mark := line[:len(line)-len(rest)]
	switch {
	case open == "":
		*f = codeFence(mark)
	case strings.HasPrefix(mark, string(open)) && rest == "":
		*f = ""
	}
	return true
}

// added notes a new line of text or settings: a heading, or the first one.
func (r *patchReader) added(f *fileOp, line string) {
	inCode := r.fence.takes(line)
	if inCode && len(f.Added) > 0 {
		return
	}
	for _, text := range newText(f.Path, "", line) {
		heading := headingIn(extension(f.Path), line) != ""
		if inCode { // the first line, and no heading
			heading, text = false, clip(squash(strings.TrimSpace(line)), headingChars)
		}
		switch {
		case heading && !r.headed:
			f.Added, r.headed = []string{text}, true
		case heading && len(f.Added) < maxFuncs || len(f.Added) == 0:
			f.Added = appendNew(f.Added, text)
		}
	}
}
