package configs

import (
	"encoding/json"
	"errors"
	"io"
	"math"
	"reflect"
	"strconv"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"

	words "github.com/agentcompact/compact/internal/setting"
)

// wanted describes the values that a kind of setting accepts.
var wanted = map[kind]string{
	kindString:   words.Wanted(reflect.TypeFor[string]()),
	kindInt:      words.Wanted(reflect.TypeFor[int]()),
	kindFloat:    words.Wanted(reflect.TypeFor[float64]()),
	kindBool:     words.Wanted(reflect.TypeFor[bool]()),
	kindDuration: words.Wanted(reflect.TypeFor[time.Duration]()),
	kindList:     words.Wanted(reflect.TypeFor[[]string]()),
}

// fromNode reads a value from a file. It converts nothing: a number in quotes is
// text, and a duration needs a unit.
func fromNode(k kind, n *yaml.Node) (any, bool) {
	if k == kindList {
		return listOf(n)
	}
	if n.Kind != yaml.ScalarNode {
		return nil, false
	}
	switch tag := n.ShortTag(); {
	case tag == "!!str" && k == kindString:
		return n.Value, true
	case tag == "!!str" && k == kindDuration:
		return duration(n.Value)
	case tag == "!!int" && k == kindInt:
		return decoded[int](n)
	case (tag == "!!int" || tag == "!!float") && k == kindFloat:
		return decoded[float64](n)
	case tag == "!!bool" && k == kindBool:
		return decoded[bool](n)
	}
	return nil, false
}

func decoded[T any](n *yaml.Node) (any, bool) {
	var v T
	err := n.Decode(&v)
	return v, err == nil
}

func listOf(n *yaml.Node) (any, bool) {
	if n.Kind != yaml.SequenceNode {
		return nil, false
	}
	list := make([]string, len(n.Content))
	for i, e := range n.Content {
		if e.Kind != yaml.ScalarNode || e.ShortTag() != "!!str" {
			return nil, false
		}
		list[i] = e.Value
	}
	return list, true
}

func duration(s string) (any, bool) {
	d, err := time.ParseDuration(s)
	return d, err == nil
}

// fromText parses a value of an environment variable.
func fromText(k kind, s string) (any, bool) {
	s = strings.TrimSpace(s)
	var v any
	var err error
	switch k {
	case kindString:
		return s, true
	case kindInt:
		v, err = strconv.Atoi(s)
	case kindFloat:
		return number(s)
	case kindBool:
		v, err = strconv.ParseBool(s)
	case kindDuration:
		return duration(s)
	case kindList:
		return listFromText(s)
	}
	return v, err == nil
}

func number(s string) (any, bool) {
	f, err := strconv.ParseFloat(s, 64)
	return f, err == nil && !math.IsNaN(f) && !math.IsInf(f, 0)
}

// listFromText parses a list as in a file, a JSON array, or elements separated by
// commas.
func listFromText(s string) (any, bool) {
	list := []string{}
	if strings.HasPrefix(s, "[") {
		if json.Unmarshal([]byte(s), &list) == nil { // YAML has no surrogate pairs
			return list, true
		}
		var n, rest yaml.Node
		d := yaml.NewDecoder(strings.NewReader(s))
		if d.Decode(&n) != nil || len(n.Content) != 1 || !errors.Is(d.Decode(&rest), io.EOF) { // a pattern such as [a-z]+ is not a list
			return nil, false
		}
		return listOf(n.Content[0])
	}
	for e := range strings.SplitSeq(s, ",") {
		if e = strings.TrimSpace(e); e != "" {
			list = append(list, e)
		}
	}
	return list, true
}

// fromValue accepts a value from a program: one of the setting's own type, or its
// text.
func fromValue(k kind, v any) (any, bool) {
	switch v := v.(type) {
	case string:
		return fromText(k, v)
	case int:
		if k == kindFloat {
			return float64(v), true
		}
		return v, k == kindInt
	case float64:
		return v, k == kindFloat
	case bool:
		return v, k == kindBool
	case time.Duration:
		return v, k == kindDuration
	case []string:
		return v, k == kindList
	}
	return nil, false
}
