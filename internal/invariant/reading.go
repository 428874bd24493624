package invariant

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// reading is the structure of a conversation.
//
// Calls and results are paired by id, or by tool name on wires without ids. A result with neither
// can answer any call without an id. A result answers the newest earlier open call that matches.
// The messages from a call to its answer can't be separated, so they are one round. A repeated
// answer that directly follows a round belongs to that round. A result without a call belongs to
// the round of the assistant message before it, if that message can refer to the call. Every other
// message is a round of its own.
type reading struct {
	msgs  []message.Message
	round []int    // message → round
	spans [][2]int // round → messages [from, to)
	pairs []int    // round → answered calls
	turn  []int    // message → turn, from 0; turns = in none
	turns int

	lonelyResults map[string]int // results that answer no call, by id
	lonelyCalls   map[string]int // calls that nothing answers, by id
	openCalls     []bool         // message → it has a call without an answer

	anchor int // the last message in which the user speaks, -1 = none
}

func read(msgs []message.Message) *reading {
	r := &reading{msgs: msgs, openCalls: make([]bool, len(msgs)), anchor: -1}
	r.cut(r.pair())
	r.countTurns()
	for i := range msgs {
		if hasUserContent(msgs[i]) {
			r.anchor = i
		}
	}
	return r
}

// pairID returns the id that a call shares with its result.
func pairID(p message.Part) string {
	if p.CallID != "" {
		return "id " + p.CallID
	}
	return "tool " + p.Name
}

// nameless is the id of a result with neither id nor tool.
var nameless = pairID(message.Part{})

// newestTool returns the tool of the newest waiting call without an id.
func newestTool(waiting map[string][]int) string {
	best, at := nameless, -1
	for id, calls := range waiting {
		if n := len(calls); n > 0 && strings.HasPrefix(id, nameless) && (calls[n-1] > at || calls[n-1] == at && id < best) {
			best, at = id, calls[n-1]
		}
	}
	return best
}

// link joins the messages of a call and its answer; again marks a repeated answer.
type link struct {
	call, result int
	again        bool
}

func (r *reading) pair() []link {
	var links []link
	waiting := map[string][]int{}
	answered := map[string][]int{} // id → links
	r.lonelyResults, r.lonelyCalls = map[string]int{}, map[string]int{}
	for i, m := range r.msgs {
		for k, p := range m.Parts {
			if p.Kind != message.KindToolResult || m.Role == message.RoleTool && answeredBefore(m.Parts[:k], p) {
				continue
			}
			id := pairID(p)
			if id == nameless {
				id = newestTool(waiting)
			}
			calls := waiting[id]
			if n := len(calls); n > 0 {
				links = append(links, link{call: calls[n-1], result: i})
				answered[id] = append(answered[id], len(links)-1)
				waiting[id] = calls[:n-1]
				continue
			}
			r.lonelyResults[id]++
			if again := answered[id]; len(again) > 0 {
				links = r.repeat(links, again[len(again)-1], i)
			} else if from := r.reference(links, i); from >= 0 {
				links = append(links, link{call: from, result: i})
			}
		}
		for _, p := range m.Parts {
			if p.Kind == message.KindToolCall {
				waiting[pairID(p)] = append(waiting[pairID(p)], i)
			}
		}
	}
	for id, calls := range waiting {
		for _, i := range calls {
			r.openCalls[i] = true
			r.lonelyCalls[id]++
		}
	}
	return links
}

// answeredBefore reports whether an earlier part of a tool message answers the same call: then it
// is one answer in several parts.
func answeredBefore(parts []message.Part, p message.Part) bool {
	for _, other := range parts {
		if other.Kind == message.KindToolResult && pairID(other) == pairID(p) {
			return true
		}
	}
	return false
}

// repeat adds a second answer that directly follows its round to the round. No call waited for that
// answer.
func (r *reading) repeat(links []link, first, i int) []link {
	start, end := links[first].call, links[first].result
	for grown := true; grown; {
		grown = false
		for _, l := range links {
			if l.call <= end && l.result >= start && (l.call < start || l.result > end) {
				start, end, grown = min(start, l.call), max(end, l.result), true
			}
		}
	}
	if end >= i-1 {
		links = append(links, link{call: links[first].call, result: i, again: true})
	}
	return links
}

// reference returns the assistant message with a part of an unknown kind that message i follows directly,
// or behind other results; -1 = none. The part can be a reference to the call of the result.
func (r *reading) reference(links []link, i int) int {
	from := i - 1
	for k := len(links) - 1; k >= 0 && links[k].result >= i-1; k-- {
		from = min(from, links[k].call)
	}
	if from < 0 || r.msgs[from].Role != message.RoleAssistant || !r.msgs[from].Has(message.KindOther) {
		return -1
	}
	return from
}

// cut makes rounds: messages within one link belong together.
func (r *reading) cut(links []link) {
	glue := make([]int, len(r.msgs)+1)
	for _, l := range links {
		glue[l.call]++
		glue[l.result]--
	}
	r.round = make([]int, len(r.msgs))
	depth := 0
	for i := range r.msgs {
		if depth == 0 {
			r.spans = append(r.spans, [2]int{i, i + 1})
		}
		r.round[i] = len(r.spans) - 1
		r.spans[len(r.spans)-1][1] = i + 1
		depth += glue[i]
	}
	r.pairs = make([]int, len(r.spans))
	for _, l := range links {
		if !l.again {
			r.pairs[r.round[l.call]]++
		}
	}
}

// countTurns numbers the turns. Each turn ends with an assistant round, and contains the messages
// since the previous turn.
func (r *reading) countTurns() {
	r.turn = make([]int, len(r.msgs))
	for _, span := range r.spans {
		assistant := false
		for i := span[0]; i < span[1]; i++ {
			r.turn[i] = r.turns
			_, _, ours := parseSummary(r.msgs[i])
			assistant = assistant || r.msgs[i].Role == message.RoleAssistant && (!ours || span[1]-span[0] > 1)
		}
		if assistant {
			r.turns++
		}
	}
}

// spokenTurns counts the turns in whose round both the assistant and the user speak, because late
// results enclose the user's message.
func (r *reading) spokenTurns() int {
	n := 0
	for _, span := range r.spans {
		user, assistant := false, false
		for i := span[0]; i < span[1]; i++ {
			user = user || hasUserContent(r.msgs[i])
			assistant = assistant || r.msgs[i].Role == message.RoleAssistant
		}
		if user && assistant {
			n++
		}
	}
	return n
}

// hasUserContent reports whether m has content of the user other than tool results.
func hasUserContent(m message.Message) bool {
	if m.Role != message.RoleUser {
		return false
	}
	for _, p := range m.Parts {
		if p.Kind != message.KindToolResult {
			return true
		}
	}
	return len(m.Parts) == 0
}

// spread marks all messages of a round if f is true for one of them.
func (r *reading) spread(f func(message.Message) bool) []bool {
	out := make([]bool, len(r.msgs))
	for i := range r.msgs {
		if !f(r.msgs[i]) || out[i] {
			continue
		}
		span := r.spans[r.round[i]]
		for k := span[0]; k < span[1]; k++ {
			out[k] = true
		}
	}
	return out
}

// isOpen reports whether a call of message i's round is open. The result of an open call can come
// after the results of a later message, and would have no call if the round were removed.
func (r *reading) isOpen(i int) bool {
	for k := r.spans[r.round[i]][0]; k < r.spans[r.round[i]][1]; k++ {
		if r.openCalls[k] {
			return true
		}
	}
	return false
}

// open marks the round of a last assistant message that still waits for results, and the unanswered
// user messages.
func (r *reading) open() []bool {
	out := make([]bool, len(r.msgs))
	for i := len(r.msgs) - 1; i >= 0; i-- {
		switch {
		case r.msgs[i].Role == message.RoleAssistant:
			if r.isOpen(i) {
				span := r.spans[r.round[i]]
				for k := span[0]; k < span[1]; k++ {
					out[k] = true
				}
			}
			return out
		case hasUserContent(r.msgs[i]):
			out[i] = true
		}
	}
	return out
}

// recent marks the last turns and everything after them, the rounds of the last pairs, and the open
// round.
func (r *reading) recent(turns, pairs int) []bool {
	out := r.open()
	for i := range r.msgs {
		if r.turns > 0 && r.turn[i] >= r.turns-turns {
			out[i] = true
		}
	}
	for k := len(r.spans) - 1; k >= 0 && pairs > 0; k-- {
		if r.pairs[k] == 0 {
			continue
		}
		pairs -= r.pairs[k]
		for i := r.spans[k][0]; i < r.spans[k][1]; i++ {
			out[i] = true
		}
	}
	return out
}

// isOwnRound reports whether message i is a round of its own.
func (r *reading) isOwnRound(i int) bool { return r.spans[r.round[i]] == [2]int{i, i + 1} }

// hasUser reports whether a user speaks in the round of message i.
func (r *reading) hasUser(i int) bool {
	span := r.spans[r.round[i]]
	for k := span[0]; k < span[1]; k++ {
		if hasUserContent(r.msgs[k]) {
			return true
		}
	}
	return false
}
