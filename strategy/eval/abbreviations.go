package eval

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
)

// standsFor matches the definition of a mark that replaces a folder in paths.
var standsFor = lazy.Compile("`([^` ]{1,8}/)`[^`\n]* stands for `(/[^` ]+/)`")

// inFolder matches a line that names a folder once for several files.
var inFolder = lazy.Compile("(?i)\\bin `([^` ]+/)`: (.*)")

var fileName = lazy.Compile(`[\w-][\w.@-]*\.\w+`)

// inFolders returns the paths of files whose names follow the name of their folder in a
// line.
func inFolders(text string) []string {
	var out []string
	for _, m := range inFolder.FindAllStringSubmatch(text, -1) {
		for _, name := range fileName.FindAllString(m[2], -1) {
			out = append(out, m[1]+name)
		}
	}
	return out
}

// expanded returns a text with its abbreviated folders written out.
func expanded(text string) string {
	for _, m := range standsFor.FindAllStringSubmatch(text, -1) {
		text = strings.ReplaceAll(text, m[1], m[2])
	}
	return text
}
