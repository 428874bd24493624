package formats

import "github.com/agentcompact/compact/internal/jsonscan"

// object holds the members of a JSON object of a file. It is empty for every
// other value.
type object struct {
	data []byte
	at   jsonscan.Span
	by   map[string]jsonscan.Span
}

func objectAt(data []byte, at jsonscan.Span) object {
	o := object{data: data, at: at, by: map[string]jsonscan.Span{}}
	if at.End > at.Start && data[at.Start] == '{' {
		_ = jsonscan.Object(data, at, func(m jsonscan.Member) error {
			o.by[m.Key] = m.Value
			return nil
		})
	}
	return o
}

func (o object) has(key string) bool {
	at, ok := o.by[key]
	return ok && string(at.Of(o.data)) != "null"
}

// text returns the text of a member that is a string, and "" for every other
// member.
func (o object) text(key string) string {
	at := o.by[key]
	if at.End == 0 || o.data[at.Start] != '"' {
		return ""
	}
	s, err := jsonscan.Unquote(at.Of(o.data))
	if err != nil {
		return ""
	}
	return s
}

// in returns a member that is an object.
func (o object) in(key string) object { return objectAt(o.data, o.by[key]) }

// is reports whether the value of a member begins with this byte, which
// identifies its type.
func (o object) is(key string, first byte) bool {
	at := o.by[key]
	return at.End > at.Start && o.data[at.Start] == first
}

// list returns the elements of a member that is an array.
func (o object) list(key string) []jsonscan.Span {
	if !o.is(key, '[') {
		return nil
	}
	return elementsOf(o.data, o.by[key])
}

// spans returns a member as a list of one element.
func (o object) spans(key string) []jsonscan.Span { return []jsonscan.Span{o.by[key]} }

func elementsOf(data []byte, at jsonscan.Span) (elems []jsonscan.Span) {
	_ = jsonscan.Array(data, at, func(_ int, e jsonscan.Span) error {
		elems = append(elems, e)
		return nil
	})
	return elems
}
