package fileops

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// headingSigns lists the characters that begin a heading, by the file extension of the
// format. In other formats a "#" begins a comment or has no meaning.
var headingSigns = map[string]string{".md": "#", ".mdx": "#", ".markdown": "#", ".adoc": "=#", ".org": "*"}

// deepest is the maximum number of signs before a heading.
const deepest = 6

// headingIn returns the heading in a line of a file with the extension ext, "" for none.
// A line that is indented by more than three spaces is code.
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
	if open := strings.TrimRight(head, text[:1]); strings.HasSuffix(open, " ") { // signs may also follow a heading
		head = strings.TrimSpace(open)
	}
	return head
}

// added records a new line of text or settings if it is a heading or the first line.
func (r *patchReader) added(f *Op, line string) {
	inCode := r.fence.Takes(line)
	if inCode && len(f.Added) > 0 {
		return
	}
	for _, text := range NewText(f.Path, "", line) {
		heading := headingIn(extension(f.Path), line) != ""
		if inCode { // the first line, and no heading
			heading, text = false, prose.Clip(prose.Squash(strings.TrimSpace(line)), headingChars)
		}
		switch {
		case heading && !r.headed:
			f.Added, r.headed = []string{text}, true
		case heading && len(f.Added) < MaxFuncs || len(f.Added) == 0:
			f.Added = prose.AppendNew(f.Added, text)
		}
	}
}
