package policy

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// targetKeys are arguments that name the object of a call, the most informative first.
var targetKeys = []string{"command", "cmd", "file_path", "filePath", "filename", "notebook_path", "pattern", "query", "q", "path", "url", "uri", "ref"}

// target returns the object of a call on one line, for forms before call@3. It is the
// first argument of targetKeys: a command, path, pattern or address. If there is none,
// it is the first text argument in the order of the names, or "". target does not cut
// the text.
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

// argument returns the first non-empty line of an argument, which is a text or a list of
// words joined by spaces.
func argument(raw json.RawMessage) string {
	for line := range strings.SplitSeq(words(raw), "\n") {
		if line = oneLine(line); line != "" && line != "*** Begin Patch" {
			return line
		}
	}
	return ""
}

// lineBreak stands between the lines of a command in a placeholder.
const lineBreak = " ⏎ "

// wholeTarget returns the object of a call, for call@3. It is like target, but returns
// all lines of a text. If no argument is in targetKeys, it returns all texts in the order
// of the call, the short ones first.
func wholeTarget(arguments json.RawMessage) string {
	args := textArguments(arguments)
	for _, key := range targetKeys {
		for _, a := range args {
			if a.name == key && a.text != "" {
				return a.text
			}
		}
	}
	var short, long []string
	for _, a := range args {
		switch {
		case a.text == "" || a.name == "description":
		case runes(a.text) <= callNameMost:
			short = append(short, a.text)
		default:
			long = append(long, a.text)
		}
	}
	return strings.Join(append(short, long...), ", ")
}

type textArgument struct{ name, text string }

// textArguments returns the arguments of a call that are texts or lists of words, in
// their order. If a name occurs several times, the last value counts, as it does for
// programs that read the arguments.
func textArguments(arguments json.RawMessage) (out []textArgument) {
	d := json.NewDecoder(bytes.NewReader(arguments))
	if open, err := d.Token(); err != nil || open != json.Delim('{') {
		return nil
	}
	seen := map[string]int{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return nil
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil
		}
		key, _ := name.(string)
		a := textArgument{key, joined(value, slices.Contains(commandKeys, key))}
		if at, again := seen[key]; again {
			out[at] = a
			continue
		}
		seen[key] = len(out)
		out = append(out, a)
	}
	return out
}

// joined returns the lines of a text as one line. It leaves out the comments of a
// command and the hunks of a patch.
func joined(raw json.RawMessage, command bool) string {
	var b strings.Builder
	text := words(raw)
	patch := strings.HasPrefix(text, "*** Begin Patch")
	glue := ""
	for line := range strings.SplitSeq(text, "\n") {
		line = strings.TrimSpace(line)
		if line == "" || command && line[0] == '#' || patch && !namesChangedFile(line) {
			continue
		}
		b.WriteString(glue)
		glue = lineBreak
		if rest, more := strings.CutSuffix(line, "\\"); more && command { // the next line continues this one
			line, glue = strings.TrimSpace(rest), " "
		}
		if at := ending(line); at >= 0 {
			b.WriteString(line[:at] + unshown)
			break
		}
		b.WriteString(line)
		if b.Len() > callFormMost*utf8.UTFMax {
			break
		}
	}
	return b.String()
}

// unshown is a character at which a target ends; see [unaltered].
const unshown = "\x00"

// ending returns the position at which a line must be cut, or -1. It cuts before a sign
// that looks like lineBreak, and inside the first line of a private key, because
// redaction would not recognize a key that is on one line.
func ending(line string) int {
	const keyBegin = "-----BEGIN "
	at := strings.Index(line, strings.TrimSpace(lineBreak))
	if key := strings.Index(line, keyBegin); key >= 0 && (at < 0 || key < at) {
		return key + len(keyBegin)
	}
	return at
}

// namesChangedFile reports whether a line of a patch names a changed file.
func namesChangedFile(line string) bool {
	return strings.HasPrefix(line, "*** ") && strings.Contains(line, " File: ")
}

// words returns a text, or a list of words joined by spaces.
func words(raw json.RawMessage) string {
	var text string
	var list []string
	switch {
	case bytes.HasPrefix(raw, []byte(`"`)) && json.Unmarshal(raw, &text) == nil:
		return text
	case bytes.HasPrefix(raw, []byte("[")) && json.Unmarshal(raw, &list) == nil:
		return strings.Join(list, " ")
	}
	return ""
}
