package strategy

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/strategy/internal/fileops"
)

// attachedTags are elements in which clients put a file that the user attached to a message.
var attachedTags = map[string]bool{"file": true, "file_content": true, "file_contents": true, "attached_file": true, "attachment": true}

// pathAttributes name the file of such an element.
var pathAttributes = []string{` path="`, ` name="`, ` filename="`, ` file="`, ` file_path="`}

// mostAttached is the maximum number of such elements of a message that are read. Without it, a
// message of many unclosed elements would take quadratic time.
const mostAttached = 200

// withoutAttached cites the attached files of code: nobody typed their lines. A file of prose
// stays, because it can hold the task.
func withoutAttached(text string) string {
	var out strings.Builder
	for range mostAttached {
		start, name := tagOf(text, attachedTags)
		if start < 0 {
			break
		}
		inner, rest, ok := element(text[start:], name)
		file := attachedPath(text[start:])
		if !ok || file == "" || fileops.OfProse(file) || len(inner) < leastPaste {
			out.WriteString(text[:start+1])
			text = text[start+1:]
			continue
		}
		fmt.Fprintf(&out, "%s[pasted file %s: %d characters]", text[:start], file, utf8.RuneCountInString(strings.TrimSpace(inner)))
		text = rest
	}
	out.WriteString(text)
	return out.String()
}

// attachedPath returns the path in the first tag of a text, "" if the tag names no file.
func attachedPath(text string) string {
	tag, _, _ := strings.Cut(text, ">")
	for _, a := range pathAttributes {
		if _, after, ok := strings.Cut(tag, a); ok {
			file, _, closed := strings.Cut(after, `"`)
			if closed && fileops.IsPath(file) {
				return file
			}
		}
	}
	return ""
}
