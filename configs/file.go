package configs

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	words "github.com/agentcompact/compact/internal/setting"
)

// A setting is a given value and its place.
type setting struct {
	path   string // path of a field
	source string
	line   int
	name   string // given name if that is not the path: an alias
	within string // the override that holds it, "overrides[0]"
	layer  int    // precedence: the files from 1, the base first; then environment, then program
	value  any    // has the type of the field
}

// shown returns the path as it was given.
func (s setting) shown() string {
	path := cmp.Or(s.name, s.path)
	if s.within != "" && s.name != s.within {
		return s.within + "." + path
	}
	return path
}

// A file is a configuration file while it is read.
type file struct {
	name   string
	report *report
	seen   map[string]int // path or alias → line
	given  []givenKey
	within string // the override that holds the keys; "" = the file itself

	extends     string // the base file; "" = none
	extendsLine int
	locks       []lock
	exceptions  []exception
}

// A givenKey is a key in a file that names a setting, before its value is read.
type givenKey struct {
	key  string // path or alias
	line int
	node *yaml.Node
}

// readFile parses a YAML or JSON file and collects the keys that name settings or
// aliases. It reports mistakes in other keys.
func readFile(name string, data []byte, r *report) *file {
	f := &file{name: name, report: r, seen: map[string]int{}}
	root, err := parse(name, data)
	switch {
	case err != nil:
		f.fail(lineIn(err), "", nil, "can't be read: "+err.Error(), err)
	case root == nil:
	case root.Kind != yaml.MappingNode:
		f.fail(root.Line, "", nil, "must hold settings (name: value)", nil)
	default:
		f.mapping(root, "")
	}
	return f
}

// preset returns the preset that the file names.
func (f *file) preset() (setting, bool) {
	for _, g := range f.given {
		if v, ok := fromNode(kindString, g.node); ok && g.key == "preset" {
			return setting{path: "preset", source: f.name, line: g.line, value: v}, true
		}
	}
	return setting{}, false
}

func (f *file) fail(line int, path string, value any, reason string, err error) {
	f.report.add(&Error{Source: f.name, Line: line, Path: path, Value: value, Reason: reason, Err: err})
}

// parse returns the root of the only document, or nil if there is none. JSON has
// its own parser, because YAML does not support all its escapes.
func parse(name string, data []byte) (*yaml.Node, error) {
	data = bytes.TrimPrefix(data, []byte("\xef\xbb\xbf"))
	if json.Valid(data) || strings.HasSuffix(strings.ToLower(name), ".json") {
		return parseJSON(data)
	}
	var doc, more yaml.Node
	dec := yaml.NewDecoder(bytes.NewReader(data))
	if err := dec.Decode(&doc); err != nil {
		if errors.Is(err, io.EOF) {
			return nil, nil
		}
		return nil, notYAML(data, err)
	}
	if err := dec.Decode(&more); !errors.Is(err, io.EOF) {
		return nil, &syntaxError{more.Line, "the file has more than one document", err}
	}
	root := doc.Content[0]
	if root.ShortTag() == "!!null" {
		return nil, nil
	}
	return root, nil
}

// mapping reads the keys of a section.
func (f *file) mapping(n *yaml.Node, prefix string) {
	for i := 0; i+1 < len(n.Content); i += 2 {
		f.key(n.Content[i], prefix, n.Content[i+1])
	}
}

func (f *file) key(key *yaml.Node, prefix string, value *yaml.Node) {
	if key.Kind != yaml.ScalarNode {
		f.fail(key.Line, "", nil, "a key must be a name", nil)
		return
	}
	f.member(prefix+key.Value, key.Line, value)
}

// member reads one key: a section, a setting, or an alias of one.
func (f *file) member(path string, line int, value *yaml.Node) {
	if value.Kind == yaml.AliasNode {
		value = value.Alias
	}
	_, setting := schema().byPath[path]
	_, alias := aliases[path]
	section := schema().sections[path] || aliasSections[path] && (!setting && !alias || value.Kind == yaml.MappingNode)
	special := slices.Contains(specialKeys, path)
	switch {
	case special && f.within != "":
		f.fail(line, path, nil, "is allowed at the top of a file, not in an override", nil)
	case slices.Contains(neighbors, path):
	case section && value.Kind == yaml.MappingNode:
		f.mapping(value, path+".")
	case section && value.ShortTag() == "!!null": // a section whose lines are all comments
	case section:
		f.fail(line, path, plain(value), "is a section, not a setting", nil)
	case !setting && !alias && !special && f.within != "" && words.Nearest(path, []string{"agent", "model"}) != "":
		f.fail(line, "", nil, "unknown key "+strconv.Quote(path)+words.DidYouMean(path, []string{"agent", "model"}), nil)
	case !setting && !alias && !special:
		f.fail(line, "", nil, unknown(path), nil)
	case f.seen[path] > 0:
		f.fail(line, path, nil, "is given twice, first in line "+strconv.Itoa(f.seen[path]), nil)
	case value.ShortTag() == "!!null":
		f.fail(line, path, nil, "has no value; leave the line out for the default", nil)
	case special:
		f.seen[path] = line
		f.special(path, line, value)
	default:
		f.seen[path] = line
		f.given = append(f.given, givenKey{key: path, line: line, node: value})
	}
}

// plain returns the value of a scalar for errors.
func plain(n *yaml.Node) any {
	if n.Kind != yaml.ScalarNode {
		return nil
	}
	if n.ShortTag() == "!!str" {
		return n.Value
	}
	return words.Raw(n.Value)
}

// unknown returns the reason for an unknown setting. It omits the value, which
// may be a secret.
func unknown(path string) string {
	for _, s := range secretsOf(registered()) {
		if s.path == path {
			return "unknown key " + strconv.Quote(path) + "; secrets are never in a configuration: set " + s.variable() + " in the environment"
		}
	}
	if near := words.Nearest(path, schema().known()); near != "" && words.Distance(strings.ToLower(path), near, 2) <= 2 {
		return "unknown key " + strconv.Quote(path) + " (did you mean " + near + "?)"
	}
	leaf := strings.ToLower(path[strings.LastIndexByte(path, '.')+1:])
	for _, word := range []string{"api_key", "apikey", "secret", "password", "token", "access_key", "access_key_id", "secret_key", "credentials"} {
		if strings.HasSuffix(leaf, word) && strings.HasPrefix(path, "storage.") {
			return "unknown key " + strconv.Quote(path) + "; secrets are never in a configuration: S3 takes its credentials from the environment, a profile, web identity, or the container"
		}
		if strings.HasSuffix(leaf, word) {
			return "unknown key " + strconv.Quote(path) + "; secrets are never in a configuration: set OPENAI_API_KEY in the environment"
		}
	}
	return "unknown key " + strconv.Quote(path) + words.DidYouMean(path, schema().known())
}
