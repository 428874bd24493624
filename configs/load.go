package configs

import (
	"errors"
	"os"
	"reflect"
	"strings"

	"github.com/go-viper/mapstructure/v2"
	"github.com/spf13/viper"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/strategy"
)

// An Option changes how a configuration is loaded.
type Option func(*loader)

// Override sets one setting with precedence over environment and file, like a
// command-line flag. source names it in errors ("--model"), path names the
// setting, and value has the type of the setting or is its text.
func Override(source, path string, value any) Option {
	return func(l *loader) { l.flags = append(l.flags, flagValue{source, path, value}) }
}

// Environ replaces the environment of the process. environ has the form of [os.Environ];
// nil is an empty environment.
func Environ(environ []string) Option {
	return func(l *loader) { l.environ = environ }
}

// Stages adds stages of the caller, which the configuration may then name in
// policy.stages. A program without them, such as compactctl, rejects a file that
// names one. See [compact.Config.Stages].
func Stages(stages ...compact.OwnStage) Option {
	return func(l *loader) { l.stages = append(l.stages, stages...) }
}

// Strategy adds a strategy of the caller, which is used if policy.strategy names
// it. An override can't name it. See [compact.Config.Strategy].
func Strategy(s strategy.Strategy) Option {
	return func(l *loader) { l.strategy = &s }
}

// Load reads a configuration from a YAML or JSON file. The path "" means no file: the
// configuration then comes from the program, the environment and the preset. The
// result is complete: a zero value in it means zero. The error holds every mistake
// (see [Mistakes]), or reports that the file could not be read.
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

// Parse is like [Load] for file contents that were read already. name stands for
// the file in errors, and the names of base files are relative to its folder.
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

type flagValue struct {
	source, path string
	value        any
}

// A loader loads one configuration.
type loader struct {
	environ      []string
	flags        []flagValue
	keysOptional bool
	stages       []compact.OwnStage
	strategy     *strategy.Strategy

	report     report
	files      []*file            // the base first
	preset     string             // name of the preset
	presetAt   setting            // the place that named it
	base       compact.Config     // the preset
	defaults   map[string]any     // values of base by path
	from       map[string]setting // the place that gave each setting
	locks      map[string]lock    // by path
	exceptions []exception        // sources of c.Overrides
	joined     []joined           // settings of registered components
}

func (l *loader) load(name string, data []byte) (compact.Config, error) {
	l.files = l.chain(name, data)
	vars, flags := l.environment(), l.program()
	l.chooseBase(vars, flags)
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
	l.take(flags, len(l.files)+2)
	// Viper's own environment support would accept any text for any type.
	for _, s := range append(vars, flags...) {
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

// take records where settings were given, and reports settings that are locked.
func (l *loader) take(settings []setting, layer int) {
	for _, s := range settings {
		s.layer = layer
		l.attempt(s)
		l.from[s.path] = s
	}
}

// chooseBase chooses the preset: the preset named by the program, otherwise by the
// environment, otherwise by the nearest file. If none is named, an alias that belongs
// to one preset chooses this preset.
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
	l.noteDefaults()
}

// noteDefaults notes the value of each setting in the chosen base.
func (l *loader) noteDefaults() {
	l.defaults = map[string]any{}
	for _, f := range schema().fields {
		l.defaults[f.path] = f.valueIn(reflect.ValueOf(&l.base).Elem()).Interface()
	}
}

// impliedPreset returns the preset whose aliases the files use.
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

// current returns the value of a setting at this point of the load: the value given last,
// or the default of the preset.
func (l *loader) current(path string) any {
	if s, ok := l.from[path]; ok {
		return s.value
	}
	return l.defaults[path]
}

// useBase loads the named preset. For an unknown one it loads the default, so
// that other mistakes are found too.
func (l *loader) useBase(at setting) {
	wanted := at.value.(string)
	base, err := compact.Preset(wanted)
	if e := new(compact.ConfigError); errors.As(err, &e) {
		l.report.add(&Error{Source: at.source, Line: at.line, Path: e.Path, Value: e.Value, Reason: e.Reason, Err: e, setting: e.Path})
		base, _ = compact.Preset("")
	}
	l.base, l.preset = base, base.Preset
}

// nested turns settings into a tree of sections.
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

// program returns the valid settings of [Override], and reports the others.
func (l *loader) program() []setting {
	var all []setting
	for _, o := range l.flags {
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

// settle normalizes values that mean the same, and derives settings that follow
// from others.
func (l *loader) settle(c *compact.Config) {
	root := reflect.ValueOf(c).Elem()
	for _, f := range schema().fields {
		if v := f.valueIn(root); f.kind == kindList && v.Len() == 0 {
			v.SetZero()
		}
	}
	c.Preset = l.preset
	_, named := l.from["summarizer.backend"]
	if s := &c.Summarizer; !named && (s.Model != "" || s.BaseURL != "") {
		s.Backend = openAI
	}
	l.overruled(&c.Summarizer)
	for _, folder := range []*string{&c.Storage.Path, &c.Storage.Spool} {
		if path, err := fs.Folder(*folder); err == nil { // else validate reports it
			*folder = path
		}
	}
}
