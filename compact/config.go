package compact

import (
	"errors"
	"fmt"
	"reflect"
	"time"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
	"github.com/agentcompact/compact/trace"
)

// Config says how a [CompactManager] works. A field that is zero has the value
// of the preset; to set one to zero, start from [Preset]. The tags are the
// names in files, which package configs loads.
type Config struct {
	Preset string `mapstructure:"preset"` // default "graduated"; see [Presets]

	Model            string `mapstructure:"model"`                               // decides tokenizer and window
	MaxContextTokens int    `mapstructure:"max_context_tokens" validate:"gte=0"` // 0: looked up by the model's name
	MaxOutputTokens  int    `mapstructure:"max_output_tokens" validate:"gte=0"`  // reserved for the answer; default 0
	Counting         string `mapstructure:"counting" validate:"oneof=model bytes4 utf16"`

	Policy     policy.Config         `mapstructure:"policy"`
	Truncate   policy.TruncateConfig `mapstructure:"truncate"`
	Mask       policy.MaskConfig     `mapstructure:"mask"`
	Summarizer SummarizerConfig      `mapstructure:"summarizer"`
	Redaction  RedactionConfig       `mapstructure:"redaction"`
	Storage    StorageConfig         `mapstructure:"storage"`
	Trace      TraceConfig           `mapstructure:"trace"`

	// Components that are handed in as values. Nil: made from the rest.
	Archive   storage.Archive     `mapstructure:"-" validate:"-"`
	Summarise strategy.Summarizer `mapstructure:"-" validate:"-"` // asked for summaries instead of the extractive backend
	Redactor  *redact.Redactor    `mapstructure:"-" validate:"-"`
	Exporters []trace.Exporter    `mapstructure:"-" validate:"-"` // in addition to those that Trace names
	Counter   token.Counter       `mapstructure:"-" validate:"-"`
	Now       func() time.Time    `mapstructure:"-" validate:"-"` // what measures durations; default time.Now

	complete bool // made by Preset: zeros mean zero
}

// SummarizerConfig says who writes summaries.
type SummarizerConfig struct {
	Backend     string        `mapstructure:"backend" validate:"oneof=extractive openai"` // default extractive: no model, no network
	Model       string        `mapstructure:"model"`
	BaseURL     string        `mapstructure:"base_url" validate:"omitempty,url"`
	MaxTokens   int           `mapstructure:"max_tokens" validate:"gte=64"`     // of one summary
	Window      int           `mapstructure:"window_tokens" validate:"gte=0"`   // of the summariser's own window; 0: looked up
	Timeout     time.Duration `mapstructure:"timeout" validate:"gte=0"`         // for the whole summary
	MaxAttempts int           `mapstructure:"max_attempts" validate:"gte=1"`    // for one call
	Parallel    int           `mapstructure:"parallel" validate:"gte=1,lte=64"` // pieces of one summary at once
	Seed        int           `mapstructure:"seed"`
	Fallback    string        `mapstructure:"fallback" validate:"oneof=pruning-only extractive"`
}

// RedactionConfig says what leaves memory.
type RedactionConfig struct {
	Enabled    bool     `mapstructure:"enabled"`
	Strict     bool     `mapstructure:"strict"`
	PII        bool     `mapstructure:"pii"`
	Patterns   []string `mapstructure:"patterns"`
	Summarizer bool     `mapstructure:"summarizer"` // also what goes to a summariser model
}

// StorageConfig says where the archive is.
type StorageConfig struct {
	Adapter     string `mapstructure:"adapter" validate:"oneof=fs memory"` // memory keeps nothing after the process ends
	Path        string `mapstructure:"path" validate:"required_if=Adapter fs"`
	OnError     string `mapstructure:"on_error" validate:"oneof=fail continue"`
	Transcripts string `mapstructure:"transcripts" validate:"oneof=compactions all"`
}

// TraceConfig says where events go besides the audit log.
type TraceConfig struct {
	AriadneURL string `mapstructure:"ariadne_url" validate:"omitempty,url"`
	Console    bool   `mapstructure:"console"`     // one line an event on standard error
	PerSession bool   `mapstructure:"per_session"` // one trace a session instead of one a model call
}

// Presets returns the names of the presets.
func Presets() []string {
	return []string{"graduated", "summarize", "masking", "history-reducer", "gateway"}
}

// Preset returns the whole configuration of a preset; "" is "graduated".
func Preset(name string) (Config, error) {
	c := graduated()
	if name == "" {
		name = "graduated"
	}
	change, ok := presets[name]
	if !ok {
		return Config{}, fmt.Errorf("compact: unknown preset %q (there are %v)", name, Presets())
	}
	c.Preset = name
	change(&c)
	return c, nil
}

var presets = map[string]func(*Config){
	"graduated": func(*Config) {},
	"summarize": func(c *Config) {
		c.Policy.Stages = []string{"summarise", "shrink", "squeeze"}
	},
	"masking": func(c *Config) {
		c.Policy.Stages = []string{"mask"}
		c.Mask.When = policy.Always
		c.Mask.KeepFirst = 0
	},
	// Sizes are UTF-16 code units, max_context_tokens and summarizer.max_tokens
	// included. Nothing is done before the budget is exceeded.
	"history-reducer": func(c *Config) {
		c.Counting = "utf16"
		c.Policy.Stages = []string{"mask", "local", "fallback", "squeeze"}
		c.Policy.TriggerPct, c.Policy.HardCapBuffer = 1, 0
		c.Policy.KeepRecentMessages = policy.DefaultTail
		c.Mask.WindowTurns, c.Mask.KeepFirst = 0, 0
		c.Summarizer.MaxTokens = 1400
	},
	"gateway": func(c *Config) {
		c.Counting = "bytes4"
		c.MaxOutputTokens = 4096
		c.Policy.Stages = []string{"window", "truncate", "mask", "history", "groups", "drop", "squeeze"}
		c.Policy.TriggerPct, c.Policy.HardCapBuffer, c.Policy.MarginPct = 1, 0, 10
		c.Policy.MaxHistoryTokens = 20_000
		c.Truncate.When, c.Mask.When = policy.Always, policy.Always
		c.Mask.WindowTurns, c.Mask.KeepFirst, c.Mask.KeepLast = 0, 2, 5
	},
}

func graduated() Config {
	return Config{
		Counting: "model",
		Policy:   policy.Default(),
		Truncate: policy.TruncateConfig{When: policy.AtTrigger, MaxToolResultTokens: 8000, Keep: policy.Head},
		Mask:     policy.MaskConfig{When: policy.AtTrigger, Every: 1, WindowTurns: 10, KeepFirst: 2},
		Summarizer: SummarizerConfig{
			Backend: "extractive", MaxTokens: 1500, Timeout: 60 * time.Second, MaxAttempts: 3, Parallel: 4, Seed: 42,
			Fallback: "pruning-only",
		},
		Redaction: RedactionConfig{Enabled: true, Summarizer: true},
		Storage:   StorageConfig{Adapter: "fs", Path: ".compact/archive", OnError: "fail", Transcripts: "compactions"},
		complete:  true,
	}
}

// filled returns c with the preset's value in every field that is zero.
func (c Config) filled() (Config, error) {
	if c.complete {
		return c, nil
	}
	base, err := Preset(c.Preset)
	if err != nil {
		return c, err
	}
	overlay(reflect.ValueOf(&base).Elem(), reflect.ValueOf(c))
	// The two booleans whose default is true can't be told from "not set" in a
	// struct: a struct that names no redaction keeps it on.
	base.Redaction.Enabled, base.Redaction.Summarizer = true, true
	base.complete = true
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

// Validate reports every mistake that can be seen without a model: the one
// place where the numbers are held against each other.
func (c Config) Validate() error {
	c, err := c.filled()
	if err != nil {
		return err
	}
	var errs []error
	_, err = c.Policy.Limits(c.window(c.Model), c.MaxOutputTokens).Budget()
	errs = append(errs, err, c.Policy.Check())
	if c.Mask.Template != "" {
		errs = append(errs, policy.ValidTemplate(c.Mask.Template))
	}
	if c.Truncate.MaxToolResultTokens <= 0 {
		errs = append(errs, fmt.Errorf("compact: truncate.max_tool_result_tokens must be > 0 (got %d)", c.Truncate.MaxToolResultTokens))
	}
	if _, err := strategy.Lookup(c.Policy.Strategy); err != nil {
		errs = append(errs, err)
	}
	return errors.Join(errs...)
}

// window returns the size of a model's window. What is configured holds for
// the configured model; for another it can only make the window smaller.
func (c Config) window(model string) int {
	switch {
	case c.MaxContextTokens > 0 && (model == c.Model || model == ""):
		return c.MaxContextTokens
	case c.MaxContextTokens > 0:
		return min(c.MaxContextTokens, token.ContextWindow(model))
	}
	return token.ContextWindow(model)
}
