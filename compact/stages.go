package compact

import "github.com/agentcompact/compact/policy"

// The presets whose stages differ in more than their numbers.
const (
	presetEconomy        = "economy"
	presetGateway        = "gateway"
	presetHistoryReducer = "history-reducer"
)

func truncate(c *Config) policy.Truncate {
	t := policy.Truncate{MaxTokens: c.Truncate.MaxToolResultTokens, Keep: c.Truncate.Keep}
	if c.Preset != presetGateway {
		t.Newest = policy.Auto
		return t
	}
	t.MarkerOnTop, t.NoShare = true, true
	if c.Counting == "bytes4" {
		t.BytesPerToken = 4
	}
	return t
}

// maskStep is the stage mask as the preset has it: by turns, by the results of
// the running loop (gateway), or by messages (history-reducer).
func (ep *epoch) maskStep() policy.Step {
	c := &ep.cfg
	mask := policy.Mask{
		WindowTurns: c.Mask.WindowTurns, KeepFirst: c.Mask.KeepFirst, KeepLast: c.Mask.KeepLast,
		ExcludeTools: c.Mask.ExcludeTools, MaxChars: c.Mask.MaxObservationChars, Form: ep.maskForm(), Every: c.Mask.Every,
		MinTokens: c.Mask.MinTokens,
		Messages:  c.Policy.KeepRecentMessages,
	}
	step := policy.Step{When: c.Mask.When, Manual: true}
	switch c.Preset {
	case presetGateway:
		mask.Since = policy.AfterRequest
	case presetHistoryReducer:
		step.Goal = policy.ToBudget
		mask.CostAsChars = c.Counting == "utf16"
		mask.BareBlocks = mask.CostAsChars
		mask.MaxChars = 0 // this preset's placeholder stands alone
	}
	step.Stage = mask
	return step
}

func (m *CompactManager) localSummary(c *Config) policy.LocalSummary {
	return policy.LocalSummary{
		Messages: c.Policy.KeepRecentMessages,
		MaxChars: c.Summarizer.MaxTokens,
		Clean:    func(s string) string { return m.redactor.Text(s).String() },
	}
}
