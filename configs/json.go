package configs

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// parseJSON parses JSON into YAML nodes, so that both formats have line numbers
// and are treated alike.
func parseJSON(data []byte) (*yaml.Node, error) {
	var v any
	if err := json.Unmarshal(data, &v); err != nil {
		at := len(data)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
			at = min(at, int(syntax.Offset))
		}
		return nil, &syntaxError{lineAt(data, at), "not valid JSON: " + err.Error(), err}
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	return (&jsonReader{dec: dec, data: data}).node()
}

func lineAt(data []byte, at int) int { return 1 + bytes.Count(data[:at], []byte{'\n'}) }

// A jsonReader turns the tokens of valid JSON into nodes.
type jsonReader struct {
	dec  *json.Decoder
	data []byte
}

func (r *jsonReader) node() (*yaml.Node, error) {
	tok, err := r.dec.Token()
	if err != nil {
		return nil, err
	}
	n := &yaml.Node{Kind: yaml.ScalarNode, Line: lineAt(r.data, int(r.dec.InputOffset()))}
	switch tok := tok.(type) {
	case json.Delim:
		n.Kind, n.Tag = yaml.MappingNode, "!!map"
		if tok == '[' {
			n.Kind, n.Tag = yaml.SequenceNode, "!!seq"
		}
		return n, r.children(n)
	case string:
		n.Value, n.Tag = tok, "!!str"
	case json.Number:
		n.Value, n.Tag = tok.String(), "!!int"
		if strings.ContainsAny(n.Value, ".eE") {
			n.Tag = "!!float"
		}
	case bool:
		n.Value, n.Tag = strconv.FormatBool(tok), "!!bool"
	default:
		n.Value, n.Tag = "null", "!!null"
	}
	return n, nil
}

// children reads up to the closing bracket: elements, or alternating keys and
// values.
func (r *jsonReader) children(n *yaml.Node) error {
	for r.dec.More() {
		c, err := r.node()
		if err != nil {
			return err
		}
		n.Content = append(n.Content, c)
		if n.Kind == yaml.SequenceNode {
			continue
		}
		if c, err = r.node(); err != nil {
			return err
		}
		n.Content = append(n.Content, c)
	}
	_, err := r.dec.Token()
	return err
}
