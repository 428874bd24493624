package policy

import (
	"strings"

	"github.com/agentcompact/compact/internal/setting"
)

// A ConfigError is one mistake in a configuration, in the names that settings
// have in files: what package configs refuses and what compact.New refuses is
// said in the same words.
type ConfigError struct {
	Path   string   // the setting, "policy.trigger_pct", or an element of it, "policy.stages[1]"
	With   []string // other settings that it was held against, if any
	Value  any      // what was given; nil where that is not to be shown
	Reason string   // "must be 0.0-1.0"
	Err    error    // the cause, if there is one besides the reason; without a reason it is the reason
}

// Error reads "policy.trigger_pct must be 0.0-1.0 (got 1.7)".
func (e *ConfigError) Error() string {
	reason := e.Reason
	if reason == "" && e.Err != nil {
		reason = e.Err.Error()
	}
	text := e.Path + " " + reason
	if e.Value != nil {
		text += " (got " + setting.Show(e.Value) + ")"
	}
	return text
}

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// Setting returns the path without the place in a list at its end.
func (e *ConfigError) Setting() string {
	if open := strings.LastIndexByte(e.Path, '['); open >= 0 && strings.HasSuffix(e.Path, "]") {
		return e.Path[:open]
	}
	return e.Path
}
