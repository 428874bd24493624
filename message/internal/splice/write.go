package splice

import (
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/elements"
)

// Write is what [wire.Request.Write] of these wires does.
func (l *List) Write(view []message.Message, sources []int) ([]byte, error) {
	units, err := l.Plan(view, sources)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.grammar.Name(), err)
	}
	pieces := make([]elements.Piece, len(units))
	same := len(units) == len(l.items)
	for i, u := range units {
		p := elements.Piece{From: u.Item}
		if p.Raw, err = l.piece(u, view); err != nil {
			return nil, fmt.Errorf("%s: message %d of the view: %w", l.grammar.Name(), u.From, err)
		}
		same = same && p.Raw == nil && u.Item == i
		pieces[i] = p
	}
	if same {
		return l.data, nil
	}
	list := elements.List{At: l.at, Elems: make([]jsonscan.Span, len(l.items))}
	for i := range l.items {
		list.Elems[i] = l.items[i].Span
	}
	return list.Write(l.data, pieces), nil
}

// piece is what a unit is written as; nil = the item as it stands in the body.
func (l *List) piece(u Unit, view []message.Message) ([]byte, error) {
	switch {
	case u.Made():
		return l.grammar.AppendMade(nil, view[u.From]), nil
	case u.Whole && !l.meta:
		return nil, nil
	case u.Joined:
		return l.joined(view[u.From:u.To]), nil
	case u.Whole:
		if item := l.Item(u.Item); len(item) != len(l.items[u.Item].Of(l.data)) {
			return item, nil
		}
		return nil, nil
	case u.To-u.From == 1:
		return view[u.From].Raw(), nil
	}
	return l.join(l.Item(u.Item), view[u.From].Raw(), view[u.From+1].Raw())
}
