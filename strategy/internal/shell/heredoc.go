package shell

import (
	"slices"
	"strings"
)

// scriptShells lists programs that run the text of a here-document as commands.
var scriptShells = []string{"bash", "sh", "zsh", "ksh", "ssh"}

// OutsideHeredocs returns the lines of a script that are not the text of a here-document
// for a program that is not a shell. Such a text is data, even if it looks like
// commands. ok is false if a here-document does not end; its text then is unknown.
func OutsideHeredocs(cmd string) (lines []string, ok bool) {
	end := ""
	for line := range strings.Lines(strings.ReplaceAll(WithoutHereStrings(cmd), "\\\n", " ")) {
		line = strings.TrimSpace(line)
		if end != "" {
			if line == end {
				end = ""
			}
			continue
		}
		if line == "" {
			continue
		}
		lines = append(lines, line)
		before, _, _ := strings.Cut(line, "<<")
		parts := Split(before)
		if w := WithoutPrefix(Fields(parts[len(parts)-1])); len(w) == 0 || !slices.Contains(scriptShells, Base(w[0])) {
			end = HeredocEnd(line)
		}
	}
	return lines, end == ""
}

// WithoutHeredocs returns the script without the text of its here-documents and
// here-strings, or the whole script if one does not end.
func WithoutHeredocs(cmd string) string {
	cmd = WithoutHereStrings(cmd)
	if !strings.Contains(cmd, "<<") {
		return cmd
	}
	lines, ok := OutsideHeredocs(cmd)
	if !ok {
		return cmd
	}
	return strings.Join(lines, "\n")
}

// HeredocEnd returns the word that ends a here-document, if the line begins one, else "".
func HeredocEnd(line string) string {
	_, rest, ok := strings.Cut(line, "<<")
	if !ok || strings.HasPrefix(rest, "<") {
		return ""
	}
	word := strings.Fields(strings.TrimPrefix(rest, "-"))
	if len(word) == 0 {
		return ""
	}
	return strings.Trim(word[0], `'"\`)
}
