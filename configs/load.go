package configs

import (
	"errors"
	"os"
	"reflect"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/strategy"
)

// An Option says more about how a configuration is loaded.
type Option func(*loader)

// Override sets one setting above environment and file, as flags of a command
// do. source is what a mistake in it is reported for ("--model"), path names
// the setting, value has its type or is the text of it.
func Override(source, path string, value any) Option {
	return func(l *loader) { l.said = append(l.said, said{source, path, value}) }
}

// Environ is read instead of the environment of the process; its form is that
// of [os.Environ]. Nil is an empty environment.
func Environ(environ []string) Option {
	return func(l *loader) { l.environ = environ }
}

// Stages hands stages of the caller's own to the configuration, which may then name them
// in policy.stages. A program that does not have them, such as compactctl, refuses a
// file that names one. See [compact.Config.Stages].
func Stages(stages ...compact.OwnStage) Option {
	return func(l *loader) { l.stages = append(l.stages, stages...) }
}

// Strategy hands a strategy of the caller's own to the configuration, which has it where
// policy.strategy names it. An override can't name it. See [compact.Config.Strategy].
func Strategy(s strategy.Strategy) Option {
	return func(l *loader) { l.strategy = &s }
}

// Load reads a configuration from a YAML or JSON file; "" is no file, for a
// configuration of environment and presets alone. What it returns is complete:
// its zeros mean zero. Every mistake is in the error ([Mistakes]), which is
// also that of reading the file.
func Load(path string, opts ...Option) (compact.Config, error) {
	_, c, err := loadFile(path, opts)
	return c, err
}

func loadFile(path string, opts []Option) (*loader, compact.Config, error) {
	if path == "" {
		return parseWith("", nil, opts)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, compact.Config{}, &Error{Source: path, Reason: cause(err).Error(), Err: err}
	}
	return parseWith(path, data, opts)
}

// Parse is [Load] for a file that was read already; name stands for it in
// errors, and is what the name of a file that it extends is seen from.
func Parse(name string, data []byte, opts ...Option) (compact.Config, error) {
	_, c, err := parseWith(name, data, opts)
	return c, err
}

func parseWith(name string, data []byte, opts []Option) (*loader, compact.Config, error) {
	l := &loader{environ: os.Environ(), from: map[string]setting{}, locks: map[string]lock{}}
	for _, o := range opts {
		o(l)
	}
	c, err := l.load(name, data)
	if err != nil {
		return nil, compact.Config{}, err
	}
	return l, c, nil
}

type said struct {
	source, path string
	value        any
}

// loader loads one configuration.
type loader struct {
	environ      []string
	said         []said
	keysOptional bool
	stages       []compact.OwnStage
	strategy     *strategy.Strategy

	report     report
	files      []*file            // the base first
	preset     string             // name of the base
	presetAt   setting            // who named it
	base       compact.Config     // the preset
	defaults   map[string]any     // the settings of base
	from       map[string]setting // who gave each setting
	locks      map[string]lock    // by path
	exceptions []exception        // of which the overrides were made
	joined     []joined           // settings of registered components
}

func (l *loader) load(name string, data []byte) (compact.Config, error) {
	l.files = l.chain(name, data)
	vars, said := l.environment(), l.program()
	l.chooseBase(vars, said)
	v := viper.New()
	for path, value := range l.defaults {
		v.SetDefault(path, value)
	}
	for i, f := range l.files {
		given := l.settings(f.name, "", f.given)
		if err := v.MergeConfigMap(nested(given)); err != nil {
			return compact.Config{}, err
		}
		l.take(given, i+1)
		l.fasten(f, i+1, l.files[:i+1])
	}
	l.take(vars, len(l.files)+1)
	l.take(said, len(l.files)+2)
	// Not viper's own environment: it would take any text for any type.
	for _, s := range append(vars, said...) {
		v.Set(s.path, s.value)
	}
	c := l.base
	if err := v.Unmarshal(&c, func(d *mapstructure.DecoderConfig) { d.ZeroFields = true }); err != nil {
		return compact.Config{}, err
	}
	l.settle(&c)
	l.join(&c)
	c.Overrides = l.overridesOf(l.files)
	l.unchanged(&c)
	l.pseudonyms(&c)
	l.heads(&c)
	l.archiveKeys(&c)
	c.Stages = l.stages
	if l.strategy != nil && c.Policy.Strategy == l.strategy.Name {
		c.Strategy = l.strategy
	}
	l.validate(c)
	l.components(&c)
	return c, l.report.err(l.files)
}

// take remembers who gave what, unless it is locked.
func (l *loader) take(settings []setting, layer int) {
	for _, s := range settings {
		s.layer = layer
		l.attempt(s)
		l.from[s.path] = s
	}
}

// chooseBase settles which preset the configuration is built on: the one that
// is named by the program, else by the environment, else by the nearest file.
// Where nobody names one, a name that belongs to one preset alone does.
func (l *loader) chooseBase(layers ...[]setting) {
	at := setting{value: ""}
	for _, f := range l.files {
		if s, ok := f.preset(); ok {
			at = s
		}
	}
	for _, layer := range layers {
		for _, s := range layer {
			if s.path == "preset" {
				at = s
			}
		}
	}
	if at.value == "" {
		at = l.impliedPreset()
	}
	l.presetAt = at
	l.useBase(at)
	l.defaults = map[string]any{}
	for _, f := range schema().fields {
		l.defaults[f.path] = f.of(reflect.ValueOf(&l.base).Elem()).Interface()
	}
}

// impliedPreset returns the preset whose own names the files use.
func (l *loader) impliedPreset() setting {
	for _, f := range l.files {
		for _, g := range f.given {
			if a := aliases[g.key]; a.preset != "" {
				return setting{source: f.name, line: g.line, name: g.key, value: a.preset}
			}
		}
	}
	return setting{value: ""}
}

// now is what a setting has without what is being read.
func (l *loader) now(path string) any {
	if s, ok := l.from[path]; ok {
		return s.value
	}
	return l.defaults[path]
}

// useBase takes the preset that was named; in place of one that there is not,
// the default one, so that the other mistakes are found too.
func (l *loader) useBase(at setting) {
	wanted := at.value.(string)
	base, err := compact.Preset(wanted)
	if e := new(compact.ConfigError); errors.As(err, &e) {
		l.report.add(&Error{Source: at.source, Line: at.line, Path: e.Path, Value: e.Value, Reason: e.Reason, Err: e, setting: e.Path})
		base, _ = compact.Preset("")
	}
	l.base, l.preset = base, base.Preset
}

// nested makes the tree of a file out of its settings.
func nested(settings []setting) map[string]any {
	root := map[string]any{}
	for _, s := range settings {
		at := root
		section, leaf, found := strings.Cut(s.path, ".")
		for ; found; section, leaf, found = strings.Cut(leaf, ".") {
			next, ok := at[section].(map[string]any)
			if !ok {
				next = map[string]any{}
				at[section] = next
			}
			at = next
		}
		at[section] = s.value
	}
	return root
}

// program checks what the program says.
func (l *loader) program() []setting {
	var all []setting
	for _, o := range l.said {
		f, ok := schema().byPath[o.path]
		if schema().sections[o.path] {
			l.report.add(&Error{Source: o.source, Path: o.path, Reason: "is a section, not a setting"})
			continue
		}
		if !ok {
			l.report.add(&Error{Source: o.source, Reason: unknown(o.path)})
			continue
		}
		v, ok := fromValue(f.kind, o.value)
		if !ok {
			l.report.add(&Error{Source: o.source, Path: o.path, Value: o.value, Reason: wanted[f.kind]})
			continue
		}
		all = append(all, setting{path: o.path, source: o.source, value: asSpelled(o.path, v)})
	}
	return all
}

// settle makes what does not differ in meaning not differ in form, and derives
// what follows from what was given.
func (l *loader) settle(c *compact.Config) {
	root := reflect.ValueOf(c).Elem()
	for _, f := range schema().fields {
		if v := f.of(root); f.kind == kindList && v.Len() == 0 {
			v.SetZero()
		}
	}
	c.Preset = l.preset
	_, named := l.from["summarizer.backend"]
	if s := &c.Summarizer; !named && (s.Model != "" || s.BaseURL != "") {
		s.Backend = "openai"
	}
	l.overruled(&c.Summarizer)
}
