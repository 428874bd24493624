package compact

import "github.com/agentcompact/compact/policy"

// The presets whose stages differ in more than their numbers.
const (
	presetGateway        = "gateway"
	presetHistoryReducer = "history-reducer"
)

func (m *CompactManager) truncate() policy.Truncate {
	t := policy.Truncate{MaxTokens: m.cfg.Truncate.MaxToolResultTokens, Keep: m.cfg.Truncate.Keep}
	if m.cfg.Preset != presetGateway {
		return t
	}
	t.MarkerOnTop, t.NoShare = true, true
	if m.cfg.Counting == "bytes4" {
		t.BytesPerToken = 4
	}
	return t
}

// maskStep is the stage mask as the preset has it: by turns, by the results of
// the running loop (gateway), or by messages (history-reducer).
func (m *CompactManager) maskStep(k epochKey) policy.Step {
	c := &m.cfg
	mask := policy.Mask{
		WindowTurns: c.Mask.WindowTurns, KeepFirst: c.Mask.KeepFirst, KeepLast: c.Mask.KeepLast,
		ExcludeTools: c.Mask.ExcludeTools, MaxChars: c.Mask.MaxObservationChars, Form: m.maskForm(k), Every: c.Mask.Every,
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

func (m *CompactManager) localSummary() policy.LocalSummary {
	return policy.LocalSummary{
		Messages: m.cfg.Policy.KeepRecentMessages,
		MaxChars: m.cfg.Summarizer.MaxTokens,
		Clean:    func(s string) string { return m.redactor.Text(s).String() },
	}
}
