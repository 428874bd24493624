package policy

import (
	"encoding/json"
	"slices"
	"strings"
)

// targetKeys are arguments that say what a call was made on, the most telling
// first.
var targetKeys = []string{"command", "cmd", "file_path", "filePath", "filename", "notebook_path", "pattern", "query", "q", "path", "url", "uri", "ref"}

// target returns what a call was made on, in one line: its command, path, pattern
// or address, by common names of such arguments. Otherwise it returns the first
// text argument by name. It returns "" if there is none, and does not cut the
// text.
func target(arguments json.RawMessage) string {
	var args map[string]json.RawMessage
	if json.Unmarshal(arguments, &args) != nil {
		return ""
	}
	for _, key := range targetKeys {
		if text := argument(args[key]); text != "" {
			return text
		}
	}
	names := make([]string, 0, len(args))
	for name := range args {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		if text := argument(args[name]); text != "" && name != "description" {
			return text
		}
	}
	return ""
}

// argument returns the first non-empty line of a text, or of a list of words
// joined by spaces.
func argument(raw json.RawMessage) string {
	var text string
	if json.Unmarshal(raw, &text) != nil {
		var words []string
		if json.Unmarshal(raw, &words) != nil {
			return ""
		}
		text = strings.Join(words, " ")
	}
	for line := range strings.SplitSeq(text, "\n") {
		if line = oneLine(line); line != "" && line != "*** Begin Patch" {
			return line
		}
	}
	return ""
}
