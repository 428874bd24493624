package responses

import (
	"errors"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/elements"
)

var errNoInput = errors.New("the request has no input, so no message can be added")

var errInstructions = errors.New("the instructions are protected: they can be neither edited nor left out")

func (r *request) Write(view []message.Message, sources []int) ([]byte, error) {
	view, sources, err := r.withoutPrompt(view, sources)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", Name, err)
	}
	pieces := make([]elements.Piece, len(view))
	same := len(view) == len(r.msgs)-r.prompt
	for k, src := range sources {
		p := elements.Piece{From: src}
		if src < 0 || !elements.Same(&view[k], &r.msgs[src+r.prompt]) || r.differs(src+r.prompt) {
			p.Raw = appendItems(nil, view[k])
		}
		same = same && p.Raw == nil && src == k
		pieces[k] = p
	}
	switch {
	case same:
		return r.body, nil
	case r.input.End == 0 && r.list.At.End == 0:
		return nil, errNoInput
	case r.input.End == 0:
		return r.list.Write(r.body, pieces), nil
	}
	return r.rewriteText(view, pieces), nil
}

// withoutPrompt removes the instructions from a view, and counts the other messages
// from 0.
func (r *request) withoutPrompt(view []message.Message, sources []int) ([]message.Message, []int, error) {
	if err := r.fits(view, sources); err != nil || r.prompt == 0 {
		return view, sources, err
	}
	msgs, from := make([]message.Message, 0, len(view)), make([]int, 0, len(view))
	for k, src := range sources {
		if src != 0 {
			msgs, from = append(msgs, view[k]), append(from, max(src-1, -1))
		}
	}
	return msgs, from, nil
}

// fits returns the reason why a view can't be written: its sources do not belong to
// the request, or the instructions are missing or changed.
func (r *request) fits(view []message.Message, sources []int) error {
	if err := elements.Sources(view, sources, len(r.msgs)); err != nil || r.prompt == 0 {
		return err
	}
	found := 0
	for k, src := range sources {
		if src == 0 {
			if found++; !elements.Same(&view[k], &r.msgs[0]) {
				return errInstructions
			}
		}
	}
	if found != 1 {
		return errInstructions
	}
	return nil
}

// rewriteText writes a body whose input is a string: as a string if only the string
// is left, otherwise as a list.
func (r *request) rewriteText(view []message.Message, pieces []elements.Piece) []byte {
	out := append([]byte(nil), r.body[:r.input.Start]...)
	if len(view) == 1 && pieces[0].From == 0 && len(view[0].Parts) == 1 {
		out = jsonscan.AppendQuote(out, view[0].Parts[0].Text)
		return append(out, r.body[r.input.End:]...)
	}
	out = append(out, '[')
	for k := range view {
		if k > 0 {
			out = append(out, ',')
		}
		out = appendItems(out, view[k])
	}
	return append(append(out, ']'), r.body[r.input.End:]...)
}

// AppendMessage appends a message as one JSON object: its item, or
// {"items":[…]} for several. A message that was made in Go, or came from
// another wire, is converted.
func AppendMessage(dst []byte, m message.Message) []byte {
	items := appendItems(nil, m)
	first, err := jsonscan.Value(items, 0)
	if err == nil && jsonscan.Space(items, first.End) == len(items) {
		return append(dst, items...)
	}
	dst = append(dst, `{"items":[`...)
	return append(append(dst, items...), "]}"...)
}

// appendItems appends the items of a message, separated by commas.
func appendItems(dst []byte, m message.Message) []byte {
	if m.Wire() == Name {
		return append(dst, m.Raw()...)
	}
	w := maker{m: m}
	for i := range m.Parts {
		w.part(&m.Parts[i])
	}
	w.flush()
	if len(w.out) == 0 { // the provider requires a content
		w.begin(`"message","role":`)
		w.out = jsonscan.AppendQuote(w.out, string(w.role()))
		w.out = append(w.out, `,"content":""}`...)
	}
	return append(dst, w.out...)
}
