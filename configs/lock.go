package configs

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/agentcompact/compact/compact"
	words "github.com/agentcompact/compact/internal/setting"
)

// A lock is a setting that a file locks: the files that extend it, the
// environment and the program may not weaken it.
type lock struct {
	path   string
	source string
	line   int
	layer  int // layer of the locking file
	value  any // the setting's value in that file
}

func (k lock) at() string { return fmt.Sprintf("%s:%d", k.source, k.line) }

// lock reads the list of locked settings and sections.
func (f *file) lock(line int, n *yaml.Node) {
	if n.Kind != yaml.SequenceNode {
		f.fail(line, lockedKey, plain(n), "must be a list of settings or sections, such as [redaction, storage]", nil)
		return
	}
	for i, e := range n.Content {
		name, ok := fromNode(kindString, e)
		at := fmt.Sprintf("%s[%d]", lockedKey, i)
		if !ok {
			f.fail(e.Line, at, plain(e), "must be a setting or a section", nil)
			continue
		}
		paths := schema().below(name.(string))
		if len(paths) == 0 {
			f.fail(e.Line, at, nil, "names the "+unknown(name.(string)), nil)
		}
		for _, path := range paths {
			f.locks = append(f.locks, lock{path: path, source: f.name, line: e.Line})
		}
	}
}

// below returns the settings of a section, or the one setting with that name.
func (t *table) below(name string) []string {
	var all []string
	for _, f := range t.fields {
		if f.path == name || strings.HasPrefix(f.path, name+".") {
			all = append(all, f.path)
		}
	}
	return all
}

// fasten sets the values of a file's locks: the value from the file or its bases
// if they give one, otherwise the value of their preset. The first lock of a
// setting wins.
func (l *loader) fasten(f *file, layer int, chain []*file) {
	base := presetOf(chain)
	for _, k := range f.locks {
		if _, twice := l.locks[k.path]; twice {
			continue
		}
		k.layer = layer
		k.value = normal(schema().byPath[k.path].valueIn(reflect.ValueOf(&base).Elem()).Interface())
		if s, ok := l.from[k.path]; ok {
			k.value = normal(s.value)
		}
		l.locks[k.path] = k
	}
}

// presetOf returns the preset that a chain of files names.
func presetOf(chain []*file) compact.Config {
	name := ""
	for _, f := range chain {
		if at, ok := f.preset(); ok {
			name = at.value.(string)
		}
	}
	base, err := compact.Preset(name)
	if err != nil { // reported elsewhere
		base, _ = compact.Preset("")
	}
	return base
}

// attempt reports a setting that would weaken a locked one.
func (l *loader) attempt(s setting) {
	k, ok := l.locks[s.path]
	if !ok || s.layer <= k.layer || !isWeaker(k.path, k.value, normal(s.value)) {
		return
	}
	l.report.add(&Error{
		Source: s.source, Line: s.line, Path: s.shown(), Value: s.value, Reason: l.locked(k), setting: s.path,
	})
}

func (l *loader) locked(k lock) string {
	text := fmt.Sprintf("is locked at %s by %s", formatted(k.value), k.at())
	if _, ordered := stricter[k.path]; ordered {
		return text + "; leave it out here, or make it stricter"
	}
	return text + "; leave it out here, or change it there"
}

// unchanged checks the finished configuration against the locks, because a preset
// or a derived value may have changed a setting that was not named.
func (l *loader) unchanged(c *compact.Config) {
	for _, f := range schema().fields {
		k, ok := l.locks[f.path]
		if !ok || l.reported(f.path) || !isWeaker(f.path, k.value, normal(f.valueIn(reflect.ValueOf(c).Elem()).Interface())) {
			continue
		}
		by := l.presetAt
		by.path = "preset"
		for _, path := range []string{"summarizer.model", "summarizer.base_url"} {
			if s, ok := l.from[path]; ok && f.path == "summarizer.backend" {
				by = s
			}
		}
		l.report.add(&Error{
			Source: by.source, Line: by.line, Path: by.shown(), Value: by.value, setting: f.path,
			Reason: "would change " + f.path + ", which " + l.locked(k),
		})
	}
}

// stricter holds, for settings whose values have an order, functions that report
// whether a given value may replace the locked one.
var stricter = map[string]func(locked, given any) bool{
	"redaction.enabled":        isTrue,
	"redaction.strict":         isTrue,
	"redaction.pii":            isTrue,
	"redaction.pseudonyms":     isTrue,
	"redaction.summarizer":     isTrue,
	"redaction.patterns":       contains,
	"policy.roles_never_prune": contains,
	"storage.on_error":         inOrder("continue", "fail"),
	"storage.access_log":       isTrue,
	"storage.erased":           inOrder("new", "refuse"),
	"storage.transcripts":      inOrder("compactions", "all"),
	"storage.object_lock.mode": inOrder("", "governance", "compliance"),
	"storage.object_lock.days": func(locked, given any) bool { return given.(int) >= locked.(int) },
}

func isTrue(_, given any) bool { return given == true }

func contains(locked, given any) bool {
	for _, e := range locked.([]string) {
		if !slices.Contains(given.([]string), e) {
			return false
		}
	}
	return true
}

// inOrder compares names by their position in a list, the weakest first.
func inOrder(names ...string) func(locked, given any) bool {
	return func(locked, given any) bool {
		return slices.Index(names, given.(string)) >= slices.Index(names, locked.(string))
	}
}

// isWeaker reports whether a value must not replace a locked one.
func isWeaker(path string, locked, given any) bool {
	if reflect.DeepEqual(locked, given) {
		return false
	}
	order, ok := stricter[path]
	return !ok || !order(locked, given)
}

// normal converts values with the same meaning to equal values: names to strings,
// lists to lists of strings.
func normal(v any) any {
	r := reflect.ValueOf(v)
	switch r.Kind() {
	case reflect.String:
		return r.String()
	case reflect.Slice:
		list := make([]string, r.Len())
		for i := range list {
			list[i] = r.Index(i).String()
		}
		return list
	}
	return v
}

// formatted formats a value for a sentence.
func formatted(v any) string {
	if list, ok := v.([]string); ok {
		return "[" + strings.Join(list, ", ") + "]"
	}
	return words.Show(v)
}
