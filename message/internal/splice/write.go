package splice

import (
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/elements"
)

// Write implements [wire.Request.Write] for these wires.
func (l *List) Write(view []message.Message, sources []int) ([]byte, error) {
	d, err := l.Draft(view, sources)
	if err != nil {
		return nil, err
	}
	return d.Body(), nil
}

// A Draft is a view to be written, unit by unit.
type Draft struct {
	Units []Unit

	list   *List
	pieces []elements.Piece
	same   bool
}

// Draft returns the planned form of a view.
func (l *List) Draft(view []message.Message, sources []int) (*Draft, error) {
	units, err := l.Plan(view, sources)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", l.grammar.Name(), err)
	}
	d := &Draft{Units: units, list: l, pieces: make([]elements.Piece, len(units)), same: len(units) == len(l.items)}
	for i, u := range units {
		p := elements.Piece{From: u.Item}
		if p.Raw, err = l.piece(u, view); err != nil {
			return nil, fmt.Errorf("%s: message %d of the view: %w", l.grammar.Name(), u.From, err)
		}
		d.same = d.same && p.Raw == nil && u.Item == i
		d.pieces[i] = p
	}
	return d, nil
}

// Same reports whether the draft is the body that was read.
func (d *Draft) Same() bool { return d.same }

// Raw returns unit i in its planned form. The bytes are shared and must not be
// modified.
func (d *Draft) Raw(i int) []byte {
	if p := d.pieces[i]; p.Raw == nil {
		return d.list.items[p.From].Of(d.list.data)
	}
	return d.pieces[i].Raw
}

// Set replaces unit i.
func (d *Draft) Set(i int, raw []byte) { d.pieces[i].Raw, d.same = raw, false }

// Body returns the whole body; if nothing changed, the body that was read.
func (d *Draft) Body() []byte {
	if d.same {
		return d.list.data
	}
	list := elements.List{At: d.list.at, Elems: make([]jsonscan.Span, len(d.list.items))}
	for i := range d.list.items {
		list.Elems[i] = d.list.items[i].Span
	}
	return list.Write(d.list.data, d.pieces)
}

// piece returns the bytes of a unit; nil = the item of the body, unchanged.
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
