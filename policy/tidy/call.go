package tidy

import (
	"encoding/json"
	"path"
	"regexp"
	"strings"
)

// A Call is what a result answers.
type Call struct {
	Tool string
	Args json.RawMessage
}

// command returns the command line of a call, "" where it is none.
func (c Call) command() string { return c.argument("command", "cmd", "script") }

// argument returns the first of these arguments that is text, or a list of
// words.
func (c Call) argument(names ...string) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(c.Args, &args) != nil {
		return ""
	}
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

// rangeNames are arguments that ask for some lines of a file.
var rangeNames = []string{"offset", "limit", "start_line", "end_line", "line_start", "line_end", "startLine", "endLine", "view_range", "lines", "head_limit"}

// rangeCommands print some lines of a file.
var rangeCommands = regexp.MustCompile(`\bsed\s+-n\b|\b(?:head|tail)\s+-(?:n\s*|c\s*)?[+]?\d|\b(?:head|tail)\s+--(?:lines|bytes)|\bawk\s+['"]?NR\b`)

// ranged reports whether the call itself asked for a range: what it gets is what
// it wanted.
func (c Call) ranged() bool {
	var args map[string]json.RawMessage
	if json.Unmarshal(c.Args, &args) != nil {
		return false
	}
	for _, name := range rangeNames {
		if v, ok := args[name]; ok && string(v) != "null" && string(v) != "0" && string(v) != `""` && string(v) != "[]" {
			return true
		}
	}
	return rangeCommands.MatchString(c.command())
}

// file returns the file that a call reads, "" where it is not known: the
// argument that names it, or what cat and the like are given.
func (c Call) file() string {
	if f := c.argument("file_path", "filePath", "path", "filename", "file", "notebook_path", "target_file"); f != "" && c.command() == "" {
		return f
	}
	words := strings.Fields(c.command())
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

// ext returns the ending of the file that a call reads, in small letters and
// without the dot.
func (c Call) ext() string {
	base := path.Base(c.file())
	if i := strings.LastIndexByte(base, '.'); i >= 0 {
		return strings.ToLower(base[i+1:])
	}
	return ""
}
