package compact

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/internal/setting"
)

// checkOverrides returns errors for invalid overrides. If the configuration is valid
// without them (baseValid), it also validates the configuration with each override,
// and with any two that one call can match. Each check includes the other overrides
// that match every such call. If three are invalid only together, the calls that
// match them fail.
func (c Config) checkOverrides(baseValid bool) error {
	var errs []error
	for i, o := range c.Overrides {
		errs = append(errs, c.checkOverride(i, o, baseValid))
	}
	if err := distinct(errs); err != nil || !baseValid {
		return err
	}
	checked := map[string]bool{}
	for j, b := range c.Overrides {
		for i, a := range c.Overrides[:j] {
			if members := c.members(i, j); canMatchTogether(a, b) && !checked[numbersOf(members)] {
				checked[numbersOf(members)] = true
				errs = append(errs, c.checkTogether(members, modelMeant(c.Model, a, b)))
			}
		}
	}
	return distinct(errs)
}

// checkOverride checks an override by itself. Its values may be valid only together
// with the values of other overrides that always match with it.
func (c Config) checkOverride(i int, o Override, baseValid bool) error {
	at := fmt.Sprintf("overrides[%d]", i)
	switch {
	case o.Model == "" && o.Agent == "":
		return &ConfigError{Path: at, Reason: "applies to no call: set a model, an agent, or both"}
	case len(o.Set) == 0 && o.Summarize == nil:
		return &ConfigError{Path: at, Reason: "changes nothing"}
	}
	if !baseValid {
		return c.override(i, o)
	}
	return c.checkTogether(c.members(i, i), modelMeant(c.Model, o))
}

// members returns the numbers of the overrides that match every call which matches
// overrides i and j: the two themselves, and more general ones.
func (c Config) members(i, j int) []int {
	var all []int
	for k, o := range c.Overrides {
		if k == i || k == j || o.matchesIfBoth(c.Overrides[i], c.Overrides[j]) {
			all = append(all, k)
		}
	}
	return all
}

// checkTogether validates the configuration with the overrides of the given
// numbers, for calls with this model.
func (c Config) checkTogether(members []int, model string) error {
	changed, err := c.overridden(model, numbersOf(members))
	if err != nil {
		return err
	}
	changed.Overrides = nil
	var errs []error
	for _, err := range setting.Leaves(changed.Validate()) {
		if e := new(ConfigError); errors.As(err, &e) {
			err = c.attributed(*e, members)
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// attributed returns an error with the path in the override that sets the value: the
// last one that sets it, or otherwise the last one that sets another setting
// involved. The reason names the other overrides involved.
func (c Config) attributed(e ConfigError, members []int) error {
	owner, involved := c.setter(members, e.Setting()), map[int]bool{}
	for _, path := range e.With {
		involved[c.setter(members, path)] = true
	}
	for _, m := range members {
		if c.setter(members, e.Setting()) < 0 && involved[m] {
			owner = m
		}
	}
	if owner < 0 {
		owner = members[len(members)-1]
	}
	with := e.With
	e.With = nil
	for _, path := range with {
		m := c.setter(members, path)
		if m < 0 {
			m = owner
		}
		e.With = append(e.With, within(m, path))
	}
	e.Path = within(owner, e.Path)
	delete(involved, owner)
	if names := c.described(members, involved); len(names) > 0 {
		if e.Reason == "" && e.Err != nil {
			e.Reason = e.Err.Error()
		}
		e.Reason += ", together with the override for " + strings.Join(names, " and that for ")
	}
	return &e
}

// setter returns the number of the last override in a list that sets a setting, -1 if
// no override sets it.
func (c Config) setter(members []int, path string) int {
	for _, m := range slices.Backward(members) {
		if _, ok := c.Overrides[m].Set[path]; ok {
			return m
		}
	}
	return -1
}

// described returns the models and agents that overrides are for. The numbers of
// overrides in the merged configuration differ from the numbers in a file that extends
// another file.
func (c Config) described(members []int, which map[int]bool) []string {
	var all []string
	for _, m := range members {
		o := c.Overrides[m]
		switch {
		case !which[m]:
		case o.Agent == "":
			all = append(all, fmt.Sprintf("model %q", o.Model))
		case o.Model == "":
			all = append(all, fmt.Sprintf("agent %q", o.Agent))
		default:
			all = append(all, fmt.Sprintf("model %q with agent %q", o.Model, o.Agent))
		}
	}
	return all
}

// within returns the path of a setting in an override.
func within(number int, path string) string { return fmt.Sprintf("overrides[%d].%s", number, path) }

// numbersOf returns numbers in the form of [Config.overridden].
func numbersOf(numbers []int) string {
	all := make([]string, len(numbers))
	for i, n := range numbers {
		all[i] = strconv.Itoa(n)
	}
	return strings.Join(all, ",")
}

// modelMeant returns the model to validate overrides with: the model that they name,
// or, if they have only patterns, the configured model, even if it does not match.
func modelMeant(configured string, overrides ...Override) string {
	for _, o := range overrides {
		if o.Model != "" && !strings.ContainsAny(o.Model, "*?") {
			return o.Model
		}
	}
	return configured
}

// distinct joins errors, each text once.
func distinct(errs []error) error {
	var all []error
	seen := map[string]bool{}
	for _, err := range setting.Leaves(errors.Join(errs...)) {
		if !seen[err.Error()] {
			seen[err.Error()] = true
			all = append(all, err)
		}
	}
	return errors.Join(all...)
}

// checkSummarizers reports backends that need a Summarizer, which no file can supply,
// but have none. An override without a backend uses the configuration's backend. A
// mistake in that backend is reported once.
func (c Config) checkSummarizers() error {
	errs := []error{c.checkSummarize("")}
	for i, o := range c.Overrides {
		if o.backend() != backendOpenAI {
			continue
		}
		changed, err := c.overridden(modelMeant(c.Model, o), strconv.Itoa(i))
		if err == nil {
			err = changed.checkSummarize(fmt.Sprintf("overrides[%d].", i))
		}
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// checkSummarize returns an error for a missing Summarizer. at is the prefix of the
// override that sets the backend.
func (c Config) checkSummarize(at string) error {
	if c.Summarizer.Backend != backendOpenAI || c.Summarize != nil {
		return nil
	}
	return &ConfigError{Path: at + "summarizer.backend", Value: backendOpenAI, Reason: "needs a summarizer, which this package does not link: " +
		"use configs.Load and import configs/openai, or hand in one of package strategy/openai (Config.Summarize, Override.Summarize)"}
}
