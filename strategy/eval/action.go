package eval

import (
	"slices"
	"strings"
)

// A block is a fenced code block of a text. It extends from the opening fence, at from, to the end of the
// closing fence, at to. Its content is between inside and end.
type block struct {
	language              string
	from, inside, end, to int
}

// blocks returns the closed fenced blocks of a text.
func blocks(text string) []block {
	var out []block
	var b block
	at, open := 0, false
	for line := range strings.Lines(text) {
		at += len(line)
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case !fence:
		case !open:
			open, b = true, block{language: language, from: at - len(line), inside: at}
		default:
			open, b.end, b.to = false, at-len(line), at
			out = append(out, b)
		}
	}
	return out
}

// shells lists the languages of blocks with commands.
var shells = []string{"", "bash", "sh", "shell", "mswea_bash_command"}

// fencedCommand returns the command of an action in a text: the last fenced block whose
// language is a shell or missing.
func fencedCommand(text string) string {
	for _, b := range slices.Backward(blocks(text)) {
		if slices.Contains(shells, b.language) {
			return strings.TrimSpace(text[b.inside:b.end])
		}
	}
	return ""
}

// unfenced returns a text without its blocks.
func unfenced(text string) string {
	var out strings.Builder
	last := 0
	for _, b := range blocks(text) {
		out.WriteString(text[last:b.from])
		last = b.to
	}
	return out.String() + text[last:]
}
