package compact

import (
	"fmt"
	"slices"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/token"
)

// epoch is everything that depends on the model: what things cost, what fits,
// and the engine. It is immutable and shared by all sessions.
type epoch struct {
	model      string
	encoding   string
	window     int
	budget     policy.Budget
	limits     policy.Limits
	estimator  *token.Estimator
	exact      bool // the tokenizer is public, or the preset counts in another unit
	calibrator *token.Calibrator
	engine     *policy.Engine
	writer     strategy.Writer
}

// epoch returns the one for a model, "" being the configured one.
func (m *CompactManager) epoch(model string) (*epoch, error) {
	if model == "" {
		model = m.cfg.Model
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if ep, ok := m.epochs[model]; ok {
		return ep, nil
	}
	ep, err := m.newEpoch(model)
	if err != nil {
		return nil, err
	}
	m.epochs[model] = ep
	return ep, nil
}

func (m *CompactManager) newEpoch(model string) (*epoch, error) {
	ep := &epoch{model: model, window: m.cfg.window(model)}
	ep.limits = m.cfg.Policy.Limits(ep.window, m.cfg.MaxOutputTokens)
	var err error
	if ep.budget, err = ep.limits.Budget(); err != nil {
		return nil, fmt.Errorf("compact: model %q: %w", model, err)
	}
	if ep.estimator, ep.encoding, err = m.estimator(model); err != nil {
		return nil, err
	}
	ep.calibrator = token.NewCalibrator(model)
	_, ep.exact = token.EncodingForModel(model)
	ep.exact = ep.exact || m.cfg.Counting != "model" || m.cfg.Counter != nil
	if ep.writer, err = m.newWriter(); err != nil {
		return nil, err
	}
	if ep.engine, err = m.newEngine(ep); err == nil && !ep.engine.HasTarget() {
		ep.budget = ep.budget.CapOnly()
	}
	return ep, err
}

func (m *CompactManager) estimator(model string) (*token.Estimator, string, error) {
	switch m.cfg.Counting {
	case "bytes4":
		return token.NewGatewayEstimator(), "bytes/4", nil
	case "utf16":
		return token.NewCharsEstimator(), "utf-16", nil
	}
	name, exact := token.EncodingForModel(model)
	counter := m.cfg.Counter
	if counter == nil {
		var err error
		if counter, err = token.ForModel(model); err != nil {
			return nil, "", err
		}
		token.Load(counter)
	}
	if !exact {
		name += " (approximation)"
	}
	e, err := token.NewEstimator(model, counter, nil)
	return e, name, err
}

// newEngine puts the stages together that the configuration names.
func (m *CompactManager) newEngine(ep *epoch) (*policy.Engine, error) {
	e := &policy.Engine{
		Pins: policy.Pins(m.cfg.Policy.RolesNeverPrune),
		Keep: policy.Keep{Turns: m.cfg.Policy.KeepRecentTurns, Pairs: m.cfg.Policy.KeepToolIOPairs},
		Cost: ep.estimator,
		Now:  m.now,

		Rigid: !slices.Contains(m.cfg.Policy.Stages, "shrink"),
	}
	for _, name := range m.cfg.Policy.Stages {
		s, err := m.step(name, ep)
		if err != nil {
			return nil, err
		}
		if s.Stage != nil {
			e.Steps = append(e.Steps, s)
		}
		e.Floors = e.Floors || name == "summarise"
		if name == "fallback" || name == "drop" {
			e.Least = (*policy.View).TailFloor
		}
	}
	return e, nil
}

// step makes one stage. shrink is no stage of its own: it is how summarise
// chooses the keep counts.
func (m *CompactManager) step(name string, ep *epoch) (policy.Step, error) {
	c := &m.cfg
	switch name {
	case "truncate":
		return policy.Step{When: c.Truncate.When, Stage: m.truncate()}, nil
	case "mask":
		return m.maskStep(), nil
	case "summarise":
		stage, err := strategy.NewStage(ep.writer)
		return policy.Step{Manual: true, Stage: stage}, err
	case "shrink":
		return policy.Step{}, nil
	case "local":
		return policy.Step{Goal: policy.ToBudget, Manual: true, Stage: m.localSummary()}, nil
	case "fallback":
		return policy.Step{Goal: policy.ToBudget, Stage: policy.Fallback{Messages: c.Policy.KeepRecentMessages}}, nil
	case "squeeze":
		return policy.Step{Goal: policy.ToBudget, Stage: policy.Squeeze{Keep: c.Truncate.Keep}}, nil
	case "groups":
		return policy.Step{Goal: policy.ToBudget, Stage: policy.Groups{Since: policy.AfterRequest}}, nil
	case "drop":
		return policy.Step{Goal: policy.ToBudget, Stage: policy.Drop{}}, nil
	case "history":
		return policy.Step{When: policy.Always, Stage: policy.History{MaxTokens: c.Policy.MaxHistoryTokens, Since: policy.AfterRequest}}, nil
	case "window":
		return policy.Step{When: policy.Always, Stage: policy.Window{Messages: policy.MessageLimit(ep.window)}}, nil
	}
	return policy.Step{}, fmt.Errorf("compact: unknown stage %q", name)
}

func (m *CompactManager) maskForm() string {
	switch {
	case m.cfg.Mask.Template != "":
		return policy.CustomForm(m.cfg.Mask.Template)
	case m.cfg.Preset == presetGateway:
		return policy.FormResult
	case m.cfg.Preset == "graduated" && m.cfg.Storage.Adapter != "memory":
		return policy.FormRecall
	}
	return policy.FormObservation
}

// forms are the templates of the user's own, which the ledger keeps.
func (m *CompactManager) forms() policy.Forms {
	if m.cfg.Mask.Template == "" {
		return nil
	}
	return policy.Forms{policy.CustomForm(m.cfg.Mask.Template): m.cfg.Mask.Template}
}
