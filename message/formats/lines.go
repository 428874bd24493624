package formats

import (
	"bytes"
	"errors"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message/internal/elements"
	"github.com/agentcompact/compact/message/internal/meta"
	"github.com/agentcompact/compact/message/wire"
)

// source is a file divided into units.
type source struct {
	data  []byte
	units []unit
	list  elements.List // list whose elements are the units
	top   jsonscan.Span // object that holds the list; zero = none
	lines bool          // each unit is a line
	doc   object        // object at top
	at    []object      // object of each unit
	loose error         // error in a line that only logs tolerate
}

var byteOrderMark = []byte("\xef\xbb\xbf")

// cut splits a file into its lines, the elements of its array, or one object.
func cut(data []byte) (*source, error) {
	start := jsonscan.Space(data, 0)
	if bytes.HasPrefix(data, byteOrderMark) {
		start = jsonscan.Space(data, len(byteOrderMark))
	}
	s := &source{data: data}
	if start < len(data) && data[start] == '[' {
		return s, s.array(start)
	}
	if err := jsonscan.Check(data[start:]); err == nil && start < len(data) && data[start] == '{' {
		whole, err := jsonscan.Value(data, start)
		s.top, s.doc = whole, objectAt(data, whole)
		s.units, s.lines = []unit{{whole, lineOf(data, start)}}, true
		s.list.Sep = "\n"
		s.at = []object{s.doc}
		return s, err
	}
	return s, s.cutLines(start)
}

// array divides the array that begins at start, which must be the only value.
func (s *source) array(start int) error {
	if err := jsonscan.Check(s.data[start:]); err != nil {
		line := 1
		if at := (*jsonscan.SyntaxError)(nil); errors.As(err, &at) {
			line = lineOf(s.data, min(start+at.Offset, len(s.data)))
		}
		return &InputError{Line: line, Index: -1, Err: err}
	}
	whole, err := jsonscan.Value(s.data, start)
	if err != nil {
		return err
	}
	s.elements(whole)
	return nil
}

// elements sets the elements of an array as the units.
func (s *source) elements(at jsonscan.Span) {
	s.list, s.lines, s.units, s.at = elements.List{At: at, Sep: ","}, false, nil, nil
	line, from := 1, 0
	for _, e := range elementsOf(s.data, at) {
		line += bytes.Count(s.data[from:e.Start], []byte{'\n'})
		from = e.Start
		s.units = append(s.units, unit{e, line})
		s.at = append(s.at, objectAt(s.data, e))
	}
}

// cutLines divides a file of values that each begin on a line of their own; a
// value may continue over several lines.
func (s *source) cutLines(at int) error {
	s.lines, s.list.Sep = true, "\n"
	line, from := lineOf(s.data, at), at
	for ; at < len(s.data); at = jsonscan.Space(s.data, from) {
		breaks := bytes.Count(s.data[from:at], newline)
		if line += breaks; breaks == 0 && len(s.units) > 0 {
			s.loose = &InputError{Line: line, Index: len(s.units), Err: errTwo}
		}
		v, err := jsonscan.Value(s.data, at)
		if err != nil {
			v = jsonscan.Span{Start: at, End: len(s.data)}
		}
		if err := jsonscan.Check(v.Of(s.data)); err != nil {
			s.loose = &InputError{Line: line, Index: len(s.units), Err: err}
			if len(s.units) == 0 || bytes.Contains(s.data[at:], newline) {
				return s.loose
			}
			return nil
		}
		s.units = append(s.units, unit{v, line})
		s.at = append(s.at, objectAt(s.data, v))
		line += bytes.Count(v.Of(s.data), newline)
		from = v.End
	}
	return nil
}

var newline = []byte{'\n'}

var errTwo = errors.New("there are two JSON values on the line")

// composer begins a body. Its buffer has about the length of the file: a buffer
// that grows gradually takes up to three times the memory.
func (s *source) composer() *composer {
	return &composer{data: s.data, units: s.units, protected: map[int]bool{}, body: make([]byte, 0, len(s.data)+len(s.data)/64+256)}
}

// message copies a message of a list without its member "meta", which must not reach
// the provider.
func (c *composer) message(unit int, at jsonscan.Span) {
	c.item(unit)
	if m, ok := metaOf(c.data, at); ok {
		gap := jsonscan.Cut(c.data, m.Whole)
		c.copy(unit, jsonscan.Span{Start: at.Start, End: gap.Start})
		c.copy(unit, jsonscan.Span{Start: gap.End, End: at.End})
		if string(objectAt(c.data, m.Value).by["protected"].Of(c.data)) == "true" {
			c.protected[unit] = true
		}
		return
	}
	c.copy(unit, at)
}

func metaOf(data []byte, at jsonscan.Span) (found jsonscan.Member, ok bool) {
	if !meta.In(at.Of(data)) {
		return found, false
	}
	_ = jsonscan.Object(data, at, func(m jsonscan.Member) error {
		if m.Key == meta.Key {
			found, ok = m, true
		}
		return nil
	})
	return found, ok
}

// wireFile reads a list of messages of a wire, or one of its bodies.
func wireFile(f wire.Format, list string) func(*source) (*File, error) {
	return func(s *source) (*File, error) {
		if s.loose != nil {
			return nil, s.loose
		}
		if s.isBody() {
			req, err := f.ParseRequest(s.top.Of(s.data), nil)
			if err != nil {
				return nil, &InputError{Line: s.units[0].line, Index: -1, Err: err}
			}
			if s.top.Start == 0 && s.top.End == len(s.data) {
				return &File{name: f.Name(), req: req}, nil
			}
			return &File{name: f.Name(), req: paddedBody{req, s.data, s.top}}, nil
		}
		c := s.composer()
		c.text(fmt.Sprintf(`{"model":"","%s":[`, list))
		for i, u := range s.units {
			c.message(i, u.at)
		}
		c.text("]}")
		return newLog(f.Name(), f, c, s.list, made(f, list, s.list.Sep))
	}
}

// isBody reports whether the file is one object that is not a message.
func (s *source) isBody() bool {
	return s.top.End != 0 && (s.doc.has("messages") || s.doc.has("input") || s.doc.has("contents"))
}
