package compact

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"sync/atomic"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

var stageName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// checkStages returns the errors in the caller's own stages.
func (c Config) checkStages() error {
	var errs []error
	var names []string
	for i, s := range c.Stages {
		at := fmt.Sprintf("Stages[%d]", i)
		if s.Stage == nil {
			errs = append(errs, &ConfigError{Path: at, Reason: "has no Stage"})
			continue
		}
		name := s.Stage.Name()
		_, ours := builtinNamed(name)
		switch {
		case !stageName.MatchString(name):
			errs = append(errs, &ConfigError{Path: at, Value: name, Reason: "the name of a stage is one word of a-z, 0-9, _ and - that begins with a letter, 40 characters at most"})
		case ours:
			errs = append(errs, &ConfigError{Path: at, Value: name, Reason: "is the name of a built-in stage"})
		case slices.Contains(names, name):
			errs = append(errs, &ConfigError{Path: at, Value: name, Reason: "is also the name of another entry of Stages"})
		}
		if s.When != "" && s.When != policy.AtTrigger && s.When != policy.Always {
			errs = append(errs, &ConfigError{Path: at + ".When", Value: s.When, Reason: "must be one of trigger, always"})
		}
		if s.Goal > policy.All || s.Timeout < 0 {
			errs = append(errs, &ConfigError{Path: at, Value: name, Reason: "has an unknown Goal or a negative Timeout"})
		}
		names = append(names, name)
	}
	return errors.Join(errs...)
}

// isOwn reports whether a stage of the caller has this name.
func (c *Config) isOwn(name string) bool {
	return slices.ContainsFunc(c.Stages, func(s OwnStage) bool { return s.Stage != nil && s.Stage.Name() == name })
}

// stageNames returns the names of all stages in the configured order. The engine moves
// tidy to the beginning and squeeze to the end. The caller's stages that policy.stages does not name come first.
func (c *Config) stageNames() (all []string) {
	for _, s := range c.Stages {
		if name := s.Stage.Name(); !slices.Contains(c.Policy.Stages, name) {
			all = append(all, name)
		}
	}
	return append(all, c.Policy.Stages...)
}

// among returns the stage for a run over a history.
func (s *ownStage) among(history []message.Message) *ownStage {
	t := *s
	t.history = history
	return &t
}

// step returns the engine's step for the stage.
func (s *ownStage) step() reduce.Step {
	step := reduce.Step{Stage: s, When: s.When, Goal: s.Goal, Manual: s.Goal == policy.ToTarget}
	if _, ok := s.Stage.(policy.Taker); ok {
		step.Stage = ownTaker{s}
	}
	return step
}

// Name returns the name that the stage had when the manager was created.
func (s *ownStage) Name() string { return s.name }

// Propose calls the stage, and checks its proposal.
func (s *ownStage) Propose(ctx context.Context, v *policy.View) (policy.Proposal, error) {
	p, err := answer(ctx, s, v, s.Stage.Propose)
	if err != nil {
		return policy.Proposal{}, err
	}
	return s.judged(v, p)
}

// Estimate returns the proposal for a dry run, which must not cost money. A stage that is
// no [policy.Estimator] makes its normal proposal.
func (s *ownStage) Estimate(v *policy.View) (policy.Proposal, error) {
	est, ok := s.Stage.(policy.Estimator)
	if !ok {
		return s.Propose(context.Background(), v)
	}
	p, err := answer(context.Background(), s, v, func(_ context.Context, v *policy.View) (policy.Proposal, error) { return est.Estimate(v) })
	if err != nil {
		return policy.Proposal{}, err
	}
	return s.judged(v, p)
}

// ownTaker is an ownStage that implements policy.Taker.
type ownTaker struct{ *ownStage }

// Takes returns the messages that the stage names and that can be removed.
func (s ownTaker) Takes(v *policy.View) []int {
	at, err := answer(context.Background(), s.ownStage, v, func(_ context.Context, v *policy.View) ([]int, error) {
		return s.Stage.(policy.Taker).Takes(v), nil
	})
	if err != nil {
		return nil
	}
	return slices.DeleteFunc(slices.Clone(at), func(i int) bool {
		return i < 0 || i >= v.Open || i == v.Anchor || v.Pinned[i]
	})
}

// answer calls a stage with a copy of v in another goroutine, because it can
// panic, modify its input, or never return.
func answer[T any](ctx context.Context, s *ownStage, v *policy.View, ask func(context.Context, *policy.View) (T, error)) (none T, err error) {
	if s.stuck.Load() {
		return none, fmt.Errorf("compact: stage %s is skipped: an earlier call has not returned yet", s.name)
	}
	limit, cancel := context.WithTimeout(ctx, s.Timeout)
	defer cancel()
	copied := v.Copy()
	type reply struct {
		T   T
		err error
	}
	done := make(chan reply, 1)
	var given atomic.Bool
	go func() {
		r := reply{err: fmt.Errorf("compact: stage %s ended its goroutine", s.name)}
		defer func() {
			if p := recover(); p != nil {
				r.err = &policy.PanicError{Stage: s.name, Value: p, Stack: debug.Stack()}
			}
			if !given.CompareAndSwap(false, true) { // the call has timed out
				s.stuck.Store(false)
			}
			done <- r
		}()
		r.T, r.err = ask(limit, copied)
	}()
	select {
	case r := <-done:
		return r.T, r.err
	case <-limit.Done():
	}
	s.stuck.Store(true)
	if !given.CompareAndSwap(false, true) { // the stage returned at the same time
		s.stuck.Store(false)
	}
	if ctx.Err() != nil {
		return none, ctx.Err()
	}
	return none, fmt.Errorf("compact: stage %s did not return within %s", s.name, s.Timeout)
}
