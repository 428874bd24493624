package garble

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// values returns what replaces the values of JSON documents. They are new ones each time,
// because a document is changed in place.
func values() []any {
	return []any{nil, true, 0, -1, 1.5, 1e21, "", "x", "tool", "2026-01-02T03:04:05Z", []any{}, map[string]any{}, []any{nil}, map[string]any{"type": "text", "text": "x"}, []any{map[string]any{"type": 7}}}
}

// Documents returns a function that changes a document of JSON, or each line of JSON Lines,
// in up to three places: a value gets another type, a member or element is removed,
// repeated or moved. A line that is no JSON stays. The seed determines the changes.
func Documents(seed uint64) func(doc string) string {
	d := newDrawer(nil, seed)
	return func(doc string) string {
		if out, ok := d.document(doc); ok {
			return out
		}
		lines := strings.Split(doc, "\n")
		for i, line := range lines {
			if out, ok := d.document(line); ok && d.IntN(2) == 0 {
				lines[i] = out
			}
		}
		return strings.Join(lines, "\n")
	}
}

func (d drawer) document(text string) (string, bool) {
	var v any
	if json.Unmarshal([]byte(text), &v) != nil {
		return "", false
	}
	for range 1 + d.IntN(3) {
		v = d.value(v)
	}
	out, err := json.Marshal(v)
	return string(out), err == nil
}

// value changes a value, or one inside of it.
func (d drawer) value(v any) any {
	switch v := v.(type) {
	case []any:
		if len(v) > 0 && d.IntN(6) > 0 {
			return d.element(v)
		}
	case map[string]any:
		if len(v) > 0 && d.IntN(6) > 0 {
			return d.member(v)
		}
	case string:
		if len(v) > 1 && d.IntN(2) == 0 {
			return v[:d.IntN(len(v))]
		}
	}
	all := values()
	return all[d.IntN(len(all))]
}

func (d drawer) element(v []any) any {
	i, k := d.IntN(len(v)), d.IntN(len(v))
	switch d.IntN(8) {
	case 0:
		return slices.Delete(v, i, i+1)
	case 1:
		return slices.Insert(v, k, v[i])
	case 2:
		v[i], v[k] = v[k], v[i]
		return v
	}
	v[i] = d.value(v[i])
	return v
}

func (d drawer) member(v map[string]any) any {
	names := slices.Sorted(maps.Keys(v))
	name, other := names[d.IntN(len(names))], names[d.IntN(len(names))]
	switch d.IntN(8) {
	case 0:
		delete(v, name)
	case 1:
		v[name], v[other] = v[other], v[name]
	default:
		v[name] = d.value(v[name])
	}
	return v
}
