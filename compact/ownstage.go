package compact

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"runtime/debug"
	"slices"
	"sync/atomic"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// OwnStage is a stage of the caller's own, see [Config.Stages]. What it proposes is
// judged like what our own stages propose: pinned messages, the last user message
// and the open round stay, calls and results stay together, nothing gets larger,
// and what the provider would refuse is not sent. A proposal that breaks a promise,
// a panic, an error and a proposal that does not come in time cost nothing but the
// proposal: the other stages go on, and the result says what happened
// ([Result.Warnings]).
type OwnStage struct {
	// Stage proposes the edits. It gets a copy of the view, so that nothing it does
	// reaches the history. Its name is one word (a-z, 0-9, _ and -), and no other
	// stage's. [policy.Estimator] and [policy.Taker] are asked where it is one.
	//
	// An edit of a text is made of ranges of the old text, literals of at most 200
	// bytes that stand in no text of the history (at most 50 different ones of more
	// than 16 bytes), and marks ([policy.Mask.Edit] makes one). A cut removes whole rounds, and puts nothing in their place, or a notice
	// ([policy.NewNotice]). One proposal has edits of texts, all of one decision, or cuts.
	Stage policy.Stage
	// When is "trigger" (at a compaction) or "always" (at every call); default
	// "trigger".
	When policy.When
	// Goal is how far the stage goes: to the target, to the budget where the view is
	// above it, or all that it offers. Default to the target.
	Goal policy.Goal
	// Timeout bounds one question to the stage; default 10s. A stage that did not
	// answer is left out until it has.
	Timeout time.Duration
}

const (
	ownStageTimeout = 10 * time.Second
	maxLiteral      = 200     // bytes
	chanceLiteral   = 16      // bytes; everybody writes so much by chance
	maxLiterals     = 50      // longer ones that differ; each is searched for in the whole history
	maxOwnWork      = 4 << 20 // messages that all edits of a proposal name together
)

var stageName = regexp.MustCompile(`^[a-z][a-z0-9_-]{0,39}$`)

// checkStages says what is wrong with the stages of the caller's own.
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
			errs = append(errs, &ConfigError{Path: at, Value: name, Reason: "the name of a stage is one word of a-z, 0-9, _ and -, 40 characters at most"})
		case ours:
			errs = append(errs, &ConfigError{Path: at, Value: name, Reason: "is the name of a stage that there is already"})
		case slices.Contains(names, name):
			errs = append(errs, &ConfigError{Path: at, Value: name, Reason: "is the name of another one of Stages"})
		}
		if s.When != "" && s.When != policy.AtTrigger && s.When != policy.Always {
			errs = append(errs, &ConfigError{Path: at + ".When", Value: s.When, Reason: "must be one of trigger, always"})
		}
		if s.Goal > policy.All || s.Timeout < 0 {
			errs = append(errs, &ConfigError{Path: at, Value: name, Reason: "has a Goal that there is not, or a negative Timeout"})
		}
		names = append(names, name)
	}
	return errors.Join(errs...)
}

// isOwn reports whether a stage of the caller's own has this name.
func (c *Config) isOwn(name string) bool {
	return slices.ContainsFunc(c.Stages, func(s OwnStage) bool { return s.Stage != nil && s.Stage.Name() == name })
}

// stageNames returns the names of all stages in the order in which they work:
// those of the caller's own that policy.stages does not name come first.
func (c *Config) stageNames() (all []string) {
	for _, s := range c.Stages {
		if name := s.Stage.Name(); !slices.Contains(c.Policy.Stages, name) {
			all = append(all, name)
		}
	}
	return append(all, c.Policy.Stages...)
}

// ownStage is a stage of the caller's own behind what keeps its faults from the
// history.
type ownStage struct {
	OwnStage
	name  string
	clean func(string) string // redacts
	stuck *atomic.Bool        // a question to it was given up, and is not answered yet

	history []message.Message // that the run is of; nil = as the view has it
}

// among returns the stage for a run over a history.
func (s *ownStage) among(history []message.Message) *ownStage {
	t := *s
	t.history = history
	return &t
}

func (m *CompactManager) ownStages(c Config) map[string]*ownStage {
	all := map[string]*ownStage{}
	for _, s := range c.Stages {
		if s.Timeout == 0 {
			s.Timeout = ownStageTimeout
		}
		name := s.Stage.Name()
		all[name] = &ownStage{OwnStage: s, name: name, stuck: new(atomic.Bool), clean: func(text string) string { return m.redactor.Text(text).String() }}
	}
	return all
}

// step is the step of the engine that asks the stage.
func (s *ownStage) step() policy.Step {
	step := policy.Step{Stage: s, When: s.When, Goal: s.Goal, Manual: s.Goal == policy.ToTarget}
	if _, ok := s.Stage.(policy.Taker); ok {
		step.Stage = ownTaker{s}
	}
	return step
}

// Name returns the name that the stage had when the manager was made.
func (s *ownStage) Name() string { return s.name }

// Propose asks the stage, and judges what it says.
func (s *ownStage) Propose(ctx context.Context, v *policy.View) (policy.Proposal, error) {
	p, err := answer(ctx, s, v, s.Stage.Propose)
	if err != nil {
		return policy.Proposal{}, err
	}
	return s.judged(v, p)
}

// Estimate is Propose for dry runs, where the stage says what it would do without
// spending anything.
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

// ownTaker is an ownStage that says what it takes out at most.
type ownTaker struct{ *ownStage }

// Takes returns those of what the stage says that may be taken out.
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

// answer puts a question about a copy of v to a stage, beside the call: it may
// panic, change what it is given, or never come back.
func answer[T any](ctx context.Context, s *ownStage, v *policy.View, ask func(context.Context, *policy.View) (T, error)) (none T, err error) {
	if s.stuck.Load() {
		return none, fmt.Errorf("compact: stage %s is left out: it has not come back from an earlier call", s.name)
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
			if !given.CompareAndSwap(false, true) { // nobody waits any more
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
	if !given.CompareAndSwap(false, true) { // it came back just now
		s.stuck.Store(false)
	}
	if ctx.Err() != nil {
		return none, ctx.Err()
	}
	return none, fmt.Errorf("compact: stage %s did not come back within %s", s.name, s.Timeout)
}
