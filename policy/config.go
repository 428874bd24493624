package policy

import (
	"errors"
	"fmt"
	"time"

	"github.com/agentcompact/compact/message"
)

// Config holds the settings behind every decision. The tags are the names of the
// settings in files. The defaults are the defaults of the preset graduated.
type Config struct {
	// Stages are the names of the stages, in the order in which they run: names
	// from compact.StageNames and names of the caller's own stages. Default
	// truncate, mask, summarize, shrink, squeeze.
	Stages []string `mapstructure:"stages" validate:"required,dive,stage"`

	// When is "window" (a compaction is due at trigger_pct of the window);
	// "trigger", which means the same; "economic" (a compaction is also due below
	// that, as soon as it pays by the prices of the model; see docs/ECONOMY.md);
	// or "never" (compact only on request, whatever the size; earlier compactions
	// remain in effect). Default "window"; "economic" in the preset economy.
	When When `mapstructure:"when" validate:"oneof=window economic never trigger"`
	// RecallWeight is used with "economic": the cost of removing something that
	// is needed again, in multiples of the price of one recall. A higher weight
	// keeps more. Default 13.
	RecallWeight float64 `mapstructure:"recall_weight" validate:"gte=0,lte=10000"`
	// OverrunPct is used with "economic". It limits the cost of one compaction beyond its
	// immediate saving, as a share (0 to 1) of the cost so far with the whole history. A
	// session that ends right after the compaction costs at most that much more. Each
	// compaction is judged by itself. Savings and costs of earlier compactions have no
	// effect. Default 0.05.
	OverrunPct float64 `mapstructure:"overrun_pct" validate:"gte=0,lte=1"`
	// Background lets a model write a summary in the background before a call
	// needs it. Writing begins when the history reaches PreparePct (0 to 1) of the
	// size at which a call would compact. The compacting call uses the summary if
	// all messages it covers are still there. Not with summarizer.backend agent.
	// Defaults: true and 0.9. A PreparePct of 1 means never.
	Background bool    `mapstructure:"background"`
	PreparePct float64 `mapstructure:"prepare_pct" validate:"gt=0,lte=1"`
	// TriggerPct is the share of the window (0 to 1) at which a compaction is
	// due; default 0.85.
	TriggerPct float64 `mapstructure:"trigger_pct" validate:"gt=0,lte=1"`
	// TargetPct is the share of the window at which a compaction stops. It must
	// be below TriggerPct; default 0.60.
	TargetPct float64 `mapstructure:"target_pct" validate:"gt=0,lte=1"`
	// HardCapBuffer is the number of tokens at the end of the window that are
	// never used; default 1500.
	HardCapBuffer int `mapstructure:"hard_cap_buffer" validate:"gte=0"`
	// MarginPct reserves a share of the window, in percent, in addition to
	// HardCapBuffer; default 0.
	MarginPct int `mapstructure:"margin_pct" validate:"gte=0,lt=100"`
	// KeepRecentTurns is the number of last turns that stay unchanged; default 6.
	// It is lowered, down to 1, if the view does not fit otherwise.
	KeepRecentTurns int `mapstructure:"keep_recent_turns" validate:"gte=1"`
	// KeepToolIOPairs is the number of last tool calls that stay unchanged with
	// their results; default 4. It is lowered in the same way.
	KeepToolIOPairs int `mapstructure:"keep_tool_io_pairs" validate:"gte=1"`
	// RolesNeverPrune are the roles whose messages are never changed, out of
	// system, developer, user, assistant and tool. Default system and developer.
	RolesNeverPrune []message.Role `mapstructure:"roles_never_prune" validate:"dive,oneof=system developer user assistant tool"`
	// Strategy names the kind of summary: task_state, decision_log, code_delta
	// or brief; default task_state.
	Strategy string `mapstructure:"strategy" validate:"required"`

	// MaxHistoryTokens is the largest size that the stage history leaves to the
	// conversation before the last request; 0 = the room in the budget.
	MaxHistoryTokens int `mapstructure:"max_history_tokens" validate:"gte=0"`
	// KeepRecentMessages is the number of last messages that the stages local
	// and fallback leave unchanged. If it is not 0, mask uses it too, instead
	// of turns.
	KeepRecentMessages int `mapstructure:"keep_recent_messages" validate:"gte=0"`
}

// Check reports settings that are valid one by one but not together, each as a
// [*ConfigError].
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

// TidyConfig configures the stage tidy, which reduces tool results on arrival,
// before any call has sent them.
type TidyConfig struct {
	// LargeTokens is the size from which a result is large; default 2000. Tidy
	// leaves out the parts of a large result that the reader does not need.
	LargeTokens int `mapstructure:"large_tokens" validate:"gte=100"`
	// Off lists the reducers that are not used, by their names in tidy.Names;
	// default none.
	Off []string `mapstructure:"off" validate:"dive,reducer"`
	// ExcludeTools are tools whose results stay unchanged; default none.
	ExcludeTools []string `mapstructure:"exclude_tools"`
	// Wait is how long a call waits for the archive to store the originals. If
	// the archive takes longer, the results are sent whole and are never
	// reduced later; default 20ms.
	Wait time.Duration `mapstructure:"wait" validate:"gt=0"`
}

// TruncateConfig configures the stage truncate.
type TruncateConfig struct {
	// When is "trigger" (when a compaction is due) or "always" (when a result
	// first appears); default "trigger".
	When When `mapstructure:"when" validate:"oneof=trigger always"`
	// MaxToolResultTokens is the largest size of one result; default 8000. Except in the
	// preset gateway, a quarter of the budget is a limit too.
	MaxToolResultTokens int `mapstructure:"max_tool_result_tokens" validate:"gt=0"`
	// Keep is the part that is kept: "head", "tail", "both", or "auto", which
	// means both ends of the output of a command and the head of other results;
	// default "head". Results without an answer after them are always cut with "auto",
	// except in the preset gateway. The stage squeeze always cuts with "auto".
	Keep string `mapstructure:"keep" validate:"oneof=head tail both auto"`
}

// MaskConfig configures the stage mask.
type MaskConfig struct {
	// When is "trigger" (in one batch when a compaction is due) or "always" (at
	// every call); default "trigger".
	When When `mapstructure:"when" validate:"oneof=trigger always"`
	// Every is the number of turns between two batches with "always"; default 1.
	Every int `mapstructure:"every" validate:"gte=1"`
	// WindowTurns is the number of last turns whose results stay; default 10.
	WindowTurns int `mapstructure:"window_turns" validate:"gte=0"`
	// KeepFirst is the number of first results that stay; default 2.
	KeepFirst int `mapstructure:"keep_first" validate:"gte=0"`
	// KeepLast is the number of last results that stay; default 0.
	KeepLast int `mapstructure:"keep_last" validate:"gte=0"`
	// ExcludeTools are tools whose results stay; default none.
	ExcludeTools []string `mapstructure:"exclude_tools"`
	// DispatchTools are the tools whose BEGIN_DISPATCH_RESULT … END_DISPATCH_RESULT blocks
	// survive masking. Case is ignored, and * stands for any characters. Default: common
	// names of tools that hand work to other agents (dispatch, delegate, task, agent,
	// subagent, *_agent); "*", which is every tool, in the preset history-reducer. An
	// empty list that is not nil means that there are none.
	DispatchTools []string `mapstructure:"dispatch_tools"`
	// MaxObservationChars, if it is not 0, keeps the beginning of a result.
	// With the placeholder it has at most that many characters. Default 0.
	MaxObservationChars int `mapstructure:"max_observation_chars" validate:"omitempty,gte=48"`
	// MinTokens is the number of tokens that masking a result must save. Otherwise the
	// result stays. Default 50; 300 in the preset economy; 0, which is any saving, in
	// summarize, masking, history-reducer and gateway.
	MinTokens int `mapstructure:"min_tokens" validate:"gte=0"`
	// Media masks old images, audio and files, including the ones in user messages. It
	// does so before any text is masked, and only at the trigger, whatever When is.
	// Default true; false in the presets history-reducer and gateway.
	Media bool `mapstructure:"media"`
	// Plain makes the placeholders of graduated as short as in the other presets: without
	// tool, outcome and reference. Default false.
	Plain bool `mapstructure:"plain"`
	// Template is a custom placeholder with the fields {chars} {tokens} {tool}
	// {turn} {ref} {status}; "" = the preset's.
	Template string `mapstructure:"template"`
}
