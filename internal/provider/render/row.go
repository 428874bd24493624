package render

import (
	"encoding/json"
	"strings"
)

func role(r Row) string { s, _ := r["role"].(string); return s }

func str(r Row, name string) string { s, _ := r[name].(string); return s }

// instructs reports whether a row has the role system or developer.
func instructs(r Row) bool { return role(r) == "system" || role(r) == "developer" }

// textOf returns the text of a row, its parts joined by newlines.
func textOf(r Row) string {
	if s, ok := r["content"].(string); ok {
		return s
	}
	var texts []string
	for _, p := range partsOf(r) {
		if str(p, "type") == "text" {
			texts = append(texts, str(p, "text"))
		}
	}
	return strings.Join(texts, "\n")
}

func partsOf(r Row) []object {
	l, _ := r["content"].([]any)
	var out []object
	for _, p := range l {
		if o, ok := p.(object); ok {
			out = append(out, o)
		}
	}
	return out
}

// mediaOf returns the URLs of the pictures in a row.
func mediaOf(r Row) []string {
	var out []string
	for _, p := range partsOf(r) {
		if o, ok := p["image_url"].(object); ok {
			out = append(out, str(o, "url"))
		}
	}
	return out
}

// inline returns type and data of a data URL.
func inline(url string) (kind, data string, ok bool) {
	rest, ok := strings.CutPrefix(url, "data:")
	if !ok {
		return "", "", false
	}
	return strings.Cut(rest, ";base64,")
}

type call struct{ id, name, args string }

func callsOf(r Row) []call {
	l, _ := r["tool_calls"].([]any)
	var out []call
	for _, c := range l {
		o, ok := c.(object)
		if !ok {
			continue
		}
		f, _ := o["function"].(object)
		out = append(out, call{str(o, "id"), str(f, "name"), str(f, "arguments")})
	}
	return out
}

// input returns the arguments of a call as an object. Other arguments become
// the member "arguments".
func (c call) input() object {
	d := json.NewDecoder(strings.NewReader(c.args))
	d.UseNumber()
	var o object
	if err := d.Decode(&o); err != nil || o == nil {
		return object{"arguments": c.args}
	}
	return o
}

// schema returns a plausible schema of a tool.
func schema(name string) object {
	return object{"type": "object", "properties": object{"path": object{"type": "string", "description": "what " + name + " is about"}}}
}

// preamble returns the number of system and developer rows at the beginning.
func preamble(rows []Row) int {
	for i, r := range rows {
		if !instructs(r) {
			return i
		}
	}
	return len(rows)
}
