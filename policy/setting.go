package policy

import (
	"strings"

	"github.com/agentcompact/compact/internal/setting"
)

// A ConfigError is one mistake in a configuration. It uses the names that
// settings have in files, so that package configs and compact.New report a
// mistake in the same words.
type ConfigError struct {
	Path   string   // the setting, "policy.trigger_pct", or an element of it, "policy.stages[1]"
	With   []string // other settings involved, if any
	Value  any      // the given value; nil = do not show it
	Reason string   // "must be 0.0-1.0"
	Err    error    // the cause, if any; also the reason if Reason is empty
}

// Error returns a text like "policy.trigger_pct must be 0.0-1.0 (got 1.7)".
func (e *ConfigError) Error() string {
	reason := e.Reason
	if reason == "" && e.Err != nil {
		reason = e.Err.Error()
	}
	text := e.Path + " " + reason
	if e.Value != nil {
		text += setting.Got(e.Reason, e.Value)
	}
	return text
}

// Unwrap returns the cause.
func (e *ConfigError) Unwrap() error { return e.Err }

// Setting returns the path without a list index at its end.
func (e *ConfigError) Setting() string {
	if open := strings.LastIndexByte(e.Path, '['); open >= 0 && strings.HasSuffix(e.Path, "]") {
		return e.Path[:open]
	}
	return e.Path
}
