package compact

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/strategy"
)

// Validate reports every mistake that can be found without the archive and the network,
// each as a [*ConfigError]; it reads summarizer.prompt_file. It reports first the
// invalid values, then contradictions between the valid ones. With an unknown preset it
// does not check for contradictions. Package configs reports the same mistakes, and
// mistakes that only a file can have.
func (c Config) Validate() error {
	_, unknown := Preset(c.Preset)
	if unknown != nil {
		c.Preset = ""
	}
	c, err := c.filled()
	if err != nil {
		return err
	}
	base, err := Preset(c.Preset)
	if err != nil {
		return err
	}
	if s := &c.Storage; c.Archive != nil { // the archive is given
		s.Adapter, s.Path, s.Bucket = base.Storage.Adapter, base.Storage.Path, ""
	}
	adapter := c.Storage.Adapter
	if s := &c.Storage; s.Settings != nil { // checked by its package
		s.Adapter, s.Path = base.Storage.Adapter, base.Storage.Path
	}
	errs := []error{unknown, c.checkStages()}
	if own := slices.DeleteFunc(slices.Clone(c.Policy.Stages), c.isOwn); len(own) > 0 || len(c.Stages) == 0 {
		c.Policy.Stages = own // the rest must be built-in stages
	} else {
		c.Policy.Stages = base.Policy.Stages
	}
	// An invalid value is replaced by the preset's, so that it causes no
	// further errors.
	for _, e := range c.broken() {
		errs = append(errs, e)
		fieldAt(&c, e.Setting()).Set(fieldAt(&base, e.Setting()))
	}
	if c.Storage.Settings != nil {
		c.Storage.Adapter = adapter
	}
	if unknown == nil {
		errs = append(errs, c.checkBudget(), c.checkPolicy(), c.checkSummarizer(), c.checkRedaction(), c.checkObserve(), c.checkStorage(), c.checkKeys())
	}
	// The effect of overrides is checked only if the rest is valid.
	errs = append(errs, c.checkOverrides(errors.Join(errs...) == nil))
	return errors.Join(errs...)
}

func (c Config) checkBudget() error {
	_, err := c.Policy.Budget(c.window(c.Model), c.MaxOutputTokens)
	return err
}

func (c Config) checkPolicy() error {
	errs := []error{c.Policy.Check(), c.Mask.CheckDispatchTools()}
	if c.Mask.Template != "" {
		errs = append(errs, c.Mask.CheckTemplate())
	}
	if c.Strategy != nil {
		if _, err := strategy.New(*c.Strategy); err != nil {
			return errors.Join(append(errs, &ConfigError{Path: "Strategy", Value: c.Strategy.Name, Reason: "can't be used: " + err.Error(), Err: err})...)
		}
	}
	if _, err := c.strategyNamed(c.Policy.Strategy); err != nil {
		errs = append(errs, &ConfigError{Path: "policy.strategy", Value: c.Policy.Strategy, Reason: oneOf(c.Policy.Strategy, strategy.Names()), Err: err})
	}
	return errors.Join(errs...)
}

// strategyNamed returns the caller's own strategy, or the built-in one with this
// name.
func (c *Config) strategyNamed(name string) (strategy.Strategy, error) {
	if c.Strategy != nil && c.Strategy.Name == name {
		return strategy.New(*c.Strategy)
	}
	return strategy.Lookup(name)
}

// checkSummarizer returns errors for settings of summarizer that are missing, have
// no effect or contradict others. Config.Summarize needs no settings.
func (c Config) checkSummarizer() error {
	s := c.Summarizer
	switch {
	case c.Summarize != nil && s.Backend == backendAgent:
		return &ConfigError{Path: "summarizer.backend", Value: backendAgent, Reason: "asks the agent's own model: a summarizer that is handed in (Config.Summarize, Override.Summarize) would never be asked"}
	case c.Summarize != nil:
		return s.checkPrompt()
	case s.Backend == backendOpenAI && s.Model == "":
		return errors.Join(s.checkPrompt(),
			&ConfigError{Path: "summarizer.model", With: []string{"summarizer.backend"}, Reason: "must not be empty: the backend openai asks a model"})
	case s.Backend == backendOpenAI:
		return s.checkPrompt()
	case s.Backend == backendAgent:
		return errors.Join(s.checkPrompt(), s.withoutEffect(s.ofServer()))
	}
	return s.withoutEffect(append(s.ofServer(), s.ofPrompt()...))
}

// A givenSetting is a setting with its value as text.
type givenSetting struct{ path, value string }

// ofServer returns the settings that only a summarizing server uses, and ofPrompt
// those that the agent's own model also uses.
func (s SummarizerConfig) ofServer() []givenSetting {
	return []givenSetting{{"model", s.Model}, {"base_url", s.BaseURL}}
}

func (s SummarizerConfig) ofPrompt() []givenSetting {
	return []givenSetting{{"instructions", s.Instructions}, {"sections", strings.Join(s.Sections, ", ")}, {"prompt_file", s.PromptFile}}
}

// withoutEffect returns errors for settings without effect with this backend.
func (s SummarizerConfig) withoutEffect(settings []givenSetting) error {
	var errs []error
	for _, given := range settings {
		if given.value != "" {
			errs = append(errs, &ConfigError{
				Path: "summarizer." + given.path, With: []string{"summarizer.backend"}, Value: given.value,
				Reason: "has no effect with summarizer.backend " + s.Backend + "; set that to openai, or leave it out",
			})
		}
	}
	return errors.Join(errs...)
}

// checkRedaction checks the settings for a redactor that is created from them.
func (c Config) checkRedaction() error {
	if c.Redactor != nil {
		return nil
	}
	var errs []error
	for i, p := range c.Redaction.Patterns {
		if _, err := regexp.Compile(p); err != nil {
			errs = append(errs, &ConfigError{Path: fmt.Sprintf("redaction.patterns[%d]", i), Reason: "is not a regular expression: " + err.Error(), Err: err})
		}
	}
	if err := c.Redaction.pseudonymKey(); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// pseudonymKey returns a *ConfigError if the key is missing or too short.
func (c RedactionConfig) pseudonymKey() error {
	if !c.Pseudonyms || len(c.PseudonymKey) >= redact.MinPseudonymKey {
		return nil
	}
	there := "there is none"
	if n := len(c.PseudonymKey); n > 0 {
		there = fmt.Sprintf("it has %d", n)
	}
	return &ConfigError{Path: "redaction.pseudonyms", Reason: fmt.Sprintf(
		"needs a key of %d bytes or more (%s): the environment variable COMPACT_PSEUDONYM_KEY, or in Go RedactionConfig.PseudonymKey", redact.MinPseudonymKey, there)}
}

// checkObserve returns an error for settings that need writing, which observe
// forbids.
func (c Config) checkObserve() error {
	if !c.Observe || c.Storage.Transcripts != "all" {
		return nil
	}
	return &ConfigError{
		Path: "storage.transcripts", With: []string{"observe"}, Value: c.Storage.Transcripts,
		Reason: "has no effect with observe, which opens no archive; switch that off, or leave this out",
	}
}

// checkStorage returns errors for settings without effect, and for a path that is a
// bucket. The package of the s3 archive checks the settings of buckets.
func (c Config) checkStorage() error {
	s := c.Storage
	if c.Archive != nil {
		return nil
	}
	errs := []error{checkFolder("storage.path", s.Path), checkFolder("storage.spool", s.Spool)}
	if s.Adapter == "s3" {
		return errors.Join(errs...)
	}
	if s.Encrypt.On() && s.Adapter == "memory" {
		errs = append(errs, &ConfigError{Path: "storage.encrypt", With: []string{"storage.adapter"}, Reason: "has no effect with storage.adapter memory; leave it out"})
	}
	if s.Spool != "" {
		errs = append(errs, &ConfigError{
			Path: "storage.spool", With: []string{"storage.adapter"}, Value: s.Spool,
			Reason: "has no effect with storage.adapter " + s.Adapter + "; set that to s3, or leave it out",
		})
	}
	return errors.Join(errs...)
}

// checkFolder returns an error for a name that is hardly meant as a folder, such as the
// URL of a bucket.
func checkFolder(setting, name string) error {
	reason := ""
	if _, err := fs.Folder(name); errors.Is(err, fs.ErrURL) || strings.HasPrefix(strings.ToLower(name), "s3:") {
		reason = "is a folder, or file:// and an absolute path; a bucket is named by storage.adapter: s3, storage.bucket and storage.prefix, and no other URL is supported"
	} else if err != nil {
		reason = err.Error()
	}
	if reason == "" {
		return nil
	}
	return &ConfigError{Path: setting, Value: name, Reason: reason}
}
