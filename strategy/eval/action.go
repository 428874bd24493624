package eval

import (
	"slices"
	"strings"
)

// A block is what stands between two fences: from the line of the one to behind
// that of the other, without them from inside to end.
type block struct {
	language              string
	from, inside, end, to int
}

// blocks are the fenced blocks of a text that are closed. What stands between two
// of them is none.
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

// shells are what stands behind the fence of a block that is run.
var shells = []string{"", "bash", "sh", "shell", "mswea_bash_command"}

// fencedCommand is the command of an action in text: the last fenced block of a
// shell, or of no language.
func fencedCommand(text string) string {
	for _, b := range slices.Backward(blocks(text)) {
		if slices.Contains(shells, b.language) {
			return strings.TrimSpace(text[b.inside:b.end])
		}
	}
	return ""
}

// unfenced is a text without its blocks.
func unfenced(text string) string {
	var out strings.Builder
	last := 0
	for _, b := range blocks(text) {
		out.WriteString(text[last:b.from])
		last = b.to
	}
	return out.String() + text[last:]
}
