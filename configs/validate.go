package configs

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"

	"github.com/agentcompact/compact/compact"
)

// rules is the validator, which names fields as files do.
var rules = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string { return f.Tag.Get("mapstructure") })
	return v
})

// validate reports the values that can't be. What is wrong, and the words for
// it, are those of compact.New; here is where each was given. The validator has
// its own reading of the same rules: what it alone refuses is refused.
func (l *loader) validate(c compact.Config) {
	for _, err := range split(c.Validate()) {
		var e *compact.ConfigError
		switch {
		case !errors.As(err, &e):
			l.report.add(&Error{Reason: err.Error(), Err: err})
		case e.Path == pseudonymsPath && l.keysOptional && len(c.Redaction.PseudonymKey) == 0:
		default:
			l.refused(e)
		}
	}
	var invalid validator.ValidationErrors
	if errors.As(rules().Struct(c), &invalid) {
		for _, e := range invalid {
			_, path, _ := strings.Cut(e.Namespace(), ".")
			setting, _, _ := strings.Cut(path, "[")
			if !l.reported(setting) {
				l.wrong(setting, path, e.Value(), "breaks the rule "+strings.TrimSuffix(e.Tag()+"="+e.Param(), "="))
			}
		}
	}
	l.bucket(c.Storage)
}

// refused reports a mistake where it was made: of several settings that do not
// go together, at the one that was given last by who stands highest. Nothing
// is said of those that are known to be wrong by themselves.
func (l *loader) refused(e *compact.ConfigError) {
	about := append([]string{e.Setting()}, e.With...)
	if len(e.With) > 0 && slices.ContainsFunc(about, l.reported) {
		return
	}
	from := l.blame(about)
	path, reason := e.Path, e.Reason
	if name := l.from[e.Setting()].name; name != "" {
		path, reason = name, reason+", that is "+path
	}
	l.report.add(&Error{Source: from.source, Line: from.line, Path: path, Value: e.Value, Reason: reason, Err: e, setting: e.Setting()})
}

// wrong reports a value, where it was given.
func (l *loader) wrong(setting, path string, value any, reason string) {
	from, of := l.from[setting], setting
	if from.name != "" {
		reason += ", that is " + path
		path = from.name
	}
	l.report.add(&Error{Source: from.source, Line: from.line, Path: path, Value: value, Reason: reason, setting: of})
}

// reported reports whether a setting is known to be wrong.
func (l *loader) reported(path string) bool {
	return slices.ContainsFunc(l.report.all, func(e *Error) bool { return e.setting == path || e.Path == path })
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
