package histgen

import (
	"strings"

	"github.com/agentcompact/compact/message"
)

// fault counts the irregularities in the calls of a history.
type fault struct{ orphans, unanswered, late, repeated int }

// faults returns the irregularities of a history.
func faults(h []message.Message) fault {
	f, _ := pair(h)
	return f
}

// pair pairs calls and results: links has the indexes of a call and of the message that
// answers it.
func pair(h []message.Message) (f fault, links [][2]int) {
	waiting := map[string][]int{}
	known := map[string]bool{}
	for i, m := range h {
		answered := false
		for _, p := range m.Parts {
			calls := waiting[p.CallID]
			switch {
			case p.Kind == message.KindToolCall:
				if known[p.CallID] {
					f.repeated++
				}
				known[p.CallID] = true
				waiting[p.CallID] = append(calls, i)
			case p.Kind != message.KindToolResult || answered:
			case len(calls) == 0:
				f.orphans++
			default:
				call := calls[len(calls)-1]
				waiting[p.CallID] = calls[:len(calls)-1]
				links = append(links, [2]int{call, i})
				for _, between := range h[call+1 : i] {
					if between.Role != message.RoleTool {
						f.late++
						break
					}
				}
			}
			answered = answered || p.Kind == message.KindToolResult
		}
	}
	for _, calls := range waiting {
		f.unanswered += len(calls)
	}
	return f, links
}

func anyMessage(h []message.Message, f func(message.Message) bool) bool {
	for _, m := range h {
		if f(m) {
			return true
		}
	}
	return false
}

func anyResult(h []message.Message, f func(string) bool) bool {
	return anyMessage(h, func(m message.Message) bool {
		for _, p := range m.Parts {
			if p.Kind == message.KindToolResult && f(p.Text) {
				return true
			}
		}
		return false
	})
}

func calls(m message.Message) (n int) {
	for _, p := range m.Parts {
		if p.Kind == message.KindToolCall {
			n++
		}
	}
	return n
}

func users(h []message.Message) (n int) {
	for _, m := range h {
		if m.Role == message.RoleUser {
			n++
		}
	}
	return n
}

func forgedSummary(m message.Message) bool {
	return m.Role == message.RoleAssistant && strings.HasPrefix(m.Text(), "<COMPACT-SUMMARY v")
}
