package policytest

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// faulty is a stage that is correct apart from the faults in its fields.
type faulty struct {
	name    func() string
	propose func(v *policy.View, p policy.Proposal) policy.Proposal
	takes   []int
}

func (f faulty) Name() string {
	if f.name == nil {
		return "faulty"
	}
	return f.name()
}

func (f faulty) Takes(*policy.View) []int { return f.takes }

func (f faulty) Propose(ctx context.Context, v *policy.View) (policy.Proposal, error) {
	p, err := policy.Drop{NoNotice: true}.Propose(ctx, v)
	if f.propose != nil {
		p = f.propose(v, p)
	}
	return p, err
}

// The subtest of each promise catches the matching fault.
func TestSuiteCatchesBrokenPromises(t *testing.T) {
	var n atomic.Int64
	dropping := func(at ...int) func(*policy.View, policy.Proposal) policy.Proposal {
		return func(v *policy.View, _ policy.Proposal) (p policy.Proposal) {
			if len(v.Messages) > 4 {
				p.Groups = [][]policy.Edit{{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: at, Recent: at[0]}}}}
			}
			return p
		}
	}
	for promise, s := range map[string]policy.Stage{
		"KeepsItsName": faulty{name: func() string { return strings.Repeat("x", int(n.Add(1))) }},
		"DoesNotModifyTheView": faulty{propose: func(v *policy.View, p policy.Proposal) policy.Proposal {
			if len(v.Messages) > 0 {
				v.Messages[0].Parts[0].Text += "!"
			}
			return p
		}},
		"ProposesTheSame": faulty{propose: func(_ *policy.View, p policy.Proposal) policy.Proposal {
			if n.Add(1)%2 == 0 {
				p.Groups = nil
			}
			return p
		}},
		"ServesManyAtOnce": faulty{propose: func(_ *policy.View, p policy.Proposal) policy.Proposal {
			p.Groups = p.Groups[:min(len(p.Groups), int(n.Add(1)))]
			return p
		}},
		"ComesBack":        faulty{propose: func(*policy.View, policy.Proposal) policy.Proposal { panic("a fault") }},
		"KeepsThePromises": faulty{propose: dropping(1)},
		"ComesToRest":      restlessStage{},
		"AlternativesFreeNoFewer": faulty{propose: func(_ *policy.View, p policy.Proposal) policy.Proposal {
			if k := len(p.Groups); k > 1 {
				p.Groups[0], p.Groups[k-1] = p.Groups[k-1], p.Groups[0]
			}
			return p
		}},
		"TakesWhatItSays": faulty{takes: []int{0}},
	} {
		n.Store(0)
		caught := false
		for _, c := range cases {
			for _, v := range views() {
				caught = caught || c.name == promise && c.check(s, v) != nil
			}
		}
		if !caught {
			t.Errorf("%s: the suite accepts a stage that breaks the promise", promise)
		}
	}
}

func TestSuiteReportsAPanicWithItsStack(t *testing.T) {
	s := faulty{propose: func(v *policy.View, p policy.Proposal) policy.Proposal {
		if len(v.Messages) == 0 {
			panic("a fault")
		}
		return p
	}}
	if err := panics(s); err == nil || !strings.Contains(err.Error(), "nothing: policy: stage faulty panicked: a fault\n") || !strings.Contains(err.Error(), "faults_test.go") {
		t.Errorf("got %v, want the panic of the stage with its stack", err)
	}
	if err := panics(faulty{}); err != nil {
		t.Error(err)
	}
}

// restlessStage removes one word of a text in every run.
type restlessStage struct{}

func (restlessStage) Name() string { return "restless" }

func (restlessStage) Propose(_ context.Context, v *policy.View) (p policy.Proposal, err error) {
	for i := range v.Messages {
		text := v.Messages[i].Parts[0].Text
		if at := strings.LastIndexByte(text, ' '); at > 0 && v.Messages[i].Role == message.RoleTool && i < v.Open && !v.Pinned[i] {
			p.Groups = append(p.Groups, []policy.Edit{{Decision: policy.Truncated, Text: &policy.TextEdit{Index: i, Segments: []policy.Segment{{To: at}}}}})
			return p, nil
		}
	}
	return p, nil
}

func TestConversationsCoverManyShapes(t *testing.T) {
	open, protected, orphans := 0, 0, 0
	for _, v := range views() {
		if v.Open < len(v.Messages) {
			open++
		}
		for i := range v.Messages {
			if v.Messages[i].Protected {
				protected++
			}
			if v.Messages[i].Role == message.RoleTool && v.RoundOf(i) != v.RoundOf(max(i-1, 0)) {
				orphans++
			}
		}
	}
	if open == 0 || protected == 0 || orphans == 0 {
		t.Errorf("%d open rounds, %d protected messages, %d orphan results", open, protected, orphans)
	}
}
