package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/token"
)

// model holds what depends only on the model's name. It is shared by all
// sessions.
type model struct {
	name       string
	encoding   string
	estimator  *token.Estimator
	exact      bool // the tokenizer is public, or the preset counts in another unit
	calibrator *token.Calibrator
}

// epoch holds counting, prices, budget and engine for calls with the same
// model, window and output limit. It is immutable and shared by all sessions.
type epoch struct {
	model
	cfg      Config // configuration with the overrides for the calls
	key      epochKey
	card     price.Card // prices of calls
	priceErr error      // reason why the configured prices are not used
	window   int
	spare
	engine *reduce.Engine
	writer summarize.Writer
}

// epochKey holds the options of a call that select its epoch.
type epochKey struct {
	model  string
	window int // tokens; 0 = looked up
	output int // reserved output tokens; 0 = as configured

	observe bool // the call is only observed, see WithObserve

	overrides string // the matching overrides, as returned by Config.matching
}

// maxEpochs limits the number of epochs in memory, because requests can name
// any model.
const maxEpochs = 256

// epoch returns the epoch for a key; the model "" is the configured one. It
// waits for the vocabulary of the model until ctx is done.
func (m *CompactManager) epoch(ctx context.Context, k epochKey) (*epoch, error) {
	if k.model == "" {
		k.model = m.cfg.Model
	}
	m.mu.Lock()
	ep, ok := m.epochs[k]
	m.mu.Unlock()
	if ok {
		return ep, nil
	}
	ep, err := m.newEpoch(ctx, k)
	if err != nil {
		return nil, err
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	if other, ok := m.epochs[k]; ok {
		return other, nil
	}
	if len(m.epochs) >= maxEpochs {
		clear(m.epochs)
		clear(m.models)
	}
	m.epochs[k] = ep
	m.models[ep.model.name] = ep.model
	return ep, nil
}

func (m *CompactManager) newEpoch(ctx context.Context, k epochKey) (*epoch, error) {
	cfg, err := m.cfg.overridden(k.model, k.overrides)
	if err != nil {
		return nil, err
	}
	if k.observe {
		cfg = cfg.observing()
	}
	ep := &epoch{key: k, cfg: cfg, window: cfg.window(k.model)}
	ep.card, ep.priceErr = cfg.Prices.card(k.model)
	if k.window > 0 {
		ep.window = min(ep.window, k.window)
	}
	if ep.spare, err = spared(&cfg, ep.window, k.output); err != nil {
		return nil, fmt.Errorf("compact: model %q: %w", k.model, err)
	}
	if ep.model, err = m.modelNamed(ctx, k.model); err != nil {
		return nil, err
	}
	if ep.writer, err = m.newWriter(ep); err != nil {
		return nil, err
	}
	if ep.engine, err = m.newEngine(ep); err == nil && !ep.engine.HasTarget() {
		ep.budget, ep.lifted = ep.budget.CapOnly(), ep.lifted.CapOnly()
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

// newEngine returns an engine with the configured stages.
func (m *CompactManager) newEngine(ep *epoch) (*reduce.Engine, error) {
	c := &ep.cfg
	e := &reduce.Engine{
		Pins: policy.Pins(c.Policy.RolesNeverPrune),
		Keep: policy.Keep{Turns: c.Policy.KeepRecentTurns, Pairs: c.Policy.KeepToolIOPairs},
		Cost: ep.estimator,
		Now:  m.now,

		Name:     stagesName(c),
		Rigid:    !slices.Contains(c.Policy.Stages, "shrink"),
		Dispatch: c.Mask.DispatchTools,
	}
	for _, name := range tidyFirst(squeezeLast(c.stageNames())) {
		e.Steps = append(e.Steps, mediaSteps(c, name, e.Steps)...)
		s, err := m.step(name, ep)
		if err != nil {
			return nil, err
		}
		if s.Stage != nil {
			e.Steps = append(e.Steps, s)
		}
		e.Floors = e.Floors || name == "summarize"
	}
	e.Steps = withBytes(withDuplicates(e.Steps))
	return e, nil
}

// mediaSteps returns the steps that mask images and files before the named stage:
// before the first stage that changes texts at the trigger, and again before the last
// resort. It returns no names if results are not masked.
func mediaSteps(c *Config, name string, before []reduce.Step) []reduce.Step {
	if !c.Mask.Media || !slices.Contains(c.Policy.Stages, "mask") {
		return nil
	}
	media := policy.Media{ExcludeTools: c.Mask.ExcludeTools}
	first := !slices.ContainsFunc(before, func(s reduce.Step) bool { return s.Stage.Name() == media.Name() })
	switch {
	case name == "squeeze":
		media.Deep = true
		return []reduce.Step{{Goal: policy.ToBudget, Stage: media}}
	case first && name != tidy.StageName:
		return []reduce.Step{{Manual: true, Stage: media}}
	}
	return nil
}

// withDuplicates inserts the stage that removes copies of system messages, which
// loses no information, before the first step toward the budget that is not a
// mask.
func withDuplicates(steps []reduce.Step) []reduce.Step {
	at := slices.IndexFunc(steps, func(s reduce.Step) bool {
		_, mask := s.Stage.(policy.Mask)
		return s.Goal == policy.ToBudget && !mask
	})
	if at < 0 {
		at = len(steps)
	}
	return slices.Insert(steps, at, reduce.Step{Goal: policy.ToBudget, Stage: policy.Duplicates{}})
}

// squeezeLast returns the names of stages with squeeze at the end, because it
// is the last resort.
func squeezeLast(names []string) []string {
	squeeze := func(name string) bool { return name == "squeeze" }
	if !slices.ContainsFunc(names, squeeze) {
		return names
	}
	return append(slices.DeleteFunc(slices.Clone(names), squeeze), "squeeze")
}

// stagesName names the configured stages in errors.
func stagesName(c *Config) string {
	if base, err := Preset(c.Preset); err == nil && slices.Equal(base.Policy.Stages, c.Policy.Stages) {
		return "preset " + base.Preset
	}
	return "the stages " + strings.Join(c.Policy.Stages, ", ")
}

func (ep *epoch) maskForm() string {
	c := &ep.cfg
	switch {
	case c.Mask.Template != "":
		return formname.Custom(c.Mask.Template)
	case c.Preset == presetGateway:
		return formname.Result
	case (c.Preset == "graduated" || c.Preset == presetEconomy) && c.Storage.Adapter != "memory" && !c.Mask.Plain:
		return formname.Call
	}
	return formname.Observation
}

func (ep *epoch) forms() policy.Forms { return forms(&ep.cfg) }

// forms returns the user's own templates, which the ledger stores.
func forms(c *Config) policy.Forms {
	if c.Mask.Template == "" {
		return nil
	}
	return policy.Forms{formname.Custom(c.Mask.Template): c.Mask.Template}
}
