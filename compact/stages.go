package compact

import (
	"slices"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/policy/tidy"
)

// A builtin is a built-in stage. To add one, add a line to builtins.
type builtin struct {
	name string
	// step returns the configured stage; nil for a stage that the manager adds by
	// itself and policy.stages cannot name.
	step func(*env, *epoch) (reduce.Step, error)
	// tells chooses the event for texts that the stage edited.
	tells textEvent
}

// textEvent is a kind of event for the texts that a stage edited.
type textEvent int

// The kinds of events for texts.
const (
	noTextEvent textEvent = iota // for a stage that only removes messages
	tellsTidied
	tellsTruncated
	tellsMasked
)

// builtins are all built-in stages, in the order of errors and reports.
var builtins = []builtin{
	{tidy.StageName, tidyStep, tellsTidied},
	{"window", windowStep, noTextEvent},
	{"truncate", truncateStep, tellsTruncated},
	{policy.Media{}.Name(), nil, tellsMasked},
	{"mask", maskStep, tellsMasked},
	{"history", historyStep, noTextEvent},
	{summarize.StageName, summarizeStep, noTextEvent},
	{"shrink", shrinkStep, noTextEvent},
	{"local", localStep, noTextEvent},
	{"fallback", fallbackStep, noTextEvent},
	{"groups", groupsStep, noTextEvent},
	{"drop", dropStep, noTextEvent},
	{policy.Duplicates{}.Name(), nil, noTextEvent},
	{"squeeze", squeezeStep, tellsTruncated},
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

func tidyStep(_ *env, ep *epoch) (reduce.Step, error) {
	return reduce.Step{When: policy.Always, Stage: tidyStage(&ep.cfg)}, nil
}

func windowStep(_ *env, ep *epoch) (reduce.Step, error) {
	return reduce.Step{When: policy.Always, Stage: compat.Window{Messages: compat.MessageLimit(ep.window)}}, nil
}

func truncateStep(_ *env, ep *epoch) (reduce.Step, error) {
	return reduce.Step{When: ep.cfg.Truncate.When, Stage: truncate(&ep.cfg)}, nil
}

func historyStep(_ *env, ep *epoch) (reduce.Step, error) {
	return reduce.Step{When: policy.Always, Stage: compat.History{MaxTokens: ep.cfg.Policy.MaxHistoryTokens, Since: compat.AfterRequest}}, nil
}

func summarizeStep(_ *env, ep *epoch) (reduce.Step, error) {
	stage, err := summarize.NewStage(ep.writer)
	return reduce.Step{Manual: true, Stage: stage}, err
}

// shrinkStep has no stage, because shrink only permits summarize to choose smaller keep
// counts.
func shrinkStep(*env, *epoch) (reduce.Step, error) { return reduce.Step{}, nil }

func localStep(e *env, ep *epoch) (reduce.Step, error) {
	return reduce.Step{Goal: policy.ToBudget, Manual: true, Stage: e.localSummary(&ep.cfg)}, nil
}

func fallbackStep(_ *env, ep *epoch) (reduce.Step, error) {
	return reduce.Step{Goal: policy.ToBudget, Stage: compat.Fallback{Messages: ep.cfg.Policy.KeepRecentMessages}}, nil
}

func groupsStep(*env, *epoch) (reduce.Step, error) {
	return reduce.Step{Goal: policy.ToBudget, Stage: compat.Groups{Since: compat.AfterRequest}}, nil
}

func dropStep(*env, *epoch) (reduce.Step, error) {
	return reduce.Step{Goal: policy.ToBudget, Stage: policy.Drop{}}, nil
}

func squeezeStep(*env, *epoch) (reduce.Step, error) {
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
func maskStep(_ *env, ep *epoch) (reduce.Step, error) {
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

func (e *env) localSummary(c *Config) compat.LocalSummary {
	return compat.LocalSummary{
		Messages: c.Policy.KeepRecentMessages,
		MaxChars: c.Summarizer.MaxTokens,
		Clean:    func(s string) string { return e.redactor.Text(s).String() },
	}
}

func tidyStage(c *Config) tidy.Stage {
	return tidy.Stage{Options: tidy.Options{Large: c.Tidy.LargeTokens, Off: c.Tidy.Off}, ExcludeTools: c.Tidy.ExcludeTools}
}

// tidyFirst returns the names of stages with tidy first, so that the others see
// the reduced results.
func tidyFirst(names []string) []string {
	if !slices.Contains(names, tidy.StageName) {
		return names
	}
	others := slices.DeleteFunc(slices.Clone(names), func(s string) bool { return s == tidy.StageName })
	return append([]string{tidy.StageName}, others...)
}
