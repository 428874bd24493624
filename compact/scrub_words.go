package compact

import (
	"bytes"
	"regexp"
	"strings"
)

// A short secret can also occur by chance in offsets, hashes and file names of the
// archive. These are no text, and without them the archive can't be read.

// goesBy matches the strings in our own lines that are no text, with quotes.
var goesBy = regexp.MustCompile(`^"([0-9a-f]{12,64}|(transcript|originals|turns|summary|ledger)-[a-z0-9.-]+|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z)"$`)

// memberName matches the names of members of messages, with quotes.
var memberName = regexp.MustCompile(`^"[a-z_]+"$`)

// isText reports whether a part of a line is text, and not a name, hash or other
// string that the archive needs. With ours, the line is a ledger, an event or an
// edit, else a message or a summary.
func isText(line []byte, at [2]int, ours bool) bool {
	start, end, ok := stringAround(line, at)
	if !ok {
		return !ours // possibly part of a number
	}
	value := line[start:end]
	if bytes.HasPrefix(bytes.TrimLeft(line[end:], " "), []byte(":")) {
		return !ours && !memberName.Match(value)
	}
	if !ours {
		before := bytes.TrimRight(line[:start], " ")
		return !bytes.HasSuffix(before, []byte(`"role":`)) && !bytes.HasSuffix(before, []byte(`"type":`))
	}
	return at[1]-at[0] >= len(value)-2 || !goesBy.Match(value)
}

// stringAround returns the bounds, with quotes, of the string around a part of a
// line.
func stringAround(line []byte, at [2]int) (start, end int, ok bool) {
	for i := 0; i < at[0]; i++ {
		if line[i] != '"' {
			continue
		}
		start = i
		for i++; i < len(line) && line[i] != '"'; i++ {
			if line[i] == '\\' {
				i++
			}
		}
		if i >= at[1] {
			return start, min(i+1, len(line)), true
		}
	}
	return 0, 0, false
}

// isOurs reports whether a line is a ledger, an event or an edit, which the manager
// has made, and not a message or a summary.
func isOurs(file string, line []byte) bool {
	return strings.HasPrefix(file, "ledger-") || file == "events.jsonl" || bytes.HasPrefix(line, []byte(editPrefix))
}
