package tidy

import "strings"

// frameEdge is the number of lines at either end of a result that may belong to its
// frame. The frame is the text that the program that ran the command adds around the
// output.
const frameEdge = 8

var frames = []string{
	"Chunk ID: ", "Wall time: ", "Original token count: ", "Total output lines: ", "Output:", "Process running with session ID ",
	"Process exited with code ", "Command exited with code ", "Exit code", "exit code", "exit_code:", "[exit code", "[Command finished", "[The command completed", "<shellId: ",
	"<returncode>", "<exit_code>", "<output", "</output>", "<stdout>", "</stdout>", "<stderr>", "</stderr>", "<path>", "<type>", "<content>", "</content>", "<file>", "</file>",
	"(End of file", "(File has more lines", "(Results are truncated", "[Showing lines", "<system_warning", "Warning: truncated output", "Found ",
}

// inFrame reports whether line i of n belongs to the frame.
func inFrame(text string, i, n int) bool {
	if i >= frameEdge && i < n-frameEdge || len(text) > 200 {
		return false
	}
	for _, f := range frames {
		if strings.HasPrefix(text, f) {
			return true
		}
	}
	return false
}

// inner returns the range of lines inside the frame.
func (d *draft) inner() (from, to int) {
	n := len(d.lines)
	// The end comes first, because the last lines of a short result are also among the
	// first frameEdge lines.
	to = d.unframed(n)
	for i := max(n-frameEdge, 0); i < to; i++ {
		if strings.HasPrefix(d.lines[i].text, "<system-reminder>") {
			to = d.unframed(i)
		}
	}
	for i := 0; i < min(frameEdge, to); i++ {
		if inFrame(d.lines[i].text, i, n) && !strings.HasPrefix(d.lines[i].text, "<content>") {
			from = i + 1
		}
	}
	for from < to && d.lines[from].text == "" {
		from++
	}
	return from, to
}

// unframed returns the end of the lines before to, without empty lines and lines of the
// frame at their end.
func (d *draft) unframed(to int) int {
	n := len(d.lines)
	for to > 0 && (d.lines[to-1].text == "" || inFrame(d.lines[to-1].text, to-1, n)) {
		to--
	}
	return to
}
