package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
)

// asEditor converts a command of an editing shell into a call of a tool that creates, opens
// or edits a file. A command such as "edit 3:5" applies to the open file of the shell,
// which only the output names.
func (c *Call) asEditor() {
	verb, rest, _ := strings.Cut(strings.TrimSpace(c.Command()), " ")
	if verb != "create" && verb != "edit" && verb != "open" || !shellState(strings.TrimSpace(c.Result)) {
		return
	}
	file := openFile(c.Result)
	if !fileops.IsPath(file) {
		return
	}
	args := []Arg{{"file_path", file}}
	if verb == "edit" {
		lines, text, ok := strings.Cut(rest, "\n")
		if !ok {
			return
		}
		args = append(args, Arg{"lines", lines}, Arg{"new_string", strings.TrimSuffix(text, "\nend_of_edit")})
	} else if _, line, ok := strings.Cut(rest, " "); ok {
		args = append(args, Arg{"line", line})
	}
	c.Tool, c.Args = verb, args
}

// openFile returns the path of the file that an editing shell has open, "" if there is none.
func openFile(output string) string {
	at := strings.LastIndex(output, openFileMark)
	if at < 0 {
		return ""
	}
	file, _, ok := strings.Cut(output[at+len(openFileMark):], ")\n")
	if !ok || file == "n/a" {
		return ""
	}
	return file
}

const openFileMark = "(Open file: "
