package splice

import (
	"fmt"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/elements"
)

// A Unit is one item of the list to be written.
type Unit struct {
	Item     int  // index of the item in the body; -1 = a new message
	From, To int  // range of messages of the view in this item: one message, two messages of one former item, or the messages of several items that become one
	Whole    bool // the complete item, unedited
	Joined   bool // items that became neighbors and are written as one, see [Joiner]

	last int // last item that it holds
}

// Made reports whether the unit is a new message.
func (u Unit) Made() bool { return u.Item < 0 }

// Plan returns the items for a view. It returns an error if the view does not belong
// to this body: if it has a message of another body, or lacks the system prompt.
func (l *List) Plan(view []message.Message, sources []int) ([]Unit, error) {
	if err := elements.Sources(view, sources, len(l.msgs)); err != nil {
		return nil, err
	}
	units := make([]Unit, 0, len(view))
	prompts := 0
	for i := 0; i < len(view); i++ {
		s := sources[i]
		if s == -1 {
			units = append(units, Unit{Item: -1, From: i, To: i + 1})
			continue
		}
		if err := l.source(i, &view[i]); err != nil {
			return nil, err
		}
		if l.of[s] == prompt {
			prompts++
			if !elements.Same(&view[i], &l.msgs[s]) {
				return nil, fmt.Errorf("message %d of the view is the system prompt, which can't be edited", i)
			}
			continue
		}
		u, err := l.unit(view, sources, i)
		if err != nil {
			return nil, err
		}
		units = l.joinTo(units, view, u)
		i = u.To - 1
	}
	if l.Prompted() != (prompts == 1) {
		return nil, fmt.Errorf("the system prompt is %d times in the view", prompts)
	}
	return units, nil
}

// source checks that message i of the view came from this body. The engine
// guarantees this, but other callers may not.
func (l *List) source(i int, m *message.Message) error {
	if m.Wire() != l.grammar.Name() || len(m.Raw()) == 0 {
		return fmt.Errorf("message %d of the view has a message of the request as its source, but was not read from this request", i)
	}
	return nil
}

// unit returns the unit that begins with message i of the view.
func (l *List) unit(view []message.Message, sources []int, i int) (Unit, error) {
	s := sources[i]
	item := l.of[s]
	u := Unit{Item: item, From: i, To: i + 1, last: item}
	whole := elements.Same(&view[i], &l.msgs[s])
	if l.first[item+1]-l.first[item] == 1 {
		u.Whole = whole
		return u, nil
	}
	if s == l.first[item] && i+1 < len(view) && sources[i+1] == s+1 {
		if err := l.source(i+1, &view[i+1]); err != nil {
			return u, err
		}
		u.To = i + 2
		u.Whole = whole && elements.Same(&view[i+1], &l.msgs[s+1])
	}
	return u, nil
}
