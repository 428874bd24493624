package compact

import (
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strconv"
)

// serverSettings apply only to backend openai; promptSettings to backends openai
// and agent.
var (
	serverSettings = []string{"model", "base_url"}
	promptSettings = []string{"instructions", "sections", "prompt_file"}
)

// backend returns the value of summarizer.backend, "" if the override sets none.
func (o Override) backend() string {
	if v := reflect.ValueOf(o.Set["summarizer.backend"]); v.Kind() == reflect.String { // a value of any string type
		return v.String()
	}
	return ""
}

// summarizeWith sets the summarizer of an override. An override with a backend
// other than openai clears Config.Summarize, and every setting that the new backend
// does not use, except those that the override sets itself.
func (c *Config) summarizeWith(o Override) {
	if backend := o.backend(); backend != "" && backend != backendOpenAI {
		c.Summarize = nil
		useless := serverSettings
		if backend != backendAgent {
			useless = slices.Concat(serverSettings, promptSettings)
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
		"use configs.Load, or hand in one of package strategy/openai (Config.Summarize, Override.Summarize)"}
}
