package formats

import (
	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/message/wire"
)

// made returns a function that writes a message made in Go as elements of a wire's
// list, with sep between several.
func made(f wire.Format, list, sep string) func(dst []byte, m message.Message) []byte {
	if f.Name() == openai.Name {
		return func(dst []byte, m message.Message) []byte {
			line := openai.AppendJSONL(nil, m)
			return append(dst, line[:len(line)-1]...)
		}
	}
	return func(dst []byte, m message.Message) []byte {
		for i, e := range elementsMade(f, list, m) {
			if i > 0 {
				dst = append(dst, sep...)
			}
			dst = append(dst, e...)
		}
		return dst
	}
}

// elementsMade returns the elements that a wire writes for a message. The wire
// determines the role: some require that a summary is the user's.
func elementsMade(f wire.Format, list string, m message.Message) (elems [][]byte) {
	req, err := f.ParseRequest([]byte(`{"`+list+`":[]}`), nil)
	if err != nil {
		return [][]byte{f.AppendMessage(nil, m)}
	}
	body, err := req.Write([]message.Message{m}, []int{-1})
	if err != nil {
		return [][]byte{f.AppendMessage(nil, m)}
	}
	for _, e := range elementsOf(body, objectAt(body, jsonscan.Span{End: len(body)}).by[list]) {
		elems = append(elems, e.Of(body))
	}
	return elems
}

// wrapped returns a function that writes each element of [elementsMade] into a
// line of a log.
func wrapped(f wire.Format, list string, line func(element object) (before, after string)) func(dst []byte, m message.Message) []byte {
	return func(dst []byte, m message.Message) []byte {
		for i, e := range elementsMade(f, list, m) {
			if i > 0 {
				dst = append(dst, '\n')
			}
			before, after := line(objectAt(e, jsonscan.Span{End: len(e)}))
			dst = append(append(append(dst, before...), e...), after...)
		}
		return dst
	}
}
