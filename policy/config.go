package policy

import (
	"fmt"

	"github.com/agentcompact/compact/message"
)

// Config is the part of the configuration that every decision is made of. Its
// tags are the names in files.
type Config struct {
	// Stages are the names of the stages, in the order in which they work:
	// window, truncate, mask, history, summarise, shrink, local, fallback,
	// groups, drop, squeeze.
	Stages []string `mapstructure:"stages" validate:"required,dive,oneof=window truncate mask history summarise shrink local fallback groups drop squeeze"`

	TriggerPct      float64        `mapstructure:"trigger_pct" validate:"gt=0,lte=1"`
	TargetPct       float64        `mapstructure:"target_pct" validate:"gt=0,lte=1"`
	HardCapBuffer   int            `mapstructure:"hard_cap_buffer" validate:"gte=0"`
	MarginPct       int            `mapstructure:"margin_pct" validate:"gte=0,lt=100"` // of the window, kept free on top of the buffer
	KeepRecentTurns int            `mapstructure:"keep_recent_turns" validate:"gte=1"`
	KeepToolIOPairs int            `mapstructure:"keep_tool_io_pairs" validate:"gte=1"`
	RolesNeverPrune []message.Role `mapstructure:"roles_never_prune"`
	Strategy        string         `mapstructure:"strategy" validate:"required"`

	// MaxHistoryTokens bounds what the stage history leaves of the conversation
	// before the last request; 0 = what the budget leaves.
	MaxHistoryTokens int `mapstructure:"max_history_tokens" validate:"gte=0"`
	// KeepRecentMessages is how many of the last messages stay raw in the
	// stages local and fallback, and in mask where it is set; 0 = mask goes by
	// turns.
	KeepRecentMessages int `mapstructure:"keep_recent_messages" validate:"gte=0"`
}

// Check reports what is wrong with settings that are right one by one.
func (c Config) Check() error {
	for _, name := range c.Stages {
		if (name == "local" || name == "fallback") && c.KeepRecentMessages < 1 {
			return fmt.Errorf("policy.keep_recent_messages must be at least 1 with the stage %s (got %d)", name, c.KeepRecentMessages)
		}
	}
	return nil
}

// TruncateConfig configures the stage truncate.
type TruncateConfig struct {
	When                When   `mapstructure:"when" validate:"oneof=trigger always"`
	MaxToolResultTokens int    `mapstructure:"max_tool_result_tokens" validate:"gt=0"`
	Keep                string `mapstructure:"keep" validate:"oneof=head tail both"`
}

// MaskConfig configures the stage mask.
type MaskConfig struct {
	When                When     `mapstructure:"when" validate:"oneof=trigger always"`
	Every               int      `mapstructure:"every" validate:"gte=1"` // turns between two batches when it is always on
	WindowTurns         int      `mapstructure:"window_turns" validate:"gte=0"`
	KeepFirst           int      `mapstructure:"keep_first" validate:"gte=0"`
	KeepLast            int      `mapstructure:"keep_last" validate:"gte=0"`
	ExcludeTools        []string `mapstructure:"exclude_tools"`
	MaxObservationChars int      `mapstructure:"max_observation_chars" validate:"omitempty,gte=48"` // 0: the placeholder alone
	Template            string   `mapstructure:"template"`                                          // empty: the preset's form
}

// Default returns the defaults of the preset "graduated".
func Default() Config {
	return Config{
		Stages:          []string{"truncate", "mask", "summarise", "shrink", "squeeze"},
		TriggerPct:      0.85,
		TargetPct:       0.60,
		HardCapBuffer:   1500,
		KeepRecentTurns: 6,
		KeepToolIOPairs: 4,
		RolesNeverPrune: []message.Role{message.RoleSystem, message.RoleDeveloper},
		Strategy:        "task_state",
	}
}

// Limits returns the numbers that the budget for a model is made of.
func (c Config) Limits(maxContextTokens, maxOutputTokens int) Limits {
	return Limits{
		MaxContextTokens: maxContextTokens,
		MaxOutputTokens:  maxOutputTokens,
		HardCapBuffer:    c.HardCapBuffer + maxContextTokens*c.MarginPct/100,
		TriggerPct:       c.TriggerPct,
		TargetPct:        c.TargetPct,
	}
}
