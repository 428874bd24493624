package compact

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/token"
)

// epoch returns the epoch for a key. A key without a model means the configured model. It
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
	if ep.spareBudgets, err = spared(&cfg, ep.window, k.output); err != nil {
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

// mediaSteps returns the steps that mask media (images, audio, files), to insert before the
// named stage. There are some for the first stage other than tidy and for squeeze, and none
// if results or media are not masked.
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
// loses no information, before the first step that reduces the view to the budget and is
// not a mask.
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

// modelNamed returns the model with a name. It waits for the vocabulary until ctx
// is done.
func (m *CompactManager) modelNamed(ctx context.Context, name string) (model, error) {
	m.mu.Lock()
	if known, ok := m.models[name]; ok {
		m.mu.Unlock()
		return known, nil
	}
	l := m.loads[name]
	if l == nil {
		if !m.uses.begin() {
			m.mu.Unlock()
			return model{}, ErrClosed
		}
		l = &load{done: make(chan struct{})}
		m.loads[name] = l
		go m.load(l, name)
	}
	m.mu.Unlock()
	select {
	case <-l.done:
		return l.model, l.err
	case <-ctx.Done():
		return model{}, ctx.Err()
	}
}

// load builds a model. It does no I/O, so it needs no context.
func (m *CompactManager) load(l *load, name string) {
	defer m.uses.done()
	l.model, l.err = m.newModel(name)
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.loads, name)
	if l.err == nil {
		m.models[name] = l.model
	}
	close(l.done)
}

func (m *CompactManager) newModel(name string) (made model, err error) {
	defer m.rescue("the vocabulary", &err)
	made = model{name: name, calibrator: token.NewCalibrator(name)}
	made.estimator, made.encoding, err = m.estimator(name)
	_, made.exact = token.EncodingForModel(name)
	made.exact = made.exact || m.cfg.Counting != "model" || m.cfg.Counter != nil
	return made, err
}

// newWriter returns the configured writer of summaries.
func (m *CompactManager) newWriter(ep *epoch) (summarize.Writer, error) {
	cfg := &ep.cfg
	c := cfg.Summarizer
	w := summarize.Writer{
		Summarizer: cfg.Summarize, MaxTokens: c.MaxTokens, UserTokens: c.UserTokens, Fallback: c.Fallback, Instructions: c.Instructions,
		Redact: func(s string) string { return m.redactor.Text(s).String() }, Raw: !cfg.Redaction.Summarizer,
		Timeout: c.Timeout, Retries: c.MaxAttempts - 1, Parallel: c.Parallel,
	}
	if w.Retries == 0 {
		w.Retries = -1 // one attempt, no retry
	}
	if err := cfg.checkSummarize(""); err != nil {
		return w, err
	}
	st, err := cfg.strategyNamed(cfg.Policy.Strategy)
	w.Strategy = st.Asking(c.Sections, m.prompts[c.PromptFile])
	return w, err
}

// step returns the step of a named stage.
func (m *CompactManager) step(name string, ep *epoch) (reduce.Step, error) {
	if b, ok := builtinNamed(name); ok && b.step != nil {
		return b.step(&m.env, ep)
	}
	if own, ok := m.stages[name]; ok {
		return own.step(), nil
	}
	return reduce.Step{}, fmt.Errorf("compact: unknown stage %q", name)
}

// CallBudget returns the maximum number of tokens of a view for a call with these options,
// which follows from the model, its window and the reserved answer. It may load the
// vocabulary of the model, and honors ctx. It reads no session and stores nothing.
func (m *CompactManager) CallBudget(ctx context.Context, opts ...Option) (tokens int, err error) {
	defer m.rescue("CallBudget", &err)
	var q request
	for _, o := range opts {
		o(&q)
	}
	q.complete()
	q.overrides = m.cfg.matching(q.model, q.agent)
	ep, err := m.epoch(ctx, q.epochKey)
	if err != nil {
		return 0, err
	}
	return ep.budget.Cap, nil
}

// observing returns the configuration without anything that costs money: extractive
// summaries replace summaries of a model.
func (c Config) observing() Config {
	c.Summarize = nil
	c.Summarizer.Backend, c.Summarizer.Model, c.Summarizer.BaseURL = "extractive", "", ""
	return c
}

// withBytes inserts the steps that reduce the size of the body before the first
// step that masks media. Without such a step it inserts none.
func withBytes(steps []reduce.Step) []reduce.Step {
	at := slices.IndexFunc(steps, func(s reduce.Step) bool { return s.Stage.Name() == policy.Media{}.Name() })
	if at < 0 {
		return steps
	}
	media := steps[at].Stage.(policy.Media)
	media.Heavy, media.Deep = true, false
	deep := media
	deep.Deep = true
	return slices.Insert(steps, at, reduce.Step{Goal: reduce.ToBytes, Stage: media}, reduce.Step{Goal: reduce.InBytes, Stage: deep})
}
