package reduce

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// A staged is a stage made of functions.
type staged struct {
	propose  func(v *policy.View) (policy.Proposal, error)
	estimate func(v *policy.View) (policy.Proposal, error)
}

func (*staged) Name() string { return "staged" }
func (s *staged) Propose(_ context.Context, v *policy.View) (policy.Proposal, error) {
	return s.propose(v)
}

type estimated struct{ staged }

func (s *estimated) Estimate(v *policy.View) (policy.Proposal, error) { return s.estimate(v) }

// talk has 500 characters: a question, three answers of a hundred each, and "now" as the
// last question.
func talk() []message.Message {
	return []message.Message{message.User(strings.Repeat("q", 197)), message.Assistant(strings.Repeat("a", 100)), message.Assistant(strings.Repeat("b", 100)), message.Assistant(strings.Repeat("c", 100)), message.User("now")}
}

func start(t *testing.T, ctx context.Context, e Engine, q Request) (*Outcome, error) {
	t.Helper()
	e.Cost = charCost{}
	if q.Conversation == nil {
		q.Conversation = NewConversation(talk(), nil, nil)
	}
	return e.Run(ctx, q)
}

func dropFirst() policy.Proposal {
	return policy.Proposal{Groups: [][]policy.Edit{{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: []int{0}, Recent: 1}}}}}
}

// A step asks its stage only if the view is above the goal of the step, and tells the stage
// the goal.
func TestStepsAreDueAboveTheirGoals(t *testing.T) {
	for name, c := range map[string]struct {
		step   Step
		budget policy.Budget
		manual bool
		only   policy.When
		want   []int
	}{
		"above the target":              {Step{}, policy.Budget{Cap: 900, Target: 499}, false, "", []int{499}},
		"at the target":                 {Step{}, policy.Budget{Cap: 900, Target: 500}, false, "", nil},
		"at the cap":                    {Step{Goal: policy.ToBudget}, policy.Budget{Cap: 500, Target: 10}, false, "", nil},
		"all":                           {Step{Goal: policy.All}, policy.Budget{Cap: 900, Target: 900}, false, "", []int{-1}},
		"at every call":                 {Step{When: policy.Always}, policy.Budget{Cap: 900, Target: 900}, false, policy.Always, []int{-1}},
		"only at the trigger":           {Step{Goal: policy.All}, policy.Budget{Cap: 900, Target: 1}, false, policy.Always, nil},
		"requested":                     {Step{Manual: true}, policy.Budget{Cap: 900, Target: 900}, true, "", []int{-1}},
		"requested, but not this stage": {Step{}, policy.Budget{Cap: 900, Target: 900}, true, "", nil},
		"too many bytes without media":  {Step{Goal: ToBytes}, policy.Budget{Cap: 900, Target: 900, MaxBytes: 20, TargetBytes: 10}, false, "", nil},
	} {
		var goals []int
		c.step.Stage = &staged{propose: func(v *policy.View) (policy.Proposal, error) {
			goals = append(goals, v.Goal)
			return policy.Proposal{}, nil
		}}
		o, err := start(t, t.Context(), Engine{Steps: []Step{c.step}}, Request{Budget: c.budget, Manual: c.manual, Only: c.only})
		if err != nil || !slices.Equal(goals, c.want) || len(o.Passes) != 0 {
			t.Errorf("%s: the stage was asked for %v, want %v; %v, %+v", name, goals, c.want, err, o.Passes)
		}
	}
}

// A run that only edits at every call refuses no view: the call is not compacted, and its
// size may be within the window all the same.
func TestRunOfEachCallRefusesNoView(t *testing.T) {
	for _, floors := range []bool{false, true} {
		for only, refused := range map[policy.When]bool{policy.Always: false, policy.AtTrigger: true} {
			_, err := start(t, t.Context(), Engine{Floors: floors}, Request{Budget: policy.Budget{Cap: 300, Target: 200}, Only: only})
			if errors.Is(err, policy.ErrInsufficientBudget) != refused {
				t.Errorf("%s, floors %v: %v", only, floors, err)
			}
		}
	}
}

// An end of the context ends the run, also while a stage works. The stage's edits are not
// made, and the caller keeps the view.
func TestRunEndsWithItsContext(t *testing.T) {
	for n, before := range []bool{true, false, false} {
		ctx, cancel := context.WithCancel(t.Context())
		asked := 0
		stage := &staged{propose: func(*policy.View) (policy.Proposal, error) {
			asked++
			cancel()
			return dropFirst(), nil
		}}
		if before {
			cancel()
		}
		o, err := start(t, ctx, Engine{Steps: []Step{{Stage: stage, Goal: policy.All}, {Stage: stage, Goal: policy.All}}[n/2:]}, Request{Budget: policy.Budget{Cap: 900}})
		if !errors.Is(err, context.Canceled) || o.Changed() || o.View.Total() != 500 || asked > 1 || before && asked > 0 {
			t.Errorf("ended before the run is %v: %v, asked %d times, %+v", before, err, asked, o.Passes)
		}
	}
}

// A pass reports what a stage said, and its edits are made only if it returned no error.
func TestPassReportsTheErrorAndTheSummaryOfAStage(t *testing.T) {
	failed, panicked := errors.New("failed"), &policy.PanicError{Stage: "elsewhere", Value: "a bug"}
	for name, c := range map[string]struct {
		propose func(*policy.View) (policy.Proposal, error)
		applied int
		holds   func(Pass) bool
	}{
		"edits":              {func(*policy.View) (policy.Proposal, error) { return dropFirst(), nil }, 1, func(p Pass) bool { return p.Err == nil && p.Before == 500 && p.After == 303 }},
		"edits and an error": {func(*policy.View) (policy.Proposal, error) { return dropFirst(), failed }, 0, func(p Pass) bool { return errors.Is(p.Err, failed) && p.Proposed == 1 }},
		"groups that do not fit": {func(*policy.View) (policy.Proposal, error) {
			p := dropFirst()
			p.Groups = append(p.Groups, p.Groups[0], []policy.Edit{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: []int{1}, Recent: 2}}}, []policy.Edit{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: []int{9}}}})
			return p, nil
		}, 0, func(p Pass) bool { return errors.Is(p.Err, policy.ErrEdit) && p.Discarded && p.Proposed == 4 }},
		"a summary that was not written": {func(*policy.View) (policy.Proposal, error) {
			return policy.Proposal{Summary: &policy.SummaryInfo{Attempts: 2}}, nil
		}, 0, func(p Pass) bool { return p.Summary != nil && p.Summary.Attempts == 2 }},
		"a panic": {func(*policy.View) (policy.Proposal, error) { panic("a bug") }, 0, func(p Pass) bool {
			var e *policy.PanicError
			return errors.As(p.Err, &e) && e.Stage == "staged" && e.Value == "a bug" && strings.Contains(string(e.Stack), "TestPassReports")
		}},
		"a panic of another goroutine": {func(*policy.View) (policy.Proposal, error) { panic(panicked) }, 0, func(p Pass) bool {
			var e *policy.PanicError
			return errors.As(p.Err, &e) && e == panicked
		}},
	} {
		o, err := start(t, t.Context(), Engine{Steps: []Step{{Stage: &staged{propose: c.propose}, Goal: policy.All}}}, Request{Budget: policy.Budget{Cap: 900}})
		if err != nil || len(o.Passes) != 1 || o.Passes[0].Applied != c.applied || !c.holds(o.Passes[0]) {
			t.Errorf("%s: %v, %+v", name, err, o.Passes)
		}
	}
}

// A dry run asks a stage for its estimate, if the stage has one.
func TestDryRunAsksForEstimates(t *testing.T) {
	for _, dry := range []bool{false, true} {
		var asked []string
		ask := func(what string) func(*policy.View) (policy.Proposal, error) {
			return func(*policy.View) (policy.Proposal, error) {
				asked = append(asked, what)
				return policy.Proposal{}, nil
			}
		}
		stages := []Step{{Stage: &estimated{staged{ask("proposal"), ask("estimate")}}, Goal: policy.All}, {Stage: &staged{propose: ask("proposal")}, Goal: policy.All}}
		want := []string{"proposal", "proposal"}
		if dry {
			want[0] = "estimate"
		}
		if _, err := start(t, t.Context(), Engine{Steps: stages}, Request{Budget: policy.Budget{Cap: 900}, Estimate: dry}); err != nil || !slices.Equal(asked, want) {
			t.Errorf("dry is %v: asked for %v, %v", dry, asked, err)
		}
	}
}

// The clock of the host can run backwards. A pass then states no negative time.
func TestPassStatesItsTime(t *testing.T) {
	for _, tick := range []time.Duration{3 * time.Second, -time.Second} {
		now := time.Unix(1000, 0)
		clock := func() time.Time { now = now.Add(tick); return now }
		stage := &staged{propose: func(*policy.View) (policy.Proposal, error) { return dropFirst(), nil }}
		o, err := start(t, t.Context(), Engine{Steps: []Step{{Stage: stage, Goal: policy.All}}, Now: clock}, Request{Budget: policy.Budget{Cap: 900}})
		if err != nil || !o.Passes[0].Started.Equal(time.Unix(1000, 0).Add(tick)) || o.Passes[0].Elapsed != max(0, tick) {
			t.Errorf("%v, started %v, took %v", err, o.Passes[0].Started, o.Passes[0].Elapsed)
		}
	}
}

// A stage reads a message as it was before the run. A message that an earlier stage of the
// run made has no earlier form.
func TestUneditedReturnsMessagesOfTheRunAsTheyAre(t *testing.T) {
	notice := policy.NewNotice(1)
	first := &staged{propose: func(*policy.View) (policy.Proposal, error) {
		p := dropFirst()
		p.Groups[0][0].Cut.New = &notice
		return p, nil
	}}
	second := &staged{propose: func(v *policy.View) (policy.Proposal, error) {
		if got := v.Unedited(0).Text(); got != notice.Text() {
			t.Errorf("the notice was %q before the run", got)
		}
		if got := v.Unedited(1).Text(); got != talk()[1].Text() {
			t.Errorf("the answer was %q before the run", got)
		}
		return policy.Proposal{}, nil
	}}
	keep := policy.Keep{Turns: 1, Pairs: 2}
	if o, err := start(t, t.Context(), Engine{Steps: []Step{{Stage: first, Goal: policy.All}, {Stage: second, Goal: policy.All}}, Keep: keep}, Request{Budget: policy.Budget{Cap: 900}}); err != nil || !o.Changed() || o.Keep != keep {
		t.Fatalf("%v, %+v", err, o.Passes)
	}
}

// A step for the size in bytes is no way to save tokens: the floor does not count on it.
func TestFloorIgnoresStepsForBytes(t *testing.T) {
	c := NewConversation(browsing(4), nil, nil)
	for goal, lower := range map[policy.Goal]bool{ToBytes: false, InBytes: false, policy.ToTarget: true} {
		e := Engine{Steps: []Step{{Stage: policy.Media{Deep: true}, Goal: goal}}, Cost: pictureCost{}}
		if v := e.View(c, Request{Conversation: c}); (v.Floor() < v.Total()) != lower {
			t.Errorf("goal %d: the floor is %d of %d", goal, v.Floor(), v.Total())
		}
	}
}

// A compaction has a target if a step at the trigger works for it.
func TestHasTargetLooksAtTheStepsOfTheTrigger(t *testing.T) {
	target, budget := Step{Stage: policy.Mask{}}, Step{Stage: policy.Squeeze{}, Goal: policy.ToBudget}
	always, copies := Step{Stage: policy.Mask{}, When: policy.Always}, Step{Stage: policy.Duplicates{}, Goal: policy.ToBudget}
	capped := Step{Stage: policy.Truncate{}, When: policy.Always, Goal: policy.ToBudget}
	for name, c := range map[string]struct {
		steps []Step
		want  bool
	}{
		"none": {nil, true}, "target": {[]Step{target}, true}, "target and budget": {[]Step{target, budget}, true}, "budget and target": {[]Step{budget, target}, true},
		"budget": {[]Step{budget}, false}, "two for the budget": {[]Step{budget, budget}, false}, "every call and budget": {[]Step{always, budget, always}, false},
		"every call": {[]Step{always, capped}, true}, "copies": {[]Step{copies}, true},
	} {
		if got := (&Engine{Steps: c.steps}).HasTarget(); got != c.want {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}
