package invariant

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/agentcompact/compact/message"
)

// A Plan describes the stages as far as they affect the smallest view. The zero Plan
// has stages that summarize, shrink and squeeze.
type Plan struct {
	Stages    []string // names in configurations; nil = summarize, shrink, squeeze
	KeepTurns int      // turns that stay if no stage shrinks
	KeepPairs int
	Keep      string // the part of a text that a truncation keeps: head (default), tail or both

	// The messages that stay if no stage squeezes.
	MaskTurns, MaskFirst, MaskLast int // results that are not masked
	KeepMessages                   int // number of messages that stay, instead of turns, if not 0

	// Unknown: the results of masking and truncating are unknown, because they depend
	// on more than this plan.
	Unknown bool
}

func (p Plan) has(stage string) bool {
	return p.Stages == nil && (stage == "summarize" || stage == "shrink" || stage == "squeeze") || slices.Contains(p.Stages, stage)
}

// Bounded reports whether the stages have other limits (a number of messages, the size
// of the history or of a summary). The floor depends on these limits, too.
func (p Plan) Bounded() bool {
	whole := p.has("summarize") || p.has("drop") || p.has("fallback")
	return p.Unknown && !p.has("squeeze") || !whole && (p.has("window") || p.has("history") || p.has("groups") || p.has("local"))
}

// Floor returns the cost of the smallest view of a history: the messages that no stage of the plan may remove,
// one copy of each system message, and no summary. If a stage squeezes, every result that may be cut is reduced
// to the marker of a truncation.
func (p Plan) Floor(in []message.Message, pinned func(message.Message) bool, cost func(message.Message) int, fixed int) int {
	r := read(in)
	taken, masked := p.taken(r, pinned), p.maskable(r, pinned)
	repeats := r.repeated(pinned, taken)
	n := fixed
	for i, m := range in {
		switch {
		case taken[i], repeats[i]:
		case pins(pinned, m):
			n += cost(m)
		case p.has("squeeze"):
			n += squeezed(m, cost, p.Keep)
		default:
			n += p.edited(m, cost, masked[i])
		}
	}
	return n
}

// taken marks the messages that the stages may remove.
func (p Plan) taken(r *reading, pinned func(message.Message) bool) []bool {
	never := r.spread(func(m message.Message) bool { return pins(pinned, m) })
	for i, open := range r.open() {
		never[i] = never[i] || open || r.anchor >= 0 && r.round[i] == r.round[r.anchor]
	}
	out := make([]bool, len(r.msgs))
	take := func(stays []bool) {
		for i, m := range r.msgs {
			out[i] = out[i] || !never[i] && (!stays[i] || ours(m) && r.isOwnRound(i))
		}
	}
	if p.has("summarize") {
		turns, pairs := 1, 1
		if !p.has("shrink") {
			turns, pairs = p.KeepTurns, p.KeepPairs
		}
		take(r.recent(turns, pairs))
	}
	if p.has("fallback") || p.has("drop") {
		take(r.lastRound())
	}
	return out
}

// maskable marks the messages whose results may be masked.
func (p Plan) maskable(r *reading, pinned func(message.Message) bool) []bool {
	out := make([]bool, len(r.msgs))
	if !p.has("mask") {
		return out
	}
	stays := r.recent(max(p.MaskTurns, p.KeepTurns), p.KeepPairs)
	if p.KeepMessages > 0 {
		stays = r.lastMessages(p.KeepMessages, pinned)
	}
	results, seen := 0, 0
	for _, m := range r.msgs {
		results += resultsIn(m)
	}
	for i, m := range r.msgs {
		seen += resultsIn(m)
		out[i] = !stays[i] && seen > p.MaskFirst && seen <= results-p.MaskLast
	}
	return out
}

func resultsIn(m message.Message) (n int) {
	for _, p := range m.Parts {
		if p.Kind == resultKind {
			n++
		}
	}
	return n
}

// edited returns the minimum cost of a message under stages that do not squeeze.
func (p Plan) edited(m message.Message, cost func(message.Message) int, maskable bool) int {
	n := cost(m)
	if resultsIn(m) == 0 {
		return n
	}
	if maskable {
		n = min(n, squeezed(m, cost, p.Keep), replaced(m, cost))
	}
	return n
}

// replaced returns the cost of a message with placeholders for its results. The marked answer of a
// dispatched agent stays next to a placeholder, so such a result counts in full.
func replaced(m message.Message, cost func(message.Message) int) int {
	for i, p := range m.Parts {
		if p.Kind == resultKind && m.Editable(i) && !strings.Contains(p.Text, "BEGIN_DISPATCH_RESULT") {
			size := strconv.Itoa(utf8.RuneCountInString(p.Text))
			if with, err := m.WithPartText(i, "[observation masked — "+size+" chars]"); err == nil {
				m = with
			}
		}
	}
	return cost(m)
}

// lastRound marks the newest round.
func (r *reading) lastRound() []bool {
	out := make([]bool, len(r.msgs))
	for i := range out {
		out[i] = r.round[i] == r.round[len(r.msgs)-1]
	}
	return out
}

// lastMessages marks the rounds of the last n messages that are neither pinned nor made
// by this module.
func (r *reading) lastMessages(n int, pinned func(message.Message) bool) []bool {
	out := make([]bool, len(r.msgs))
	for i := len(r.msgs) - 1; i >= 0 && n > 0; i-- {
		if m := r.msgs[i]; pins(pinned, m) || ours(m) && r.isOwnRound(i) {
			continue
		}
		n--
		for k := r.spans[r.round[i]][0]; k < r.spans[r.round[i]][1]; k++ {
			out[k] = true
		}
	}
	return out
}

// squeezed returns the cost of a message whose results are cut to the marker, if that
// is less.
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
			continue // no edit increases the size, in tokens or in characters
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

// sizeOf returns the size of the original for a marker. A text that was cut before
// states its size itself.
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

// A Refusal is a call that ended with the error for an insufficient budget.
type Refusal struct {
	In, Out []message.Message
	Pinned  func(message.Message) bool
	Cost    func(message.Message) int
	Fixed   int
	Budget  int
	Plan    Plan
	Named   []int // the messages that the error names as the largest
	Tokens  int   // cost of the smallest view, as in the error
	Parts   int   // sum of all parts that the error lists, with Fixed
}

// CheckRefusal judges the error. It is correct only if the floor is above the budget, the parts
// that it lists add up to the cost that it states, it names at least one message and none twice,
// and the history is unchanged.
func CheckRefusal(r Refusal) []Violation {
	var found collector
	for _, v := range Same("the error", r.In, r.Out) {
		found.fail(RuleInsufficient, "the history was touched: %s", v.Detail)
	}
	if floor := r.Plan.Floor(r.In, r.Pinned, r.Cost, r.Fixed); floor <= r.Budget && !r.Plan.Bounded() {
		found.fail(RuleInsufficient, "the call was refused, but its floor is %d tokens and the budget is %d", floor, r.Budget)
	}
	if r.Tokens <= r.Budget {
		found.fail(RuleInsufficient, "the error states %d tokens, which fit the budget of %d", r.Tokens, r.Budget)
	}
	if r.Parts != r.Tokens {
		found.fail(RuleInsufficient, "the parts that the error lists add up to %d tokens, but it states %d", r.Parts, r.Tokens)
	}
	if len(r.Named) == 0 && len(r.In) > 0 {
		found.fail(RuleInsufficient, "the error names no message")
	}
	for k, i := range r.Named {
		if i < -1 || i >= len(r.In) {
			found.fail(RuleInsufficient, "the error names message %d, but there are only %d", i, len(r.In))
		} else if i >= 0 && slices.Contains(r.Named[:k], i) {
			found.fail(RuleInsufficient, "the error names message %d twice", i)
		}
	}
	return found
}
