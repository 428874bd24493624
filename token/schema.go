package token

import (
	"bytes"
	"encoding/json"
	"strings"
)

// schemaCost computes the cost of tool schemas by the rules in OpenAI's cookbook:
// a constant for each function, property and enumeration entry, plus the text of
// the lines that the model sees.
type schemaCost struct {
	function, properties, property, enum, entry, end int
}

func schemaCostFor(encoding string) schemaCost {
	c := schemaCost{function: 10, properties: 3, property: 3, enum: -3, entry: 3, end: 12}
	if encoding == O200K {
		c.function = 7
	}
	return c
}

// hasOwnRule reports whether a member of a schema has a rule of its own or costs
// nothing.
func hasOwnRule(member string) bool {
	switch member {
	case "type", "description", "enum", "properties", "items", "required", "additionalProperties", "$schema",
		"anyOf", "oneOf", "allOf", "$defs", "definitions":
		return true
	}
	return false
}

// maxSchemaDepth bounds the nesting depth; deeper schemas count as text.
const maxSchemaDepth = 32

type object = map[string]json.RawMessage

// count returns the cost of the tools field of a request.
func (c schemaCost) count(schemas []byte, counter Counter) int {
	var tools []json.RawMessage
	if err := json.Unmarshal(schemas, &tools); err != nil {
		tools = []json.RawMessage{schemas}
	}
	if len(tools) == 0 {
		return 0
	}
	w := schemaWalk{c, counter}
	n := c.end
	for _, t := range tools {
		n += w.tool(t)
	}
	return n
}

type schemaWalk struct {
	schemaCost
	counter Counter
}

// tool returns the cost of one entry of a tools field: a function in the form of
// chat, responses, Anthropic or Gemini; anything else counts as text.
func (w schemaWalk) tool(raw json.RawMessage) int {
	var t object
	if json.Unmarshal(raw, &t) != nil {
		return w.counter.Count(string(raw))
	}
	for _, key := range []string{"functionDeclarations", "function_declarations"} {
		var list []json.RawMessage
		if json.Unmarshal(t[key], &list) == nil && len(list) > 0 {
			n := 0
			for _, f := range list {
				n += w.tool(f)
			}
			return n
		}
	}
	if inner, ok := t["function"]; ok {
		var f object
		if json.Unmarshal(inner, &f) == nil {
			t = f
		}
	}
	if text(t["name"]) == "" {
		return w.schemaCost.function + w.counter.Count(compactJSON(raw))
	}
	return w.functionCost(t)
}

func (w schemaWalk) functionCost(f object) int {
	n := w.schemaCost.function + w.line(text(f["name"]), text(f["description"]))
	for _, key := range []string{"parameters", "input_schema", "inputSchema", "parametersJsonSchema"} {
		if raw, ok := f[key]; ok {
			n += w.schema(raw, 0)
			break
		}
	}
	return n
}

// schema returns the cost of the contents of a schema, without the schema itself.
func (w schemaWalk) schema(raw json.RawMessage, depth int) int {
	var s object
	if json.Unmarshal(raw, &s) != nil || depth > maxSchemaDepth {
		return w.counter.Count(string(raw))
	}
	n := w.named(s["properties"], depth) + w.named(s["$defs"], depth) + w.named(s["definitions"], depth)
	n += w.enumCost(s["enum"])
	if items, ok := s["items"]; ok {
		n += w.schema(items, depth+1)
	}
	for _, key := range []string{"anyOf", "oneOf", "allOf"} {
		n += w.choices(s[key], depth)
	}
	for key, value := range s {
		if !hasOwnRule(key) {
			n += w.counter.Count(key + ":" + compactJSON(value))
		}
	}
	return n
}

// named returns the cost of a map from names to schemas.
func (w schemaWalk) named(raw json.RawMessage, depth int) int {
	var props object
	if json.Unmarshal(raw, &props) != nil || len(props) == 0 {
		return 0
	}
	n := w.properties
	for name, p := range props {
		n += w.propertyCost(name, p, depth)
	}
	return n
}

func (w schemaWalk) propertyCost(name string, raw json.RawMessage, depth int) int {
	var p object
	if json.Unmarshal(raw, &p) != nil {
		return w.property + w.line(name, compactJSON(raw))
	}
	return w.property + w.line(name, typeName(p["type"]), text(p["description"])) + w.schema(raw, depth+1)
}

func (w schemaWalk) choices(raw json.RawMessage, depth int) int {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil {
		return 0
	}
	n := 0
	for _, s := range list {
		n += w.propertyCost("", s, depth)
	}
	return n
}

func (w schemaWalk) enumCost(raw json.RawMessage) int {
	var list []json.RawMessage
	if json.Unmarshal(raw, &list) != nil || list == nil {
		return 0
	}
	n := w.enum
	for _, e := range list {
		s := text(e)
		if s == "" {
			s = compactJSON(e)
		}
		n += w.entry + w.counter.Count(s)
	}
	return n
}

// line returns the cost of fields joined by colons, without a final period.
func (w schemaWalk) line(fields ...string) int {
	return w.counter.Count(strings.TrimSuffix(strings.Join(fields, ":"), "."))
}

// text decodes a JSON string. It returns "" for other JSON.
func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) != nil {
		return ""
	}
	return s
}

// typeName returns the type of a schema; several types are joined by "|".
func typeName(raw json.RawMessage) string {
	if s := text(raw); s != "" {
		return s
	}
	var list []string
	if json.Unmarshal(raw, &list) != nil {
		return ""
	}
	return strings.Join(list, "|")
}

func compactJSON(raw json.RawMessage) string {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return string(raw)
	}
	return b.String()
}
