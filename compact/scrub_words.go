package compact

import (
	"bytes"
	"regexp"
	"strings"
	"sync"

	"github.com/agentcompact/compact/internal/ledger"
)

// A short secret can also occur by chance in offsets, hashes and file names of the
// archive. These strings are not text, and without them the archive can't be read.

// goesBy matches the quoted strings in our own lines that are not text.
var goesBy = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^"([0-9a-f]{12,64}|(transcript|originals|turns|summary|ledger)-[a-z0-9.-]+|[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.]+Z)"$`)
})

// memberName matches the names of members of messages, with quotes.
var memberName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^"[a-z_]+"$`) })

// wording reads a line of the archive once, from its start.
type wording struct {
	line []byte
	ours bool // the line is a ledger, an event or an edit, not a message or a summary
	at   int  // position outside of any string
}

// isText reports whether a part of the line is text, or is in a number. It returns
// false for names, hashes and other strings that the archive needs. The calls must have
// the order of the parts in the line.
func (w *wording) isText(at [2]int) bool {
	start, end, ok := w.stringAround(at)
	if !ok {
		return !w.ours && len(bytes.Trim(w.line[at[0]:at[1]], "0123456789+-.eE")) == 0
	}
	value := w.line[start:end]
	if bytes.HasPrefix(bytes.TrimLeft(w.line[end:], " "), []byte(":")) {
		return !w.ours && !memberName().Match(value)
	}
	if !w.ours {
		before := bytes.TrimRight(w.line[:start], " ")
		return !bytes.HasSuffix(before, []byte(`"role":`)) && !bytes.HasSuffix(before, []byte(`"type":`))
	}
	return at[1]-at[0] >= len(value)-2 || !goesBy().Match(value)
}

// stringAround returns the bounds, with quotes, of the string around a part of the
// line.
func (w *wording) stringAround(at [2]int) (start, end int, ok bool) {
	for ; w.at < at[0]; w.at++ {
		if w.line[w.at] != '"' {
			continue
		}
		i := w.at + 1
		for ; i < len(w.line) && w.line[i] != '"'; i++ {
			if w.line[i] == '\\' {
				i++
			}
		}
		if i >= at[1] {
			return w.at, min(i+1, len(w.line)), true
		}
		if i >= at[0] {
			break // the part goes beyond the string
		}
		w.at = i
	}
	return 0, 0, false
}

// isOurs reports whether a line is a ledger, an event or an edit, which the manager
// has made, and not a message or a summary.
func isOurs(file string, line []byte) bool {
	return strings.HasPrefix(file, "ledger-") || file == "events.jsonl" || ledger.IsEdit(line)
}
