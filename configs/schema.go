package configs

import (
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/compact"
)

// A kind is the type of a setting in a file.
type kind int

const (
	kindString kind = iota
	kindInt
	kindFloat
	kindBool
	kindDuration
	kindList
)

// A field is one setting.
type field struct {
	path  string // path in files: "policy.trigger_pct"
	kind  kind
	index []int
	rules string   // rules of the validator
	owner *section // the component that the setting belongs to; nil: compact.Config
}

func (f field) leaf() string { return f.path[strings.LastIndexByte(f.path, '.')+1:] }

func (f field) section() string { return f.path[:max(strings.LastIndexByte(f.path, '.'), 0)] }

// valueIn returns the field's value in c, which must be addressable to be set. For a
// setting of a registered component it returns the default, in a copy, because
// the setting is not in c.
func (f field) valueIn(c reflect.Value) reflect.Value {
	if f.owner != nil {
		c = reflect.New(f.owner.defaults.Type()).Elem()
		c.Set(f.owner.defaults)
	}
	return c.FieldByIndex(f.index)
}

// A table holds all settings.
type table struct {
	fields   []field // in the order of the struct
	byPath   map[string]field
	sections map[string]bool
}

// schema returns all settings. Settings of registered components come last.
func schema() *table {
	registry.Lock()
	defer registry.Unlock()
	if registry.schema == nil {
		registry.schema = readSchema(registry.sections)
	}
	return registry.schema
}

// readSchema reads the settings from the struct, so that a new field needs no
// change here.
func readSchema(more []*section) *table {
	t := &table{byPath: map[string]field{}, sections: map[string]bool{}}
	t.read(reflect.TypeFor[compact.Config](), "", nil)
	for _, s := range more {
		t.sections[s.path] = true
		for _, f := range s.fields {
			t.fields = append(t.fields, f)
			t.byPath[f.path] = f
		}
	}
	return t
}

func (t *table) read(s reflect.Type, prefix string, index []int) {
	for i := range s.NumField() {
		sf := s.Field(i)
		name := sf.Tag.Get("mapstructure")
		if name == "" || name == "-" {
			continue
		}
		at := append(index[:len(index):len(index)], i)
		if sf.Type.Kind() == reflect.Struct {
			t.sections[prefix+name] = true
			t.read(sf.Type, prefix+name+".", at)
			continue
		}
		f := field{path: prefix + name, kind: kindOf(sf.Type), index: at, rules: sf.Tag.Get("validate")}
		t.fields = append(t.fields, f)
		t.byPath[f.path] = f
	}
}

func kindOf(t reflect.Type) kind {
	if t == reflect.TypeFor[time.Duration]() {
		return kindDuration
	}
	switch t.Kind() {
	case reflect.Int:
		return kindInt
	case reflect.Float64:
		return kindFloat
	case reflect.Bool:
		return kindBool
	case reflect.Slice:
		return kindList
	}
	return kindString
}

// known returns every path and section, for suggestions.
func (t *table) known() []string {
	all := slices.Clone(specialKeys)
	for s := range t.sections {
		all = append(all, s)
	}
	for _, f := range t.fields {
		all = append(all, f.path)
	}
	return all
}
