package eval

import (
	"slices"
	"sort"

	"github.com/agentcompact/compact/message"
)

// leastEnd is the minimum room, in tokens, for the end of a message that does
// not fit as a whole.
const leastEnd = 100

// Newest returns a view that costs at most tokens, chosen only by age: system and developer
// messages, and the newest other messages verbatim. The first message that does not fit is
// reduced to its end. at holds the index in msgs of each message. count returns the cost
// of a message.
func Newest(msgs []message.Message, tokens int, count func(message.Message) int) (view []message.Message, at []int) {
	for i, m := range msgs {
		if fixed(m) {
			view, at = append(view, m), append(at, i)
			tokens -= count(m)
		}
	}
	pinned := len(view)
	for i := len(msgs) - 1; i >= 0; i-- {
		m := msgs[i]
		if fixed(m) {
			continue
		}
		n := count(m)
		if n > tokens {
			if end, ok := endOf(m, tokens, count); ok {
				view, at = append(view, end), append(at, i)
			}
			break
		}
		view, at = append(view, m), append(at, i)
		tokens -= n
	}
	slices.Reverse(view[pinned:])
	slices.Reverse(at[pinned:])
	return view, at
}

func fixed(m message.Message) bool {
	return m.Role == message.RoleSystem || m.Role == message.RoleDeveloper
}

// endOf returns the end of a message's concatenated texts and calls; it costs at most
// tokens.
func endOf(m message.Message, tokens int, count func(message.Message) int) (message.Message, bool) {
	if tokens < leastEnd {
		return message.Message{}, false
	}
	var text []rune
	kind := message.KindText
	for _, p := range m.Parts {
		if p.Kind == message.KindToolResult {
			kind = p.Kind
		}
		text = append(text, []rune(p.Text+p.Name+string(p.Args))...)
	}
	cut := func(n int) message.Message {
		return message.Message{Role: m.Role, Name: m.Name, Parts: []message.Part{{Kind: kind, Text: string(text[n:])}}}
	}
	n := sort.Search(len(text), func(n int) bool { return count(cut(n)) <= tokens })
	return cut(n), n < len(text)
}
