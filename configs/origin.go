package configs

import (
	"fmt"
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/redact"
)

// An Origin names the source of the value of one setting.
type Origin struct {
	Path   string // "policy.trigger_pct"; in an override "overrides[0].policy.trigger_pct"
	Value  any    // string, int, float64, bool or []string, without secrets
	From   From
	Source string // the file, the environment variable, the flag or the preset
	Line   int    // line in the file; 0 = none
	Model  string // models that an override is for
	Agent  string // agents that an override is for
	Locked string // the file and line that lock the setting, "base.yaml:3"; "" = none
}

// From is a kind of source of a value.
type From string

// The kinds of sources, the lowest first.
const (
	FromDefault     From = "default"     // the common default of the presets
	FromPreset      From = "preset"      // the named preset
	FromBase        From = "base"        // a file that the file extends
	FromFile        From = "file"        // the file
	FromOverride    From = "override"    // an override in a file, for some calls
	FromEnvironment From = "environment" // a variable
	FromFlag        From = "flag"        // the program
)

// String returns a text like "team.yaml:3", "COMPACT_TRIGGER_PCT" or "preset
// masking".
func (o Origin) String() string {
	text := o.Source
	switch o.From {
	case FromDefault:
		text = string(FromDefault)
	case FromPreset:
		text = "preset " + o.Source
	case FromBase, FromFile, FromOverride:
		text = fmt.Sprintf("%s:%d", o.Source, o.Line)
	}
	if o.Locked != "" {
		text += ", locked by " + o.Locked
	}
	return text
}

// LoadWithOrigins is like [Load], and also returns the source of each setting: all
// settings in the order of the presets' files, then the settings of the overrides.
func LoadWithOrigins(path string, opts ...Option) (compact.Config, []Origin, error) {
	l, c, err := loadFile(path, opts)
	if err != nil {
		return compact.Config{}, nil, err
	}
	return c, l.origins(&c), nil
}

func (l *loader) origins(c *compact.Config) []Origin {
	common, err := compact.Preset("")
	if err != nil {
		common = l.base
	}
	var all []Origin
	for _, f := range schema().fields {
		o := Origin{Path: f.path, Value: showable(f.path, l.valueOf(f, c)), From: FromDefault}
		differs := !reflect.DeepEqual(normal(f.valueIn(reflect.ValueOf(&common).Elem()).Interface()), normal(f.valueIn(reflect.ValueOf(&l.base).Elem()).Interface()))
		switch s, given := l.giver(f.path, c); {
		case given:
			o.From, o.Source, o.Line = l.place(s), s.source, s.line
		case differs:
			o.From, o.Source = FromPreset, l.preset
		}
		if k, ok := l.locks[f.path]; ok {
			o.Locked = k.at()
		}
		all = append(all, o)
	}
	return append(all, l.overridden(c)...)
}

// giver returns the source of a setting. If summarizer.backend was not given, the
// model or the server that implies it counts as its source.
func (l *loader) giver(path string, c *compact.Config) (setting, bool) {
	s, ok := l.from[path]
	if ok || path != "summarizer.backend" || c.Summarizer.Backend == l.base.Summarizer.Backend {
		return s, ok
	}
	return l.blame([]string{"summarizer.model", "summarizer.base_url"}), true
}

// place returns the kind of source of a setting.
func (l *loader) place(s setting) From {
	switch files := len(l.files); {
	case s.layer > files+1:
		return FromFlag
	case s.layer > files:
		return FromEnvironment
	case s.layer == files:
		return FromFile
	}
	return FromBase
}

func (l *loader) overridden(c *compact.Config) []Origin {
	var all []Origin
	for i, o := range c.Overrides {
		number := fmt.Sprintf("%s[%d]", overridesKey, i)
		for _, path := range slices.Sorted(maps.Keys(o.Set)) {
			s := l.from[number+"."+path]
			all = append(all, Origin{
				Path: number + "." + path, Value: showable(path, o.Set[path]), From: FromOverride, Source: s.source, Line: s.line, Model: o.Model, Agent: o.Agent,
			})
		}
	}
	return all
}

// secrets removes secrets that should not be in a configuration.
var secrets = sync.OnceValue(func() *redact.Redactor {
	r, err := compact.RedactionConfig{Enabled: true}.Redactor()
	if err != nil {
		panic(err) // can't happen without custom patterns
	}
	return r
})

// showable returns a value for display. A custom redaction pattern may contain the
// secret that it matches, so only the number of patterns is shown.
func showable(path string, v any) any {
	if path == "redaction.patterns" {
		if n := reflect.ValueOf(v).Len(); n > 0 {
			return fmt.Sprintf("%d, not shown", n)
		}
	}
	switch v := normal(v).(type) {
	case time.Duration:
		return unit.Replace(v.String() + " ")
	case string:
		return clean(v)
	case []string:
		list := make([]string, len(v))
		for i, e := range v {
			list[i] = clean(e)
		}
		return list
	default:
		return v
	}
}

// unit shortens durations: 1m instead of 1m0s.
var unit = strings.NewReplacer("h0m0s ", "h", "m0s ", "m", " ", "")

func clean(s string) string {
	if u, err := url.Parse(s); err == nil && u.User != nil {
		s = u.Redacted()
	}
	return secrets().Text(s).String()
}
