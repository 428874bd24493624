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
)

// overridable are the settings and sections that an override can change. Other
// settings, such as storage and redaction, apply to the whole manager.
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
			c.Model = model // max_context_tokens applies only to c.Model, so c.Model must be the model of the call
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
