package compact

import (
	"fmt"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/policy/tidy"
)

// choices lists the allowed values of the rules stage and reducer.
var choices = map[string]func() []string{"stage": StageNames, "reducer": tidy.Names}

// The rules of a setting are in its tag "validate", in the syntax of
// github.com/go-playground/validator, which package configs uses. This package
// links only the standard library, so it evaluates the rules itself.

// broken returns the settings with invalid values.
func (c Config) broken() []*ConfigError {
	var all []*ConfigError
	brokenIn(reflect.ValueOf(c), "", &all)
	return all
}

func brokenIn(section reflect.Value, prefix string, all *[]*ConfigError) {
	for i := range section.NumField() {
		f := section.Type().Field(i)
		name := f.Tag.Get("mapstructure")
		if name == "" || name == "-" {
			continue
		}
		v := section.Field(i)
		if v.Kind() == reflect.Struct {
			brokenIn(v, prefix+name+".", all)
			continue
		}
		if e := brokenRule(section, v, f.Tag.Get("validate")); e != nil {
			e.Path = prefix + name + e.Path
			*all = append(*all, e)
		}
	}
}

// brokenRule checks a value against its rules, and returns an error for the
// first broken one. The path of the error is relative to the value.
func brokenRule(section, v reflect.Value, rules string) *ConfigError {
	list := strings.Split(rules, ",")
	for i, rule := range list {
		name, param, _ := strings.Cut(rule, "=")
		switch name {
		case "", "-":
		case "omitempty":
			if v.IsZero() {
				return nil
			}
		case "dive":
			return brokenElement(section, v, strings.Join(list[i+1:], ","))
		default:
			if !holds(section, v, name, param) {
				return &ConfigError{Value: v.Interface(), Reason: reason(v, rules, name, param)}
			}
		}
	}
	return nil
}

func brokenElement(section, list reflect.Value, rules string) *ConfigError {
	for i := range list.Len() {
		if e := brokenRule(section, list.Index(i), rules); e != nil {
			e.Path = fmt.Sprintf("[%d]", i) + e.Path
			return e
		}
	}
	return nil
}

// holds reports whether a value satisfies one rule.
func holds(section, v reflect.Value, rule, param string) bool {
	switch rule {
	case "required":
		return !isEmpty(v)
	case "required_if":
		other, value, _ := strings.Cut(param, " ")
		return section.FieldByName(other).String() != value || !isEmpty(v)
	case "oneof":
		return slices.Contains(strings.Fields(param), v.String())
	case "stage", "reducer":
		return slices.Contains(choices[rule](), v.String())
	case "http_url":
		u, err := url.Parse(v.String())
		return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
	case "gt", "gte", "lt", "lte":
		return satisfies(number(v), rule, limitOf(v, param))
	}
	panic("compact: no such rule for a setting: " + rule)
}

func isEmpty(v reflect.Value) bool {
	return v.IsZero() || v.Kind() == reflect.Slice && v.Len() == 0
}

// satisfies reports whether a number satisfies a rule; false for NaN.
func satisfies(n float64, rule string, limit float64) bool {
	switch rule {
	case "gt":
		return n > limit
	case "gte":
		return n >= limit
	case "lt":
		return n < limit
	}
	return n <= limit
}

func number(v reflect.Value) float64 {
	if v.CanFloat() {
		return v.Float()
	}
	return float64(v.Int())
}

// limitOf parses the number of a rule, which can have a unit for a duration.
func limitOf(v reflect.Value, param string) float64 {
	if v.Type() == reflect.TypeFor[time.Duration]() && param != "0" {
		d, err := time.ParseDuration(param)
		if err != nil {
			panic("compact: the rule of a duration: " + err.Error())
		}
		return float64(d)
	}
	n, err := strconv.ParseFloat(param, 64)
	if err != nil {
		panic("compact: the rule of a number: " + err.Error())
	}
	return n
}

// reason describes the valid values of a setting. It states the whole rule, not
// only the broken part.
func reason(v reflect.Value, rules, broken, param string) string {
	switch broken {
	case "oneof":
		return oneOf(v.String(), strings.Fields(param))
	case "stage", "reducer":
		return oneOf(v.String(), choices[broken]())
	case "required", "required_if":
		return "must not be empty"
	case "http_url":
		return "must be a URL that begins with http:// or https://"
	}
	return setting.Bounds(rules, v.CanFloat(), broken)
}
