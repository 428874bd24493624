package eval

import (
	"regexp"
	"strings"
)

// standsFor is how a text says that a mark at the beginning of paths is short
// for a folder.
var standsFor = regexp.MustCompile("`([^` ]{1,8}/)`[^`\n]* stands for `(/[^` ]+/)`")

// inFolder is how a line names files of a folder that it says once.
var inFolder = regexp.MustCompile("(?i)\\bin `([^` ]+/)`: (.*)")

var fileName = regexp.MustCompile(`[\w-][\w.@-]*\.\w+`)

// inFolders are the paths of files that stand behind their folder.
func inFolders(text string) []string {
	var out []string
	for _, m := range inFolder.FindAllStringSubmatch(text, -1) {
		for _, name := range fileName.FindAllString(m[2], -1) {
			out = append(out, m[1]+name)
		}
	}
	return out
}

// expanded is a text with its abbreviations of folders written out, as its
// reader reads them.
func expanded(text string) string {
	for _, m := range standsFor.FindAllStringSubmatch(text, -1) {
		text = strings.ReplaceAll(text, m[1], m[2])
	}
	return text
}
