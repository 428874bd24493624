package configs

import (
	"errors"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/go-playground/validator/v10"

	"github.com/agentcompact/compact/compact"
	words "github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/policy/tidy"
)

// rules is the validator. Its errors use the setting names of files.
var rules = sync.OnceValue(func() *validator.Validate {
	v := validator.New(validator.WithRequiredStructEnabled())
	v.RegisterTagNameFunc(func(f reflect.StructField) string { return f.Tag.Get("mapstructure") })
	v.RegisterAlias("stage", "oneof="+strings.Join(compact.StageNames(), " "))
	v.RegisterAlias("reducer", "oneof="+strings.Join(tidy.Names(), " "))
	return v
})

// validate reports invalid values with the checks and the error texts of
// compact.New, and adds the place of each value. The validator checks the same rules
// again; its findings count too.
func (l *loader) validate(c compact.Config) {
	for _, err := range words.Leaves(c.Validate()) {
		var e *compact.ConfigError
		switch {
		case !errors.As(err, &e):
			l.report.add(&Error{Reason: err.Error(), Err: err})
		case e.Path == pseudonymsPath && l.keysOptional && len(c.Redaction.PseudonymKey) == 0:
		default:
			if reason, ok := adapters(e.Value); ok && e.Path == "storage.adapter" && len(e.With) == 0 {
				e = &compact.ConfigError{Path: e.Path, Value: e.Value, Reason: reason, Err: e}
			}
			l.refused(e)
		}
	}
	var invalid validator.ValidationErrors
	if errors.As(rules().Struct(l.plain(c)), &invalid) {
		for _, e := range invalid {
			_, path, _ := strings.Cut(e.Namespace(), ".")
			setting, _, _ := strings.Cut(path, "[")
			if !l.reported(setting) {
				l.wrong(setting, path, e.Value(), "breaks the rule "+strings.TrimSuffix(e.Tag()+"="+e.Param(), "="))
			}
		}
	}
	l.checkJoined()
	l.bucket(c.Storage)
	l.encryption(c.Storage)
}

// refused reports a mistake at the place of its setting. If several settings conflict,
// the mistake gets the place of the last of them in the highest layer. A conflict is
// not reported if one of the settings is already known to be wrong.
func (l *loader) refused(e *compact.ConfigError) {
	of := e.Setting()
	if of == overridesKey { // a whole override
		of = e.Path
	}
	about := append([]string{of}, e.With...)
	if len(e.With) > 0 && slices.ContainsFunc(about, l.reported) {
		return
	}
	l.report.add(l.mistake(l.blame(about), of, e.Path, e.Value, why(e), e))
}

// why returns the reason of a mistake, or its cause if there is no reason.
func why(e *compact.ConfigError) string {
	if e.Reason == "" && e.Err != nil {
		return e.Err.Error()
	}
	return e.Reason
}

// wrong reports a value at the place where it was given.
func (l *loader) wrong(setting, path string, value any, reason string) {
	l.report.add(l.mistake(l.blame([]string{setting}), setting, path, value, reason, nil))
}

// mistake returns a mistake in a setting with the path as it was given: by an alias,
// or by the number of an override in its own file.
func (l *loader) mistake(from setting, of, path string, value any, reason string, err error) *Error {
	number, rest := override(path)
	if given, ok := l.from[number]; ok {
		path = given.path + rest
	}
	if name := l.from[of].name; name != "" && name != path {
		path, reason = l.from[of].shown(), reason+", that is "+path
	}
	return &Error{Source: from.source, Line: from.line, Path: path, Value: value, Reason: reason, Err: err, setting: of}
}

// override splits the number of an override, "overrides[2]", from a path.
func override(path string) (number, rest string) {
	if !strings.HasPrefix(path, overridesKey+"[") {
		return "", path
	}
	end := strings.IndexByte(path, ']') + 1
	return path[:end], path[end:]
}

// reported reports whether a mistake in a setting was reported.
func (l *loader) reported(path string) bool {
	return slices.ContainsFunc(l.report.all, func(e *Error) bool { return e.setting == path || e.Path == path })
}

// blame returns the setting to report for a mistake in several settings: the setting in
// the highest layer, and within a file the last setting. If none of them was given, it
// returns the override itself.
func (l *loader) blame(paths []string) setting {
	number, _ := override(paths[0])
	last := l.from[number]
	for _, path := range paths {
		if s := l.from[path]; s.layer > last.layer || s.layer == last.layer && s.line > last.line {
			last = s
		}
	}
	return last
}
