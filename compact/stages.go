package compact

import (
	"fmt"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/trace"
)

// A builtin is a built-in stage. To add one, add a line to builtins.
type builtin struct {
	name string
	// step returns the configured stage; nil for a stage that the manager adds by
	// itself and policy.stages cannot name.
	step func(*CompactManager, *epoch) (reduce.Step, error)
	// event returns the event for texts that the stage edited; nil for a stage that
	// only removes messages.
	event func(*call, int, reduce.Pass) trace.Event
}

// builtins are all built-in stages, in the order of errors and reports.
var builtins = []builtin{
	{tidy.StageName, tidyStep, (*call).tidiedEvent},
	{"window", windowStep, nil},
	{"truncate", truncateStep, (*call).truncatedEvent},
	{policy.Media{}.Name(), nil, (*call).maskedEvent},
	{"mask", maskStep, (*call).maskedEvent},
	{"history", historyStep, nil},
	{summarize.StageName, summarizeStep, nil},
	{"shrink", shrinkStep, nil},
	{"local", localStep, nil},
	{"fallback", fallbackStep, nil},
	{"groups", groupsStep, nil},
	{"drop", dropStep, nil},
	{policy.Duplicates{}.Name(), nil, nil},
	{"squeeze", squeezeStep, (*call).truncatedEvent},
}

func builtinNamed(name string) (builtin, bool) {
	for _, b := range builtins {
		if b.name == name {
			return b, true
		}
	}
	return builtin{}, false
}

// StageNames returns the names of the stages that policy.stages may name, in addition
// to the stages in [Config.Stages].
func StageNames() []string {
	var names []string
	for _, b := range builtins {
		if b.step != nil {
			names = append(names, b.name)
		}
	}
	return names
}

// step returns the step of a named stage.
func (m *CompactManager) step(name string, ep *epoch) (reduce.Step, error) {
	if b, ok := builtinNamed(name); ok && b.step != nil {
		return b.step(m, ep)
	}
	if own, ok := m.stages[name]; ok {
		return own.step(), nil
	}
	return reduce.Step{}, fmt.Errorf("compact: unknown stage %q", name)
}

// Presets whose stages differ in more than their numbers.
const (
	presetEconomy        = "economy"
	presetGateway        = "gateway"
	presetHistoryReducer = "history-reducer"
)

func tidyStep(_ *CompactManager, ep *epoch) (reduce.Step, error) {
	return reduce.Step{When: policy.Always, Stage: tidyStage(&ep.cfg)}, nil
}

func windowStep(_ *CompactManager, ep *epoch) (reduce.Step, error) {
	return reduce.Step{When: policy.Always, Stage: compat.Window{Messages: compat.MessageLimit(ep.window)}}, nil
}

func truncateStep(_ *CompactManager, ep *epoch) (reduce.Step, error) {
	return reduce.Step{When: ep.cfg.Truncate.When, Stage: truncate(&ep.cfg)}, nil
}

func historyStep(_ *CompactManager, ep *epoch) (reduce.Step, error) {
	return reduce.Step{When: policy.Always, Stage: compat.History{MaxTokens: ep.cfg.Policy.MaxHistoryTokens, Since: compat.AfterRequest}}, nil
}

func summarizeStep(_ *CompactManager, ep *epoch) (reduce.Step, error) {
	stage, err := summarize.NewStage(ep.writer)
	return reduce.Step{Manual: true, Stage: stage}, err
}

// shrinkStep has no stage: shrink is how summarize chooses the keep counts.
func shrinkStep(*CompactManager, *epoch) (reduce.Step, error) { return reduce.Step{}, nil }

func localStep(m *CompactManager, ep *epoch) (reduce.Step, error) {
	return reduce.Step{Goal: policy.ToBudget, Manual: true, Stage: m.localSummary(&ep.cfg)}, nil
}

func fallbackStep(_ *CompactManager, ep *epoch) (reduce.Step, error) {
	return reduce.Step{Goal: policy.ToBudget, Stage: compat.Fallback{Messages: ep.cfg.Policy.KeepRecentMessages}}, nil
}

func groupsStep(*CompactManager, *epoch) (reduce.Step, error) {
	return reduce.Step{Goal: policy.ToBudget, Stage: compat.Groups{Since: compat.AfterRequest}}, nil
}

func dropStep(*CompactManager, *epoch) (reduce.Step, error) {
	return reduce.Step{Goal: policy.ToBudget, Stage: policy.Drop{}}, nil
}

// keepAuto keeps both ends of the output of a command, and the head of another result.
const keepAuto = "auto"

func squeezeStep(*CompactManager, *epoch) (reduce.Step, error) {
	return reduce.Step{Goal: policy.ToBudget, Stage: policy.Squeeze{Keep: keepAuto}}, nil
}

func truncate(c *Config) policy.Truncate {
	t := policy.Truncate{MaxTokens: c.Truncate.MaxToolResultTokens, Keep: c.Truncate.Keep}
	if c.Preset != presetGateway {
		t.Newest = keepAuto
		return t
	}
	t.MarkerOnTop, t.NoShare = true, true
	if c.Counting == "bytes4" {
		t.BytesPerToken = 4
	}
	return t
}

// maskStep returns the stage mask of the preset: by turns, by the results of
// the running loop (gateway), or by messages (history-reducer).
func maskStep(_ *CompactManager, ep *epoch) (reduce.Step, error) {
	c := &ep.cfg
	mask := policy.Mask{
		WindowTurns: c.Mask.WindowTurns, KeepFirst: c.Mask.KeepFirst, KeepLast: c.Mask.KeepLast,
		ExcludeTools: c.Mask.ExcludeTools, MaxChars: c.Mask.MaxObservationChars, Form: ep.maskForm(), Every: c.Mask.Every,
		MinTokens: c.Mask.MinTokens,
	}
	if n := c.Policy.KeepRecentMessages; n > 0 {
		mask.Recent = compat.Tail(n)
	}
	step := reduce.Step{When: c.Mask.When, Manual: true}
	switch c.Preset {
	case presetGateway:
		mask.Since = compat.AfterRequest
	case presetHistoryReducer:
		step.Goal = policy.ToBudget
		mask.CostAsChars = c.Counting == "utf16"
		mask.BareBlocks = mask.CostAsChars
		mask.MaxChars = 0 // this preset's placeholder is the whole text
	}
	step.Stage = mask
	return step, nil
}

func (m *CompactManager) localSummary(c *Config) compat.LocalSummary {
	return compat.LocalSummary{
		Messages: c.Policy.KeepRecentMessages,
		MaxChars: c.Summarizer.MaxTokens,
		Clean:    func(s string) string { return m.redactor.Text(s).String() },
	}
}
