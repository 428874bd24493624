package tidy

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

// A Call is the tool call that a result answers.
type Call struct {
	Tool string
	Args json.RawMessage
}

// asked describes the request of a call.
type asked struct {
	command string // command line; "" = the call has none
	file    string // file that is read; "" = unknown
	ranged  bool   // the call asks for a range of lines, so that the result must stay whole
}

// asks parses the arguments of a call.
func (c Call) asks() asked {
	var args arguments
	if json.Unmarshal(c.Args, &args) != nil {
		return asked{}
	}
	a := asked{command: args.text("command", "cmd", "script")}
	a.file = args.text("file_path", "filePath", "path", "filename", "file", "notebook_path", "target_file")
	if a.command != "" {
		a.file = shownBy(a.command)
	}
	a.ranged = args.selectsLines() || rangeCommands.MatchString(a.command)
	return a
}

// searchCommands matches commands that print hits with their line numbers.
var searchCommands = regexp.MustCompile(`\b(?:[efz]?grep|rg|ag|ack)\b`)

// searches reports whether the call is a search.
func (a *asked) searches() bool { return searchCommands.MatchString(a.command) }

// ext returns the extension of the file in lower case, without the dot.
func (a *asked) ext() string {
	base := path.Base(a.file)
	if i := strings.LastIndexByte(base, '.'); i >= 0 {
		return strings.ToLower(base[i+1:])
	}
	return ""
}

type arguments map[string]json.RawMessage

// text returns the value of the first named argument that is a text or a list of words.
func (args arguments) text(names ...string) string {
	for _, name := range names {
		var text string
		if json.Unmarshal(args[name], &text) == nil && text != "" {
			return text
		}
		var words []string
		if json.Unmarshal(args[name], &words) == nil && len(words) > 0 {
			return strings.Join(words, " ")
		}
	}
	return ""
}

// rangeNames are arguments that select lines of a file.
var rangeNames = []string{"offset", "limit", "start_line", "end_line", "line_start", "line_end", "startLine", "endLine", "view_range", "lines", "head_limit"}

// rangeCommands matches commands that print only some lines of a file.
var rangeCommands = regexp.MustCompile(`\bsed\s+-n\b|\b(?:head|tail)\s+-(?:n\s*|c\s*)?[+]?\d|\b(?:head|tail)\s+--(?:lines|bytes)|\bawk\s+['"]?NR\b`)

// selectsLines reports whether an argument selects lines.
func (args arguments) selectsLines() bool {
	for _, name := range rangeNames {
		if v, ok := args[name]; ok && string(v) != "null" && string(v) != "0" && string(v) != `""` && string(v) != "[]" {
			return true
		}
	}
	return false
}

// shownBy returns the file that a command line prints, or "" if it is not known.
func shownBy(command string) string {
	words := strings.Fields(command)
	for i, w := range words {
		switch path.Base(w) {
		case "cat", "nl", "bat", "less", "more":
			for _, f := range words[i+1:] {
				if !strings.HasPrefix(f, "-") {
					return strings.Trim(f, `"'`)
				}
			}
		}
	}
	return ""
}
