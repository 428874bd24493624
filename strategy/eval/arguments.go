package eval

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
)

// patience lists arguments for the size of a result and the time to wait. Their numbers
// are not identifiers.
var patience = map[string]bool{"timeout": true, "timeout_ms": true, "timeout_seconds": true, "limit": true, "offset": true, "max_output_tokens": true, "yield_time_ms": true,
	"head_limit": true, "max_results": true, "start_line": true, "end_line": true, "view_range": true}

// arguments returns the strings and numbers of a call's arguments, or the whole text if it
// is not JSON. It omits the names of members, because every request contains them in the
// tool's declaration.
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
			if !patience[k] {
				out = values(out, v[k])
			}
		}
	}
	return out
}
