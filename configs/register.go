package configs

import (
	"context"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"sync"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/trace"
)

// A Component is a store or an exporter of another package. Its settings T are a
// struct with fields of type string, int, float64, bool, duration or list of
// strings. Each field has the tag `mapstructure`, its name in files, and the tag
// `doc`, its description in files. The tag `validate` is a rule of
// go-playground/validator. A field of type [compact.Secret] is in no file: it
// comes from the environment.
type Component[T any] struct {
	// Defaults are the values of settings that are not given. The defaults of an exporter
	// must switch it off.
	Defaults T
	// Check reports mistakes in the settings before anything is opened: a
	// [*compact.ConfigError], or several of them, joined. Path is the name of the setting
	// ("url"), and Reason completes a sentence that begins with the name ("must not be
	// empty"). Without Check, only the rules are checked.
	Check func(settings T) error
	// Open opens the archive if storage.adapter names the component. It must
	// return when ctx ends. [Try] calls the method Try(context.Context) error of
	// an archive that has one. The opener calls its method Close if it has one.
	Open func(ctx context.Context, settings T) (storage.Archive, error)
	// Export creates the exporter without connecting yet. A nil exporter means
	// that the settings switch it off.
	Export func(settings T) (trace.Exporter, error)
}

// Register makes a component known to [Load], in every program that links the calling
// package. Call it from an init function. A store has the section storage.NAME, an
// exporter trace.NAME; they are read, checked, locked and shown like all others.
// Register panics if the name is taken, or if T or the functions do not conform to
// [Component].
func Register[T any](name string, c Component[T]) {
	s := &section{name: name, defaults: reflect.ValueOf(c.Defaults)}
	switch {
	case c.Open != nil && c.Export == nil:
		s.path = "storage." + name
		s.open = func(ctx context.Context, v any) (storage.Archive, error) { return c.Open(ctx, v.(T)) }
	case c.Export != nil && c.Open == nil:
		s.path = "trace." + name
		s.export = func(v any) (trace.Exporter, error) { return c.Export(v.(T)) }
	default:
		panic("configs: " + name + " must set either Open (a store) or Export (an exporter)")
	}
	s.check = func(v any) error {
		if c.Check == nil {
			return nil
		}
		return c.Check(v.(T))
	}
	if err := s.describe(); err != nil {
		panic("configs: " + err.Error())
	}
	registry.Lock()
	defer registry.Unlock()
	if err := s.free(readSchema(registry.sections)); err != nil {
		panic("configs: " + err.Error())
	}
	registry.sections = append(registry.sections, s)
	registry.schema = nil
}

// A section is a registered component.
type section struct {
	name     string
	path     string // "storage.quota"
	defaults reflect.Value
	fields   []field
	docs     map[string]string // descriptions of fields and secrets, by path
	secrets  []secret
	open     func(context.Context, any) (storage.Archive, error)
	export   func(any) (trace.Exporter, error)
	check    func(any) error
}

// A secret is a setting that comes only from the environment.
type secret struct {
	path  string
	index int
}

func (s secret) variable() string { return variable(s.path) }

// registry holds the registered components, and the schema that includes them.
var registry struct {
	sync.Mutex
	sections []*section
	schema   *table // nil: must be read again
}

func registered() []*section {
	registry.Lock()
	defer registry.Unlock()
	return slices.Clip(registry.sections)
}

var plainName = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)

// describe reads the settings from the type of the defaults.
func (s *section) describe() error {
	if !plainName.MatchString(s.name) {
		return fmt.Errorf("%q is not a name for a component: use lower-case letters, digits and _", s.name)
	}
	if s.defaults.Kind() != reflect.Struct {
		return fmt.Errorf("%s: the settings must be a struct", s.name)
	}
	s.docs = map[string]string{}
	for i, t := 0, s.defaults.Type(); i < t.NumField(); i++ {
		f := t.Field(i)
		name, doc := f.Tag.Get("mapstructure"), f.Tag.Get("doc")
		if !f.IsExported() || !plainName.MatchString(name) || doc == "" {
			return fmt.Errorf("%s: the field %s must be exported, and have the tags mapstructure and doc", s.name, f.Name)
		}
		path := s.path + "." + name
		if _, twice := s.docs[path]; twice {
			return fmt.Errorf("%s: two fields are named %s", s.name, name)
		}
		s.docs[path] = doc
		switch {
		case f.Type == reflect.TypeFor[compact.Secret]():
			s.secrets = append(s.secrets, secret{path, i})
		case !isSetting(f.Type):
			return fmt.Errorf("%s: the field %s is a %s; a setting is a string, int, float64, bool, duration, list of strings, or compact.Secret", s.name, f.Name, f.Type)
		default:
			s.fields = append(s.fields, field{path: path, kind: kindOf(f.Type), index: []int{i}, rules: f.Tag.Get("validate"), owner: s})
		}
	}
	return nil
}

// isSetting reports whether files can hold values of a type.
func isSetting(t reflect.Type) bool {
	if t.Kind() == reflect.Slice {
		return t.Elem().Kind() == reflect.String
	}
	return t.Kind() == reflect.String || kindOf(t) != kindString
}

// free returns an error if the name of the section is taken.
func (s *section) free(t *table) error {
	_, setting := t.byPath[s.path]
	if setting || t.sections[s.path] || aliasSections[s.path] || slices.Contains([]string{"fs", "memory", s3Adapter}, s.name) {
		return fmt.Errorf("the name %s is taken", s.name)
	}
	return nil
}

// adapter returns the registered store with that name, or nil.
func adapter(name string) *section {
	for _, s := range registered() {
		if s.open != nil && s.name == name {
			return s
		}
	}
	return nil
}
