package compact

import (
	"reflect"
	"time"

	"github.com/agentcompact/compact/internal/setting"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/token"
)

// Presets returns the names of the presets.
func Presets() []string {
	return []string{"graduated", "economy", "summarize", "masking", "history-reducer", "gateway"}
}

// Preset returns the whole configuration of a preset; "" is "graduated".
func Preset(name string) (Config, error) {
	c := graduated()
	if name == "" {
		name = "graduated"
	}
	change, ok := presets[name]
	if !ok {
		return Config{}, &ConfigError{Path: "preset", Value: name, Reason: oneOf(name, Presets())}
	}
	c.Preset = name
	change(&c)
	return c, nil
}

var presets = map[string]func(*Config){
	"graduated": func(*Config) {},
	presetEconomy: func(c *Config) {
		c.Policy.When = policy.Economic
		c.Policy.Stages = append([]string{tidy.StageName}, c.Policy.Stages...)
		c.Tidy.LargeTokens, c.Mask.MinTokens = 5000, 300
		c.Truncate.Keep = keepAuto
		c.Summarizer.Fallback = "extractive"
	},
	"summarize": func(c *Config) {
		c.Policy.Stages = []string{"summarize", "shrink", "squeeze"}
		c.Mask.MinTokens, c.Summarizer.MaxTokens = 0, 1500
	},
	"masking": func(c *Config) {
		c.Policy.Stages = []string{"mask"}
		c.Mask.When = policy.Always
		c.Mask.KeepFirst, c.Mask.MinTokens = 0, 0
	},
	// Sizes are UTF-16 code units, max_context_tokens and summarizer.max_tokens
	// included. No stage runs before the budget is exceeded.
	"history-reducer": func(c *Config) {
		c.Counting = "utf16"
		c.Policy.Stages = []string{"mask", "local", "fallback", "squeeze"}
		c.Policy.TriggerPct, c.Policy.HardCapBuffer = 1, 0
		c.Policy.KeepRecentMessages = compat.DefaultTail
		c.Mask.WindowTurns, c.Mask.KeepFirst, c.Mask.MinTokens, c.Mask.Media = 0, 0, 0, false
		c.Mask.DispatchTools = []string{"*"} // as in the original, which looks only at the text
		c.Summarizer.MaxTokens = 1400
	},
	"gateway": func(c *Config) {
		c.Counting = "bytes4"
		c.MaxOutputTokens = 4096
		c.Policy.Stages = []string{"window", "truncate", "mask", "history", "groups", "drop", "squeeze"}
		c.Policy.TriggerPct, c.Policy.HardCapBuffer, c.Policy.MarginPct = 1, 0, 10
		c.Policy.MaxHistoryTokens = 20_000
		c.Truncate.When, c.Mask.When = policy.Always, policy.Always
		c.Mask.WindowTurns, c.Mask.KeepFirst, c.Mask.KeepLast, c.Mask.MinTokens, c.Mask.Media = 0, 2, 5, 0, false
	},
}

func graduated() Config {
	return Config{
		Counting: "model",
		Policy: policy.Config{
			Stages: []string{"truncate", "mask", summarize.StageName, "shrink", "squeeze"}, When: policy.AtWindow, RecallWeight: 13, OverrunPct: 0.05,
			Background: true, PreparePct: 0.9, TriggerPct: 0.85, TargetPct: 0.60, HardCapBuffer: 1500, KeepRecentTurns: 6, KeepToolIOPairs: 4,
			RolesNeverPrune: []message.Role{message.RoleSystem, message.RoleDeveloper}, Strategy: "task_state",
		},
		Tidy:     policy.TidyConfig{LargeTokens: tidy.DefaultLarge, Wait: 20 * time.Millisecond},
		Truncate: policy.TruncateConfig{When: policy.AtTrigger, MaxToolResultTokens: 8000, Keep: "head"},
		Mask: policy.MaskConfig{When: policy.AtTrigger, Every: 1, WindowTurns: 10, KeepFirst: 2, MinTokens: 50, Media: true,
			DispatchTools: []string{"dispatch", "delegate", "task", "agent", "subagent", "*_agent"}},
		Summarizer: SummarizerConfig{
			Backend: "extractive", UserTokens: summarize.DefaultUserTokens, Timeout: 60 * time.Second, MaxAttempts: 3, Parallel: 4, Seed: 42,
			Fallback: "pruning-only",
		},
		Redaction: RedactionConfig{Enabled: true, Summarizer: true},
		Storage:   StorageConfig{Adapter: "fs", Path: ".compact/archive", OnError: "fail", Erased: "new", Transcripts: "compactions", Repeat: "reference", Timeout: time.Minute, SpoolKeep: 24 * time.Hour},
		Trace:     TraceConfig{OTLPTimeout: 5 * time.Second, OTLPMetricsInterval: time.Minute},
		Sessions:  SessionsConfig{MaxBytes: 256 << 20},
		Cache:     CacheConfig{Marks: "keep"},
		complete:  true,
	}
}

// filled returns c with the preset's value in every zero field. It shares no list and no map
// with c: a manager reads its configuration for as long as it lives, and the caller may use c
// for the next one.
func (c Config) filled() (Config, error) {
	if c.Strategy != nil {
		c.Policy.Strategy = c.Strategy.Name
	}
	detach(reflect.ValueOf(&c).Elem())
	if c.complete {
		return c, nil
	}
	base, err := Preset(c.Preset)
	if err != nil {
		return c, err
	}
	overlay(reflect.ValueOf(&base).Elem(), reflect.ValueOf(c))
	// For a boolean, false and "not set" are the same in a struct. So a struct that
	// does not come from Preset can't disable redaction, and disables summaries in
	// the background by a PreparePct of 1.
	base.Redaction.Enabled, base.Redaction.Summarizer = true, true
	base.complete = true
	if s := &base.Summarizer; c.Summarizer.Backend == "" && c.Summarize == nil && (s.Model != "" || s.BaseURL != "") {
		s.Backend = backendOpenAI
	}
	return base, nil
}

// overlay copies the fields of src that are not zero.
func overlay(dst, src reflect.Value) {
	for i := range src.NumField() {
		from, to := src.Field(i), dst.Field(i)
		switch {
		case !to.CanSet() || from.IsZero():
		case from.Kind() == reflect.Struct:
			overlay(to, from)
		default:
			to.Set(from)
		}
	}
}

// detach replaces the lists and maps in a setting by copies. It follows no pointer and changes
// no component of the caller: it does not copy a value of an interface type with methods.
func detach(v reflect.Value) {
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				detach(f)
			}
		}
	case reflect.Slice:
		if v.IsNil() {
			return
		}
		own := reflect.MakeSlice(v.Type(), v.Len(), v.Len())
		reflect.Copy(own, v)
		for i := range own.Len() {
			detach(own.Index(i))
		}
		v.Set(own)
	case reflect.Map:
		if v.IsNil() {
			return
		}
		own := reflect.MakeMapWithSize(v.Type(), v.Len())
		for k, x := range v.Seq2() {
			own.SetMapIndex(k, detached(x))
		}
		v.Set(own)
	case reflect.Interface:
		if v.NumMethod() == 0 && !v.IsNil() {
			v.Set(detached(v.Elem()))
		}
	}
}

// detached returns a copy of a value that is detached.
func detached(v reflect.Value) reflect.Value {
	own := reflect.New(v.Type()).Elem()
	own.Set(v)
	detach(own)
	return own
}

// window returns the size of a model's window. The configured size is valid for
// the configured model; for another model it can only make the window smaller.
func (c Config) window(model string) int {
	switch {
	case c.MaxContextTokens > 0 && (model == c.Model || model == ""):
		return c.MaxContextTokens
	case c.MaxContextTokens > 0:
		return min(c.MaxContextTokens, token.ContextWindow(model))
	}
	return token.ContextWindow(model)
}

// Presets whose stages differ in more than their numbers.
const (
	presetEconomy        = "economy"
	presetGateway        = "gateway"
	presetHistoryReducer = "history-reducer"
)

// keepAuto keeps both ends of the output of a command, and the head of another result.
const keepAuto = "auto"

// oneOf lists the valid names, and the one that was probably meant.
func oneOf(name string, names []string) string { return setting.OneOf(name, names) }

// windowIsGuessed reports whether the window of a model is only the default, because neither
// the configuration nor the table has a window for the model.
func (c Config) windowIsGuessed(model string) bool {
	configured := c.MaxContextTokens > 0 && (model == c.Model || model == "" || c.MaxContextTokens <= token.DefaultContextWindow)
	return !configured && !token.KnowsContextWindow(model)
}

// windowSetting names the settings for the window of a model: max_context_tokens is
// valid only for the configured model.
func (c Config) windowSetting(model string) string {
	if c.MaxContextTokens > 0 && model != c.Model {
		return "model to it and max_context_tokens to its window (--model, --max-context-tokens)"
	}
	if model == "" {
		return "model (--model), or max_context_tokens (--max-context-tokens)"
	}
	return "max_context_tokens (--max-context-tokens)"
}
