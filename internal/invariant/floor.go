package invariant

import (
	"regexp"
	"strconv"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// Floor returns what the smallest view of a history costs: the pinned rounds,
// the last user message, the open round, the last turn and the last pair, every
// result that may be cut reduced to the marker of a truncation, and no summary.
// Truncation keeps the head, tail or both of a text; "" is head.
func Floor(in []message.Message, pinned func(message.Message) bool, cost func(message.Message) int, fixed int, keep string) int {
	r := read(in)
	rounds := r.spread(func(m message.Message) bool { return pins(pinned, m) })
	recent := r.recent(1, 1)
	n := fixed
	for i, m := range in {
		anchor := r.anchor >= 0 && r.round[i] == r.round[r.anchor]
		switch {
		case pins(pinned, m):
			n += cost(m)
		case rounds[i], anchor, recent[i] && !(ours(m) && r.alone(i)):
			n += squeezed(m, cost, keep)
		}
	}
	return n
}

// squeezed returns what a message costs when its results are cut down to the
// marker alone, where that is less.
func squeezed(m message.Message, cost func(message.Message) int, keep string) int {
	best := cost(m)
	for p, part := range m.Parts {
		if part.Kind != resultKind || !m.Editable(p) || wholePlaceholder(part.Text) {
			continue
		}
		empty, err := m.WithPartText(p, "")
		if err != nil {
			continue
		}
		bare := bareMarker(keep, sizeOf(part.Text, max(best-cost(empty), 0)))
		if utf8.RuneCountInString(bare) > utf8.RuneCountInString(part.Text) {
			continue // nothing grows, in characters either
		}
		cut, err := m.WithPartText(p, bare)
		if err != nil {
			continue
		}
		if n := cost(cut); n < best {
			m, best = cut, n
		}
	}
	return best
}

var anyMarker = regexp.MustCompile(`\[truncated: kept (?:first|last|first\+last) ~\d+ of ~(\d+) tokens \((?:head|tail|both)\)\]`)

// sizeOf returns what a marker has to say: the size of the original, which a
// text that was cut before states itself.
func sizeOf(text string, tokens int) int {
	if m := anyMarker.FindStringSubmatch(text); m != nil {
		if n, err := strconv.Atoi(m[1]); err == nil {
			return n
		}
	}
	return tokens
}

func bareMarker(keep string, tokens int) string {
	of := " ~0 of ~" + strconv.Itoa(tokens) + " tokens "
	switch keep {
	case "tail":
		return "[truncated: kept last" + of + "(tail)]\n\n"
	case "both":
		return "\n\n[truncated: kept first+last" + of + "(both)]\n\n"
	}
	return "\n\n[truncated: kept first" + of + "(head)]"
}

// A Refusal is a call that ended with the error that the budget does not
// suffice.
type Refusal struct {
	In, Out []message.Message
	Pinned  func(message.Message) bool
	Cost    func(message.Message) int
	Fixed   int
	Budget  int
	Keep    string // what truncation keeps
	Named   []int  // the messages that the error names as the largest
	Tokens  int    // what it says that the smallest view costs
}

// CheckRefusal judges the error: it is right only where the floor lies above
// the budget, names what is largest, and leaves the history untouched.
func CheckRefusal(r Refusal) []Violation {
	var found collector
	for _, v := range Same("the error", r.In, r.Out) {
		found.fail(RuleInsufficient, "the history was touched: %s", v.Detail)
	}
	if floor := Floor(r.In, r.Pinned, r.Cost, r.Fixed, r.Keep); floor <= r.Budget {
		found.fail(RuleInsufficient, "the floor is %d of %d", floor, r.Budget)
	}
	if r.Tokens <= r.Budget {
		found.fail(RuleInsufficient, "it says %d tokens, which fit the budget of %d", r.Tokens, r.Budget)
	}
	if len(r.Named) == 0 && len(r.In) > 0 {
		found.fail(RuleInsufficient, "it names no message")
	}
	for k, i := range r.Named {
		if i < 0 || i >= len(r.In) {
			found.fail(RuleInsufficient, "it names message %d of %d", i, len(r.In))
		} else if k > 0 && r.Named[k-1] == i {
			found.fail(RuleInsufficient, "it names message %d twice", i)
		}
	}
	return found
}
