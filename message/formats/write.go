package formats

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/elements"
)

// writer writes a view into a log.
type writer struct {
	*log
	msgs   []message.Message
	edits  map[int][]edit // by unit
	pieces []elements.Piece
	done   []bool // units that are already written
	others int    // unit up to which the units without messages are written
}

func (w *writer) write(view []message.Message, sources []int) ([]byte, error) {
	same := len(view) == len(w.msgs)
	for k, s := range sources {
		if s < 0 || !elements.Same(&w.msgs[s], &view[k]) {
			same = false
			if s >= 0 {
				if err := w.edit(s, &w.msgs[s], &view[k], w.edits); err != nil {
					return nil, err
				}
			}
		}
		same = same && s == k
	}
	if same {
		return w.file.of(jsonscan.Span{End: w.file.Len()}), nil
	}
	if err := w.whole(sources); err != nil {
		return nil, err
	}
	holds := w.holds()
	next := 0 // index after the last message that was written
	for k, s := range sources {
		if s < 0 {
			w.pass(w.begin(next), holds)
			w.pieces = append(w.pieces, elements.Piece{Raw: w.made(nil, view[k]), From: -1})
			continue
		}
		next = max(next, s+1)
		for _, u := range w.place[s].units {
			w.pass(u, holds)
			w.unit(u)
		}
	}
	w.pass(len(w.units), holds)
	return w.list.WriteDoc(&w.file, w.pieces), nil
}

// holds returns, for each unit, whether it holds a message.
func (w *writer) holds() []bool {
	holds := make([]bool, len(w.units))
	for _, p := range w.place {
		for _, u := range p.units {
			holds[u] = true
		}
	}
	return holds
}

// whole returns an error unless each unit is kept or removed as a whole: a line that
// holds a call with its result can't be divided.
func (w *writer) whole(sources []int) error {
	kept := make([]bool, len(w.msgs))
	for _, s := range sources {
		if s >= 0 {
			kept[s] = true
		}
	}
	state := map[int]bool{}
	for i, p := range w.place {
		for _, u := range p.units {
			if was, seen := state[u]; seen && was != kept[i] {
				return fmt.Errorf("formats: line %d holds several messages, and the view keeps only some of them", w.units[u].line)
			}
			state[u] = kept[i]
		}
	}
	return nil
}

// begin returns the unit in which message i begins. A new message takes the place of
// the first message that it replaces.
func (w *writer) begin(i int) int {
	for ; i < len(w.place); i++ {
		if len(w.place[i].units) > 0 {
			return w.place[i].units[0]
		}
	}
	return len(w.units)
}

// pass writes the units without messages before unit u.
func (w *writer) pass(u int, holds []bool) {
	for ; w.others < u; w.others++ {
		if !holds[w.others] {
			w.unit(w.others)
		}
	}
}

// unit writes a unit, if it was not written before.
func (w *writer) unit(u int) {
	if w.done[u] {
		return
	}
	w.done[u] = true
	edits := w.edits[u]
	if len(edits) == 0 {
		w.pieces = append(w.pieces, elements.Piece{From: u})
		return
	}
	slices.SortFunc(edits, func(a, b edit) int { return cmp.Compare(a.at.Start, b.at.Start) })
	at := w.units[u].at
	var out []byte
	from := at.Start
	for _, e := range edits {
		out = append(w.file.Append(out, from, e.at.Start), e.new...)
		from = e.at.End
	}
	w.pieces = append(w.pieces, elements.Piece{Raw: w.file.Append(out, from, at.End), From: u})
}
