package policy

import (
	"errors"
	"fmt"
	"time"

	"github.com/agentcompact/compact/message"
)

// Config is the part of the configuration that every decision is made of. Its
// tags are the names in files; the defaults are those of the preset graduated.
type Config struct {
	// Stages are the names of the stages, in the order in which they work, of those
	// that compact.StageNames returns and those of the caller's own. Default truncate,
	// mask, summarize, shrink, squeeze.
	Stages []string `mapstructure:"stages" validate:"required,dive,stage"`

	// When is "window" (a compaction is due at trigger_pct of it), or "trigger",
	// which is the same. "economic": also below that, as soon as by the prices of
	// the model a compaction pays; see docs/ECONOMY.md. "never": nothing is
	// compacted, however large it is, unless somebody asks for it. What was done
	// before stays done. Default "window"; "economic" in the preset economy.
	When When `mapstructure:"when" validate:"oneof=window economic never trigger"`
	// RecallWeight is what something that went and is needed again counts, with
	// "economic", in prices of fetching it: more keeps more. Default 13.
	RecallWeight float64 `mapstructure:"recall_weight" validate:"gte=0,lte=10000"`
	// OverrunPct is what a compaction of "economic" may cost beyond what it saves at
	// once, as a share (0 to 1) of what the calls so far cost with the whole
	// history: by so much a session is dearer for it that ends right then. Each is
	// held against it by itself, whatever those before it saved or cost. Default
	// 0.05.
	OverrunPct float64 `mapstructure:"overrun_pct" validate:"gte=0,lte=1"`
	// Background lets a summary that a model writes be written beside the calls,
	// before one needs it: from PreparePct of the amount on at which a call would
	// compact, 0 to 1, of what there is then. The call that compacts takes it where
	// all it is of is still there. Not with summarizer.backend agent. Default true, and
	// 0.9; 1 is never.
	Background bool    `mapstructure:"background"`
	PreparePct float64 `mapstructure:"prepare_pct" validate:"gt=0,lte=1"`
	// TriggerPct is the share of the window (0 to 1) from which on a compaction
	// is due; default 0.85.
	TriggerPct float64 `mapstructure:"trigger_pct" validate:"gt=0,lte=1"`
	// TargetPct is the share of the window at which it stops; below TriggerPct,
	// default 0.60.
	TargetPct float64 `mapstructure:"target_pct" validate:"gt=0,lte=1"`
	// HardCapBuffer is how many tokens at the end of the window are never used;
	// default 1500.
	HardCapBuffer int `mapstructure:"hard_cap_buffer" validate:"gte=0"`
	// MarginPct is the same as a share of the window, in percent, on top;
	// default 0.
	MarginPct int `mapstructure:"margin_pct" validate:"gte=0,lt=100"`
	// KeepRecentTurns is how many of the last turns stay as they are; default 6,
	// fewer, down to 1, when the view does not fit otherwise.
	KeepRecentTurns int `mapstructure:"keep_recent_turns" validate:"gte=1"`
	// KeepToolIOPairs is the same for the last tool calls with their results;
	// default 4.
	KeepToolIOPairs int `mapstructure:"keep_tool_io_pairs" validate:"gte=1"`
	// RolesNeverPrune are the roles whose messages are never touched: of system,
	// developer, user, assistant and tool. Default system and developer.
	RolesNeverPrune []message.Role `mapstructure:"roles_never_prune" validate:"dive,oneof=system developer user assistant tool"`
	// Strategy is the name of what a summary holds: task_state, decision_log,
	// code_delta or brief; default task_state.
	Strategy string `mapstructure:"strategy" validate:"required"`

	// MaxHistoryTokens bounds what the stage history leaves of the conversation
	// before the last request; 0 = what the budget leaves.
	MaxHistoryTokens int `mapstructure:"max_history_tokens" validate:"gte=0"`
	// KeepRecentMessages is how many of the last messages stay raw in the
	// stages local and fallback, and in mask where it is set; 0 = mask goes by
	// turns.
	KeepRecentMessages int `mapstructure:"keep_recent_messages" validate:"gte=0"`
}

// Check reports what is wrong with settings that are right one by one, each as
// a [*ConfigError].
func (c Config) Check() error {
	var errs []error
	for _, name := range c.Stages {
		if (name == "local" || name == "fallback") && c.KeepRecentMessages < 1 {
			errs = append(errs, &ConfigError{
				Path: "policy.keep_recent_messages", With: []string{"policy.stages"}, Value: c.KeepRecentMessages,
				Reason: fmt.Sprintf("must be >= 1 with the stage %s in policy.stages", name),
			})
		}
	}
	return errors.Join(errs...)
}

// TidyConfig configures the stage tidy, which reduces tool results when they
// come, before any call has sent them.
type TidyConfig struct {
	// LargeTokens is from how many tokens on a result is large, so that what its
	// reader does not need is left out; default 2000.
	LargeTokens int `mapstructure:"large_tokens" validate:"gte=100"`
	// Off are the names of reducers that are not used; default none. They are
	// those of tidy.Names.
	Off []string `mapstructure:"off" validate:"dive,reducer"`
	// ExcludeTools are tools whose results stay as they came; default none.
	ExcludeTools []string `mapstructure:"exclude_tools"`
	// Wait is how long a call waits for the archive to have what was reduced.
	// Where it takes longer, the result goes out whole, and is never reduced
	// later; default 20ms.
	Wait time.Duration `mapstructure:"wait" validate:"gt=0"`
}

// TruncateConfig configures the stage truncate.
type TruncateConfig struct {
	// When is "trigger" (when a compaction is due) or "always" (when a result is
	// first seen); default "trigger".
	When When `mapstructure:"when" validate:"oneof=trigger always"`
	// MaxToolResultTokens is the most that is left of one result; default 8000,
	// and at most a quarter of the budget in any case.
	MaxToolResultTokens int `mapstructure:"max_tool_result_tokens" validate:"gt=0"`
	// Keep is the end that is kept: "head", "tail", "both", or "auto", which is
	// both ends of what a command printed and else the head; default "head". Where
	// there is no second look (results that nobody has answered yet, the last
	// resort before a refusal) it is "auto" always, but in the preset gateway.
	Keep string `mapstructure:"keep" validate:"oneof=head tail both auto"`
}

// MaskConfig configures the stage mask.
type MaskConfig struct {
	// When is "trigger" (in one batch when a compaction is due) or "always" (at
	// every call); default "trigger".
	When When `mapstructure:"when" validate:"oneof=trigger always"`
	// Every is how many turns lie between two batches with "always"; default 1.
	Every int `mapstructure:"every" validate:"gte=1"`
	// WindowTurns is how many of the last turns keep their results; default 10.
	WindowTurns int `mapstructure:"window_turns" validate:"gte=0"`
	// KeepFirst is how many of the first results stay; default 2.
	KeepFirst int `mapstructure:"keep_first" validate:"gte=0"`
	// KeepLast is how many of the last results stay; default 0.
	KeepLast int `mapstructure:"keep_last" validate:"gte=0"`
	// ExcludeTools are tools whose results stay; default none.
	ExcludeTools []string `mapstructure:"exclude_tools"`
	// DispatchTools are the tools whose BEGIN_DISPATCH_RESULT … END_DISPATCH_RESULT
	// blocks survive masking: names, in any case, with * for any letters. Default
	// DefaultDispatchTools; "*", every tool, in the preset history-reducer. An empty
	// list, not nil, is none.
	DispatchTools []string `mapstructure:"dispatch_tools"`
	// MaxObservationChars, where it is not 0, leaves the beginning of a result:
	// with the placeholder at most so many characters. Default 0.
	MaxObservationChars int `mapstructure:"max_observation_chars" validate:"omitempty,gte=48"`
	// MinTokens is what a mask has to save: one that saves less is not made, as
	// what the result says is worth more than that. Default 50; 0, every one that
	// saves anything, in the presets that come from a source.
	MinTokens int `mapstructure:"min_tokens" validate:"gte=0"`
	// Media masks old pictures, sounds and files before any text: those of a user's
	// message, too, and not before the trigger, whatever When says. Default true;
	// false in the presets that come from a source.
	Media bool `mapstructure:"media"`
	// Plain makes the placeholders of graduated as short as those of the other
	// presets: they say no tool, no outcome and no reference. Default false.
	Plain bool `mapstructure:"plain"`
	// Template is a placeholder of your own, of {chars} {tokens} {tool} {turn}
	// {ref} {status}; "": the preset's.
	Template string `mapstructure:"template"`
}

// Default returns the defaults of the preset "graduated".
func Default() Config {
	return Config{
		Stages:          []string{"truncate", "mask", "summarize", "shrink", "squeeze"},
		When:            AtWindow,
		RecallWeight:    13,
		OverrunPct:      0.05,
		Background:      true,
		PreparePct:      0.9,
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
		HardCapBuffer:    c.HardCapBuffer,
		MarginPct:        c.MarginPct,
		TriggerPct:       c.TriggerPct,
		TargetPct:        c.TargetPct,
	}
}
