package eval

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// arguments returns the strings and numbers of a call's arguments, and the
// names of the members; of what is no JSON, the whole.
func arguments(raw json.RawMessage) []string {
	if len(raw) == 0 {
		return nil
	}
	var v any
	d := json.NewDecoder(strings.NewReader(string(raw)))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return []string{string(raw)}
	}
	return values(nil, v)
}

func values(out []string, v any) []string {
	switch v := v.(type) {
	case string:
		return append(out, v)
	case json.Number:
		return append(out, v.String())
	case []any:
		for _, e := range v {
			out = values(out, e)
		}
	case map[string]any:
		for _, k := range slices.Sorted(maps.Keys(v)) {
			out = values(append(out, k), v[k])
		}
	}
	return out
}
