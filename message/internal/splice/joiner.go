package splice

import "github.com/agentcompact/compact/message"

// A Joiner is a [Grammar] of a wire that refuses certain neighbors, but accepts
// one item with the blocks of both. If the items between such neighbors were
// removed, the neighbors are written as one item. Items that were neighbors in
// the body stay separate.
type Joiner interface {
	// Loose reports whether an item is such a neighbor, and has no data that
	// would be lost if it were joined with others.
	Loose(item []byte) bool
	// AppendJoined writes loose items as one item.
	AppendJoined(dst []byte, items [][]byte) []byte
}

// joinTo adds a unit, or joins it to the previous unit.
func (l *List) joinTo(units []Unit, view []message.Message, u Unit) []Unit {
	n := len(units) - 1
	if n < 0 || !l.joinsPrevious(view, &units[n], &u) {
		return append(units, u)
	}
	units[n].To, units[n].last, units[n].Whole, units[n].Joined = u.To, u.Item, false, true
	return units
}

// joinsPrevious reports whether unit u is written as one with the previous unit.
func (l *List) joinsPrevious(view []message.Message, before, u *Unit) bool {
	if before.Made() || view[u.From].Role != message.RoleSystem || view[before.From].Role != message.RoleSystem || before.last+1 == u.Item {
		return false
	}
	j, ok := l.grammar.(Joiner)
	return ok && (before.Joined || j.Loose(view[before.From].Raw())) && j.Loose(view[u.From].Raw())
}

func (l *List) joined(msgs []message.Message) []byte {
	items := make([][]byte, len(msgs))
	for i := range msgs {
		items[i] = msgs[i].Raw()
	}
	return l.grammar.(Joiner).AppendJoined(nil, items)
}
