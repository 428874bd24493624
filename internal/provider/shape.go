package provider

import (
	"encoding/json"
	"slices"
)

// kind is a set of JSON types.
type kind int

const (
	text kind = 1 << iota
	list
	dict
	number
	flag
	null
)

func kindOf(v any) kind {
	switch v.(type) {
	case string:
		return text
	case []any:
		return list
	case object:
		return dict
	case json.Number:
		return number
	case bool:
		return flag
	default:
		return null
	}
}

// field describes the allowed values of a member.
type field struct {
	name     string
	kinds    kind
	required bool
}

func must(name string, k kind) field { return field{name, k, true} }
func may(name string, k kind) field  { return field{name, k, false} }

// shape is the schema of an object. Members that are not in the shape are refused.
type shape []field

func (s shape) names() []string {
	out := make([]string, len(s))
	for i, f := range s {
		out[i] = f.name
	}
	return out
}

// phrases holds a provider's error texts for values that do not fit a schema.
// wrong also gets the wanted types and the actual value.
type phrases struct {
	unknown, missing func(path, name string) string
	wrong            func(path, name string, want kind, got any) string
}

// fits checks an object against its shape, and reports whether it found nothing.
// owner distinguishes objects (a call id), so that the same mistake in another
// object is a different refusal.
func (r *report) fits(p phrases, s shape, o object, owner, path string) bool {
	before := len(r.found)
	for _, f := range s {
		v, ok := o[f.name]
		switch {
		case !ok && f.required:
			r.add("missing_field", owner+"."+f.name, path, p.missing(path, f.name))
		case ok && kindOf(v)&f.kinds == 0:
			r.add("wrong_type", owner+"."+f.name, path, p.wrong(path, f.name, f.kinds, v))
		}
	}
	for _, name := range s.unknown(o) {
		r.add("unknown_field", owner+"."+name, path, p.unknown(path, name))
	}
	return len(r.found) == before
}

// unknown returns the names in an object that the shape does not have, sorted.
func (s shape) unknown(o object) []string {
	known := s.names()
	var extra []string
	for name := range o {
		if !slices.Contains(known, name) {
			extra = append(extra, name)
		}
	}
	slices.Sort(extra)
	return extra
}
