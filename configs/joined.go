package configs

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"github.com/go-playground/validator/v10"

	"github.com/agentcompact/compact/compact"
	words "github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/storage"
)

// A joined holds the settings that were given for a registered component.
type joined struct {
	*section
	value reflect.Value
}

func (j joined) settings() any { return j.value.Interface() }

// isUsed reports whether the configuration uses the component.
func (j joined) isUsed(c compact.StorageConfig) bool { return j.export != nil || c.Adapter == j.name }

// join sets the settings of the components that are used.
func (l *loader) join(c *compact.Config) {
	for _, s := range registered() {
		j := joined{s, reflect.New(s.defaults.Type()).Elem()}
		j.value.Set(s.defaults)
		if !j.isUsed(c.Storage) {
			continue
		}
		for _, f := range s.fields {
			into := j.value.FieldByIndex(f.index)
			into.Set(reflect.ValueOf(l.current(f.path)).Convert(into.Type()))
			if f.kind == kindList && into.Len() == 0 {
				into.SetZero()
			}
		}
		for _, secret := range s.secrets {
			if v := l.variable(secret.variable()); v != "" {
				j.value.Field(secret.index).SetBytes([]byte(v))
			}
		}
		l.joined = append(l.joined, j)
		if s.open != nil {
			c.Storage.Settings = j.settings()
		}
	}
}

// valueOf returns the final value of a setting.
func (l *loader) valueOf(f field, c *compact.Config) any {
	if f.owner != nil {
		return l.current(f.path)
	}
	return f.valueIn(reflect.ValueOf(c).Elem()).Interface()
}

// plain returns the configuration without the names of registered adapters and of
// the caller's stages, which the general rules do not know.
func (l *loader) plain(c compact.Config) compact.Config {
	if c.Storage.Settings != nil {
		c.Storage.Adapter, c.Storage.Path = l.base.Storage.Adapter, l.base.Storage.Path
	}
	own := func(name string) bool {
		return slices.ContainsFunc(l.stages, func(s compact.OwnStage) bool { return s.Stage != nil && s.Stage.Name() == name })
	}
	c.Policy.Stages = slices.DeleteFunc(slices.Clone(c.Policy.Stages), own)
	return c
}

// checkJoined reports mistakes in the settings of components.
func (l *loader) checkJoined() {
	for _, j := range l.joined {
		var invalid validator.ValidationErrors
		if errors.As(rules().Struct(j.settings()), &invalid) {
			for _, e := range invalid {
				path := j.path + "." + e.Field()
				l.wrong(path, path, j.shown(path, e.Value()), j.broken(path, e))
			}
			continue
		}
		for _, err := range words.Leaves(j.check(j.settings())) {
			l.checked(j, err)
		}
	}
}

func (l *loader) checked(j joined, err error) {
	var e *compact.ConfigError
	if !errors.As(err, &e) {
		at := j.path
		if j.open != nil {
			at = "storage.adapter"
		}
		l.wrong(at, at, nil, "can't be used: "+err.Error())
		return
	}
	path := j.path + "." + e.Path
	m := l.mistake(l.blame([]string{path}), path, path, j.shown(path, e.Value), why(e), err)
	l.report.add(m)
}

// broken describes a broken rule in the words of the built-in settings. If a secret is
// missing, it names the variable.
func (j joined) broken(path string, e validator.FieldError) string {
	for _, s := range j.secrets {
		if s.path == path && e.Tag() == "required" {
			return "is missing: set " + s.variable() + " in the environment"
		}
	}
	switch e.Tag() {
	case "required":
		return "must not be empty"
	case "oneof":
		return words.OneOf(fmt.Sprint(e.Value()), strings.Fields(e.Param()))
	case "gt", "gte", "lt", "lte":
		i := slices.IndexFunc(j.fields, func(f field) bool { return f.path == path })
		if i >= 0 && slices.Contains([]kind{kindInt, kindFloat, kindDuration}, j.fields[i].kind) { // otherwise the rule limits a length
			return words.Bounds(j.fields[i].rules, j.fields[i].kind == kindFloat, e.Tag())
		}
	}
	return "breaks the rule " + strings.TrimSuffix(e.Tag()+"="+e.Param(), "=")
}

// shown returns the value for an error, or nil for a secret.
func (j joined) shown(path string, v any) any {
	if slices.ContainsFunc(j.secrets, func(s secret) bool { return s.path == path }) {
		return nil
	}
	return v
}

// exporters creates the exporters of registered components.
func (l *loader) exporters(c *compact.Config) {
	for _, j := range l.joined {
		if j.export == nil || len(l.report.all) > 0 {
			continue
		}
		exporter, err := j.export(j.settings())
		switch {
		case err != nil:
			l.wrong(j.path, j.path, nil, "can't be used: "+err.Error())
		case exporter != nil:
			c.Exporters = append(c.Exporters, exporter)
		}
	}
}

// openRegistered opens the archive of a registered component.
func openRegistered(ctx context.Context, c compact.StorageConfig) (storage.Archive, error) {
	s := adapter(c.Adapter)
	if s == nil {
		return nil, fmt.Errorf("configs: unknown storage adapter %q", c.Adapter)
	}
	if c.Settings == nil {
		return nil, fmt.Errorf("configs: the storage adapter %q has no settings: load them with configs.Load", c.Adapter)
	}
	return s.open(ctx, c.Settings)
}

func tryRegistered(ctx context.Context, c compact.StorageConfig) error {
	a, err := openRegistered(ctx, c)
	if err != nil {
		return err
	}
	if a, ok := a.(interface{ Try(context.Context) error }); ok {
		err = a.Try(ctx)
	}
	return errors.Join(err, closed(ctx, a))
}

func adviseNothing(error) string { return "" }

func secretsOf(all []*section) []secret {
	var out []secret
	for _, s := range all {
		out = append(out, s.secrets...)
	}
	return out
}

// isSecret reports whether a variable holds a secret of a component.
func isSecret(name string) bool {
	return slices.ContainsFunc(secretsOf(registered()), func(s secret) bool { return s.variable() == name })
}

// adapters returns the reason for an unknown adapter, with the names of all
// adapters. ok is false if v is not text or no adapter is registered.
func adapters(v any) (reason string, ok bool) {
	names := []string{"fs", "memory", s3Adapter}
	for _, s := range registered() {
		if s.open != nil {
			names = append(names, s.name)
		}
	}
	name, isText := v.(string)
	return "must be one of " + strings.Join(names, ", ") + words.DidYouMean(name, names), isText && len(names) > 3
}
