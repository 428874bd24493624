package configs

import (
	"errors"
	"fmt"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/go-playground/validator/v10"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace/ariadne"
	"github.com/agentcompact/compact/trace/otel"
)

// rules is the validator, which names fields as files do.
var rules = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string { return f.Tag.Get("mapstructure") })
	return v
})

// validate reports the values that can't be: each by itself, then all that are
// left against each other.
func (l *loader) validate(c compact.Config) {
	wrong := map[string]bool{}
	var invalid validator.ValidationErrors
	if errors.As(rules().Struct(c), &invalid) {
		for _, e := range invalid {
			_, path, _ := strings.Cut(e.Namespace(), ".")
			setting, _, _ := strings.Cut(path, "[")
			wrong[setting] = true
			l.wrong(setting, path, e.Value(), reason(schema().byPath[setting], e))
		}
	}
	for i, p := range c.Redaction.Patterns {
		if _, err := regexp.Compile(p); err != nil {
			l.wrong("redaction.patterns", fmt.Sprintf("redaction.patterns[%d]", i), nil, "is not a regular expression: "+err.Error())
		}
	}
	for path, check := range map[string]func(string) error{"trace.ariadne_url": ariadne.CheckURL, "trace.otlp_endpoint": otel.CheckURL} {
		u := schema().byPath[path].of(reflect.ValueOf(&c).Elem()).String()
		if u == "" || wrong[path] {
			continue
		}
		if err := check(u); err != nil {
			l.wrong(path, path, u, "must be a URL such as "+urls[path]+": "+err.Error())
		}
	}
	l.bucket(c.Storage, wrong)
	l.together(c, wrong)
}

// wrong reports a value, where it was given.
func (l *loader) wrong(setting, path string, value any, reason string) {
	from := l.from[setting]
	if from.name != "" {
		reason += ", that is " + path
		path = from.name
	}
	if s := reflect.ValueOf(value); s.IsValid() && s.Kind() == reflect.String {
		value = s.String()
	}
	l.report.add(&Error{Source: from.source, Line: from.line, Path: path, Value: value, Reason: reason})
}

// together holds the values against each other, those of the preset in place
// of those that were reported already: nothing is said of these.
func (l *loader) together(c compact.Config, wrong map[string]bool) {
	root, base := reflect.ValueOf(&c).Elem(), reflect.ValueOf(&l.base).Elem()
	for path := range wrong {
		f := schema().byPath[path]
		f.of(root).Set(f.of(base))
	}
	for _, err := range split(c.Validate()) {
		var unknown *strategy.UnknownError
		if errors.As(err, &unknown) {
			l.wrong("policy.strategy", "policy.strategy", unknown.Name,
				"must be one of "+strings.Join(strategy.Names(), ", ")+didYouMean(unknown.Name, strategy.Names()))
			continue
		}
		text := strings.TrimPrefix(strings.TrimPrefix(err.Error(), "compact: "), "policy: ")
		about := spokenOf(text)
		if slices.ContainsFunc(about, l.reported) {
			continue
		}
		from := l.blame(about)
		l.report.add(&Error{Source: from.source, Line: from.line, Reason: text, Err: err})
	}
}

// spokenOf returns the settings that an error speaks of.
func spokenOf(text string) []string {
	words := strings.FieldsFunc(text, func(r rune) bool { return r != '_' && !unicode.IsLetter(r) })
	var paths []string
	for _, f := range schema().fields {
		if slices.Contains(words, f.leaf()) {
			paths = append(paths, f.path)
		}
	}
	return paths
}

// reported reports whether a setting is known to be wrong by itself.
func (l *loader) reported(path string) bool {
	return slices.ContainsFunc(l.report.all, func(e *Error) bool { return e.Path == path })
}

// blame returns who gave one of the settings: the highest of them, and in a
// file the last one.
func (l *loader) blame(paths []string) setting {
	var last setting
	for _, path := range paths {
		if s := l.from[path]; s.layer > last.layer || s.layer == last.layer && s.line > last.line {
			last = s
		}
	}
	return last
}

func split(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, split(e)...)
	}
	return all
}
