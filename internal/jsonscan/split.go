package jsonscan

import (
	"bytes"
	"fmt"
	"sort"
)

// A Document is a JSON object that was checked and split in one pass.
type Document struct {
	Members []Member  // in order; a key may repeat
	List    []Element // elements of the requested array
	At      Span      // span of that array; zero = no array
}

// An Element is an element of a list. If it is an object, Type and Role are the
// values of the members with these names, which distinguish the elements on the
// providers' wires. If a name occurs twice, the last member counts. The zero
// Span means that there is no such member.
type Element struct {
	Span
	Type, Role Span
}

// note records a member of the element. key is its name with quotes, and the bytes up
// to the value.
func (e *Element) note(key []byte, value Span) {
	if bytes.IndexByte(key, '\\') >= 0 {
		key = unescaped(key)
	}
	if len(key) < 6 || key[5] != '"' {
		return
	}
	switch string(key[:6]) {
	case `"type"`:
		e.Type = value
	case `"role"`:
		e.Role = value
	}
}

// unescaped returns a name without the bytes after it, and decodes its escapes.
func unescaped(key []byte) []byte {
	at, err := stringSpan(key, 0)
	if err != nil {
		return nil
	}
	name, err := Unquote(at.Of(key))
	if err != nil {
		return nil
	}
	return AppendQuote(nil, name)
}

// Split checks that data is one JSON object, with white space around it, and
// returns the positions of its members and, if the member named list is an
// array, of the elements of that array. It takes one pass. An error is a
// *[SyntaxError] or states that data is not an object.
func Split(data []byte, list string) (Document, error) {
	i := Space(data, 0)
	if i >= len(data) || data[i] != '{' {
		if err := Check(data); err != nil {
			return Document{}, err
		}
		return Document{}, fmt.Errorf("%w: an object is wanted", errSyntax)
	}
	var d Document
	if i = Space(data, i+1); i < len(data) && data[i] == '}' {
		return d.finish(data, i+1)
	}
	return d.finish(data, d.members(data, i, list))
}

// Again is [Split] for data that shares its first same bytes with other data.
// before is the result of Split for the other data. Again scans only the rest
// of the list.
func Again(data []byte, list string, before Document, same int) (Document, error) {
	known := sort.Search(len(before.List), func(i int) bool { return before.List[i].End >= same })
	if known == 0 {
		return Split(data, list)
	}
	d := Document{List: before.List[:known:known]}
	for _, m := range before.Members {
		if m.Whole.Start > before.At.Start {
			break
		}
		d.Members = append(d.Members, m)
	}
	i, done := after(data, before.List[known-1].End, ']')
	if !done && i >= 0 {
		i = d.elements(data, i)
	}
	if i >= 0 {
		d.At = Span{before.At.Start, i}
		m := &d.Members[len(d.Members)-1] // the list itself
		m.Whole.End, m.Value.End = i, i
		if i, done = after(data, i, '}'); !done && i >= 0 {
			i = d.members(data, i, list)
		}
	}
	return d.finish(data, i)
}

// finish makes the result from the offset after the object.
func (d *Document) finish(data []byte, end int) (Document, error) {
	if end >= 0 {
		if end = Space(data, end); end == len(data) {
			return *d, nil
		}
		end = ^end
	}
	return Document{}, syntaxError(data, ^end)
}

// members begins with a key.
func (d *Document) members(data []byte, i int, list string) int {
	for {
		key := i
		v := skipKey(data, i)
		if v < 0 {
			return v
		}
		name, err := Value(data, key)
		if err != nil {
			return ^key
		}
		m := Member{}
		if m.Key, err = Unquote(name.Of(data)); err != nil {
			return ^key
		}
		if i = d.value(data, v, m.Key == list); i < 0 {
			return i
		}
		m.Whole, m.Value = Span{key, i}, Span{v, i}
		d.Members = append(d.Members, m)
		var done bool
		if i, done = after(data, i, '}'); done || i < 0 {
			return i
		}
	}
}

// value checks the value of a member. If two members have the name of the list,
// the last one counts.
func (d *Document) value(data []byte, i int, list bool) int {
	if !list {
		return skip(data, i, 1, nil)
	}
	d.List, d.At = nil, Span{}
	if i >= len(data) || data[i] != '[' {
		return skip(data, i, 1, nil)
	}
	end := Space(data, i+1)
	if end < len(data) && data[end] == ']' {
		end++
	} else {
		end = d.elements(data, end)
	}
	if end >= 0 {
		d.At = Span{i, end}
	}
	return end
}

// elements begins with an element.
func (d *Document) elements(data []byte, i int) int {
	for {
		e := Element{}
		end := skip(data, i, 2, &e)
		if end < 0 {
			return end
		}
		e.Span = Span{i, end}
		d.List = append(d.List, e)
		var done bool
		if i, done = after(data, end, ']'); done || i < 0 {
			return i
		}
	}
}
