package compact

import (
	"bytes"
	"regexp"
	"strings"
)

// What is short stands by chance in the offsets, hashes and names of files that the
// archive goes by, too. Nobody said these, and without them it can't be read.

// goesBy matches the strings, with their quotes, in lines of our own that are no text.
var goesBy = regexp.MustCompile(`^"([0-9a-f]{12,64}|(transcript|originals|turns|summary|ledger)-[a-z0-9.-]+|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z)"$`)

// memberName matches, with quotes, what members of messages are called.
var memberName = regexp.MustCompile(`^"[a-z_]+"$`)

// isText reports whether part of a line is something that was said. Lines of our own
// are those of ledgers and events, others are messages.
func isText(line []byte, at [2]int, ours bool) bool {
	start, end, ok := stringAround(line, at)
	if !ok {
		return !ours // of a number, perhaps
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

// stringAround returns where the string begins and ends, quotes included, in which a
// part of a line stands.
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

// isOurs reports whether a line was written by the archive and not said by anybody.
func isOurs(file string, line []byte) bool {
	return strings.HasPrefix(file, "ledger-") || file == "events.jsonl" || bytes.HasPrefix(line, []byte(editPrefix))
}
