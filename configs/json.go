package configs

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agentcompact/compact/internal/jsonscan"
)

// jsonError is JSON that can't be read, with its line.
type jsonError struct {
	line int
	err  error
}

func (e *jsonError) Error() string { return "not valid JSON: " + e.err.Error() }

func (e *jsonError) Unwrap() error { return e.err }

// parseJSON reads JSON into the nodes that YAML is read into, so that both
// have lines and are treated alike.
func parseJSON(data []byte) (*yaml.Node, error) {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		at := len(data)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = min(at, int(syntax.Offset))
		}
		return nil, &jsonError{lineAt(data, at), err}
	}
	whole, err := jsonscan.Value(data, 0)
	if err != nil {
		return nil, &jsonError{1, err}
	}
	return jsonNode(data, whole)
}

func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte{'\n'}) }

func jsonNode(data []byte, at jsonscan.Span) (*yaml.Node, error) {
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: lineAt(data, at.Start)}
	child := func(at jsonscan.Span) error {
		c, err := jsonNode(data, at)
		n.Content = append(n.Content, c)
		return err
	}
	var err error
	switch text := at.Of(data); text[0] {
	case '{':
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		err = jsonscan.Object(data, at, func(m jsonscan.Member) error {
			n.Content = append(n.Content, &yaml.Node{
				Kind: yaml.ScalarNode, Tag: "!!str", Value: m.Key, Line: lineAt(data, m.Whole.Start),
			})
			return child(m.Value)
		})
	case '[':
		n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		err = jsonscan.Array(data, at, func(_ int, e jsonscan.Span) error { return child(e) })
	case '"':
		n.Tag = "!!str"
		n.Value, err = jsonscan.Unquote(text)
	default:
		n.Value, n.Tag = string(text), literalTag(string(text))
	}
	return n, err
}

// literalTag is the YAML tag of null, true, false or a number.
func literalTag(text string) string {
	switch {
	case text == "null":
		return "!!null"
	case text == "true" || text == "false":
		return "!!bool"
	case strings.ContainsAny(text, ".eE"):
		return "!!float"
	}
	return "!!int"
}
