package compact

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/storage/turnindex"
)

// reference is what is to be recalled.
type reference struct {
	text  string // lower case
	query turnindex.Query
	slot  turnindex.Slot // of a turn; Other = all of it
	most  int64          // bytes of a line that may be read; 0 = any

	first, last int // numbers of messages as a summary cites them; 0 = it is no such reference
}

// parseRef reads what a caller, or a model, gives as a reference.
func parseRef(text string) (reference, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	r := reference{text: text}
	if first, last, ok := parseNumbers(text); ok {
		r.first, r.last = first, last
		return r, nil
	}
	name := text
	if strings.HasPrefix(text, "turn:") && strings.Count(text, ":") == 2 {
		at := strings.LastIndexByte(text, ':')
		slot, ok := turnindex.ParseSlot(text[at+1:])
		if !ok || slot == turnindex.Other {
			return r, notARef(text)
		}
		name, r.slot = text[:at], slot
	}
	var err error
	if r.query, err = turnindex.ParseQuery(name); err != nil {
		return r, notARef(text)
	}
	return r, nil
}

// maxNumbers bounds how many messages are asked for at once.
const maxNumbers = 50

// parseNumbers reads how a summary cites messages: s12, s12-s31 or s12–s31, with
// or without brackets.
func parseNumbers(text string) (first, last int, ok bool) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	from, to, ranged := strings.Cut(strings.ReplaceAll(text, "–", "-"), "-")
	if !ranged {
		to = from
	}
	first, ok1 := parseNumber(from)
	last, ok2 := parseNumber(to)
	return first, min(last, first+maxNumbers-1), ok1 && ok2 && first <= last
}

func parseNumber(text string) (int, bool) {
	digits, ok := strings.CutPrefix(text, "s")
	n, err := strconv.Atoi(digits)
	return n, ok && err == nil && n > 0
}

func notARef(text string) error {
	const most = 80
	return fmt.Errorf(`%w: %.*q is not a reference (8 or more hex digits, s12 as a summary says it, or "turn:" and a number)`, ErrNotFound, most, text)
}
