package compact

import (
	"errors"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/strategy"
)

// An Override changes settings for the calls of some models, agents or both.
type Override struct {
	// Model and Agent select the calls that name them ([WithModel],
	// [WithAgent], the request's model). * matches any text, ? one character;
	// the case of a model name is ignored. "" matches every call. A non-empty
	// Agent never matches a call without an agent.
	Model, Agent string
	// Set maps the paths of settings, such as "policy.trigger_pct", to their values: settings
	// of policy, tidy, truncate, mask, summarizer and prices, and max_context_tokens,
	// max_output_tokens and max_request_bytes. A value has the type of its field; a name is a
	// string.
	Set map[string]any
	// Summarize is asked for summaries in place of [Config.Summarize]; nil: that.
	Summarize strategy.Summarizer
}

// overridable are the settings and sections that an override can change. The
// others, such as storage and redaction, are valid for the whole manager.
var overridable = []string{"max_context_tokens", "max_output_tokens", "max_request_bytes", "policy", "tidy", "truncate", "mask", "summarizer", "prices"}

// Overridable reports whether an [Override] may change a setting.
func Overridable(path string) bool {
	section, _, _ := strings.Cut(path, ".")
	return slices.Contains(overridable, section)
}

// For returns the configuration for calls with this model and agent; "" stands
// for a call that names none. Its Overrides are the matching ones.
func (c Config) For(model, agent string) (Config, error) {
	c, err := c.filled()
	if err != nil {
		return c, err
	}
	if model == "" {
		model = c.Model
	}
	return c.overridden(model, c.matching(model, agent))
}

// matching returns the numbers of the overrides for a call, separated by
// commas.
func (c Config) matching(model, agent string) string {
	if model == "" {
		model = c.Model
	}
	var all []string
	for i, o := range c.Overrides {
		if matches(strings.ToLower(o.Model), strings.ToLower(model)) && matches(o.Agent, agent) {
			all = append(all, strconv.Itoa(i))
		}
	}
	return strings.Join(all, ",")
}

// matches reports whether a name matches a pattern; "" matches everything.
func matches(pattern, name string) bool {
	if pattern == "" {
		return true
	}
	return glob([]rune(pattern), []rune(name)) && name != ""
}

// glob reports whether a name matches a pattern. It backtracks only to the last
// star, so its time is at most the product of the two lengths.
func glob(pattern, name []rune) bool {
	p, n, star, mark := 0, 0, -1, 0
	for n < len(name) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, n
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == name[n]):
			p++
			n++
		case star >= 0:
			mark++
			p, n = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// overridden returns the configuration with the overrides of the given numbers.
func (c Config) overridden(model, numbers string) (Config, error) {
	all := c.Overrides
	c.Overrides = nil
	if numbers == "" {
		return c, nil
	}
	for number := range strings.SplitSeq(numbers, ",") {
		i, err := strconv.Atoi(number)
		if err != nil {
			return c, err
		}
		if err := c.override(i, all[i]); err != nil {
			return c, err
		}
		if _, ok := all[i].Set["max_context_tokens"]; ok {
			c.Model = model // the window is set for the named model
		}
	}
	return c, nil
}

// override applies one override. Errors are [*ConfigError]s.
func (c *Config) override(i int, o Override) error {
	var errs []error
	for _, path := range slices.Sorted(maps.Keys(o.Set)) {
		if e := c.set(path, o.Set[path]); e != nil {
			e.Path = fmt.Sprintf("overrides[%d].%s", i, e.Path)
			errs = append(errs, e)
		}
	}
	c.summarizeWith(o)
	c.Overrides = append(c.Overrides[:len(c.Overrides):len(c.Overrides)], o)
	return errors.Join(errs...)
}

// ofServers are the settings of summarizer for a server only, and ofModels those
// also used with the agent's own model.
var (
	ofServers = []string{"model", "base_url"}
	ofModels  = []string{"instructions", "sections", "prompt_file"}
)

// summarizeWith sets the summarizer of an override. An override with a backend
// other than openai drops Config.Summarize, and the settings that its backend
// can't use unless it sets them itself.
func (c *Config) summarizeWith(o Override) {
	if backend, ok := o.Set["summarizer.backend"]; ok && backend != backendOpenAI {
		c.Summarize = nil
		useless := ofServers
		if backend != backendAgent {
			useless = slices.Concat(ofServers, ofModels)
		}
		for _, name := range useless {
			if _, named := o.Set["summarizer."+name]; !named {
				fieldAt(c, "summarizer."+name).SetZero()
			}
		}
	}
	if o.Summarize != nil {
		c.Summarize = o.Summarize
	}
}

// summarizersAreThere returns errors for missing summarizers, which only a
// program can provide.
func (c Config) summarizersAreThere() error {
	errs := []error{c.summarizerIsThere()}
	for i, o := range c.Overrides {
		changed, err := c.overridden(modelMeant(o.Model, c.Model), strconv.Itoa(i))
		if err == nil {
			err = changed.summarizerIsThere()
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

func (c Config) summarizerIsThere() error {
	if c.Summarizer.Backend != backendOpenAI || c.Summarize != nil {
		return nil
	}
	return &ConfigError{Path: "summarizer.backend", Value: backendOpenAI, Reason: "needs a summarizer, which this package does not link: " +
		"use configs.Load, or hand in one of package strategy/openai (Config.Summarize, Override.Summarize)"}
}

// set changes one setting.
func (c *Config) set(path string, value any) *ConfigError {
	field := fieldAt(c, path)
	switch {
	case !field.IsValid():
		return &ConfigError{Path: path, Reason: "is not a setting"}
	case field.Kind() == reflect.Struct:
		return &ConfigError{Path: path, Reason: "is a section, not a setting"}
	case !Overridable(path):
		return &ConfigError{Path: path, Reason: "holds for all models and agents; an override may change " + strings.Join(overridable, ", ")}
	case !assign(field, value):
		return &ConfigError{Path: path, Value: value, Reason: setting.Wanted(field.Type())}
	}
	return nil
}

// assign sets a field to a value of its type or of its underlying type.
func assign(field reflect.Value, value any) bool {
	v := reflect.ValueOf(value)
	switch {
	case !v.IsValid():
		return false
	case v.Type().AssignableTo(field.Type()):
		field.Set(v)
	case field.Kind() == reflect.Slice && v.Kind() == reflect.Slice:
		list := reflect.MakeSlice(field.Type(), v.Len(), v.Len())
		for i := range v.Len() {
			if !assign(list.Index(i), v.Index(i).Interface()) {
				return false
			}
		}
		field.Set(list)
	case field.Kind() == reflect.Float64 && v.CanInt() && v.Type() != reflect.TypeFor[time.Duration]():
		field.SetFloat(float64(v.Int()))
	case field.Kind() == reflect.String && v.Kind() == reflect.String:
		field.SetString(v.String())
	default:
		return false
	}
	return true
}

// checkOverrides returns errors for invalid overrides. If the configuration is
// valid without them, it also validates the configuration with each override,
// and with any two together.
func (c Config) checkOverrides(right bool) error {
	var errs []error
	for i, o := range c.Overrides {
		errs = append(errs, c.checkOverride(i, o, right))
	}
	if err := errors.Join(errs...); err != nil || !right {
		return err
	}
	for j := range c.Overrides {
		for i := range j {
			if together(c.Overrides[i], c.Overrides[j]) {
				errs = append(errs, c.checkChange(fmt.Sprintf("%d,%d", i, j), j, c.Overrides[j]))
			}
		}
	}
	return errors.Join(errs...)
}

func (c Config) checkOverride(i int, o Override, right bool) error {
	at := fmt.Sprintf("overrides[%d]", i)
	switch {
	case o.Model == "" && o.Agent == "":
		return &ConfigError{Path: at, Reason: "is for no one: it needs a model, an agent, or both"}
	case len(o.Set) == 0 && o.Summarize == nil:
		return &ConfigError{Path: at, Reason: "changes nothing"}
	}
	if !right {
		return c.override(i, o)
	}
	return c.checkChange(strconv.Itoa(i), i, o)
}

// checkChange validates the configuration with some overrides, and attributes
// errors to the last of them.
func (c Config) checkChange(numbers string, i int, o Override) error {
	changed, err := c.overridden(modelMeant(o.Model, c.Model), numbers)
	if err != nil {
		return err
	}
	changed.Overrides = nil
	var errs []error
	for _, err := range leaves(changed.Validate()) {
		if e := new(ConfigError); errors.As(err, &e) {
			at := *e
			at.Path = fmt.Sprintf("overrides[%d].%s", i, e.Path)
			for _, path := range e.With {
				at.With = append(at.With, fmt.Sprintf("overrides[%d].%s", i, path))
			}
			err = &at
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// modelMeant returns a model that an override matches: its name, or the
// configured model for a pattern.
func modelMeant(pattern, configured string) string {
	if pattern == "" || strings.ContainsAny(pattern, "*?") {
		return configured
	}
	return pattern
}

// together reports whether one call can match both overrides. For two patterns
// it assumes so.
func together(a, b Override) bool {
	apart := func(p, q string) bool {
		pattern := func(s string) bool { return s == "" || strings.ContainsAny(s, "*?") }
		switch {
		case pattern(p) && pattern(q):
			return false
		case pattern(p):
			return !matches(p, q)
		case pattern(q):
			return !matches(q, p)
		}
		return p != q
	}
	return !apart(strings.ToLower(a.Model), strings.ToLower(b.Model)) && !apart(a.Agent, b.Agent)
}

// leaves returns the errors in a join of errors.
func leaves(err error) []error {
	if err == nil {
		return nil
	}
	joined, ok := err.(interface{ Unwrap() []error })
	if !ok {
		return []error{err}
	}
	var all []error
	for _, e := range joined.Unwrap() {
		all = append(all, leaves(e)...)
	}
	return all
}
