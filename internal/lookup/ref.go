package lookup

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage/turnindex"
)

// A Ref is a parsed reference.
type Ref struct {
	Text  string // lower case
	Query turnindex.Query
	Slot  turnindex.Slot // slot of a turn; Other = all slots
	Most  int64          // maximum size in bytes of a line to be read; the error is [ErrMost] for a longer one; 0 = no limit

	First, Last int // numbers of messages in a summary's citations; 0 = not such a reference
	Beyond      int // the last number that the reference names, if that is after Last; otherwise 0

	// Own is the owner whose view shows the numbers. If it is nil, or if no step of this owner has
	// numbers, the numbers of all owners count. Of, if not nil, limits the messages to those with
	// these fingerprints.
	Own *ledger.Owner
	Of  map[message.Fingerprint]bool
}

// numbers returns a function that reports whether r can refer to an eviction of a step by its
// number.
func (r *Ref) numbers(steps []ledger.Step) func(*ledger.Step, *ledger.Eviction) bool {
	own := r.Own != nil && slices.ContainsFunc(steps, func(step ledger.Step) bool { return step.Numbers > 0 && step.Owner() == *r.Own })
	return func(step *ledger.Step, e *ledger.Eviction) bool {
		return e.Number > 0 && (!own || step.Owner() == *r.Own) && (r.Of == nil || r.Of[e.Of])
	}
}

// ParseRef parses a reference from a caller or a model. The error is
// [ErrNotFound].
func ParseRef(text string) (Ref, error) {
	text = strings.ToLower(strings.TrimSpace(text))
	r := Ref{Text: text}
	if first, last, ok := ParseNumbers(text); ok {
		r.First, r.Last = first, min(last, first+maxNumbers-1)
		if r.Last < last {
			r.Beyond = last
		}
		return r, nil
	}
	name := text
	if strings.HasPrefix(text, "turn:") && strings.Count(text, ":") == 2 {
		at := strings.LastIndexByte(text, ':')
		slot, ok := turnindex.ParseSlot(text[at+1:])
		if !ok || slot == turnindex.Other {
			return r, notARef(text)
		}
		name, r.Slot = text[:at], slot
	}
	var err error
	if r.Query, err = turnindex.ParseQuery(name); err != nil {
		return r, notARef(text)
	}
	return r, nil
}

// maxNumbers limits the number of messages that one reference returns.
const maxNumbers = 50

// ParseNumbers parses a citation of a summary: s12, s12-s31 or s12–s31, with or
// without brackets.
func ParseNumbers(text string) (first, last int, ok bool) {
	text = strings.TrimSuffix(strings.TrimPrefix(text, "["), "]")
	from, to, ranged := strings.Cut(strings.ReplaceAll(text, "–", "-"), "-")
	if !ranged {
		to = from
	}
	first, ok1 := parseNumber(from)
	last, ok2 := parseNumber(to)
	return first, last, ok1 && ok2 && first <= last
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
