package invariant

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// checkPairing: on the chat wire the results of a message's calls directly follow it,
// and no other results do. A view may break this rule only if the history does.
func (j *judge) checkPairing() {
	before := misplaced(j.In)
	for fault, n := range misplaced(j.Out) {
		if n > before[fault] {
			j.fail(RulePairing, "%s (%d times, in the history %d)", fault, n, before[fault])
		}
	}
}

// misplaced counts the results without a call, and the calls without a result. A block of
// results in a row belongs to the message before it: a result has to answer one of the
// calls of that message, and each of these calls needs a result in the block.
func misplaced(msgs []message.Message) map[string]int {
	faults := map[string]int{}
	waiting := map[string]int{}
	for _, m := range msgs {
		if !m.Has(message.KindToolResult) {
			flush(waiting, faults)
		}
		for k, p := range m.Parts {
			switch id := pairID(p); p.Kind {
			case message.KindToolResult:
				if m.Role == message.RoleTool && answeredBefore(m.Parts[:k], p) {
					continue
				}
				if id == nameless {
					id = anyTool(waiting)
				}
				if waiting[id]--; waiting[id] < 0 {
					waiting[id] = 0
					faults["no call waits for the result of "+id]++
				}
			case message.KindToolCall:
				waiting[id]++
			}
		}
	}
	flush(waiting, faults)
	return faults
}

// anyTool returns the first tool by name that has a waiting call without an id.
func anyTool(waiting map[string]int) string {
	tool := ""
	for id, n := range waiting {
		if n > 0 && strings.HasPrefix(id, nameless) && (tool == "" || id < tool) {
			tool = id
		}
	}
	if tool == "" {
		return nameless
	}
	return tool
}

func flush(waiting, faults map[string]int) {
	for id, n := range waiting {
		if n > 0 {
			faults["nothing answers the call "+id] += n
		}
	}
	clear(waiting)
}
