package compact

import (
	"context"
	"slices"
	"testing"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
)

// namedStage is a stage that has a name and proposes nothing.
type namedStage string

func (c namedStage) Name() string { return string(c) }

func (namedStage) Propose(context.Context, *policy.View) (policy.Proposal, error) {
	return policy.Proposal{}, nil
}

// Each row of the table of stages makes the stage with the row's name. The name is
// reserved, so that callers can't use it.
func TestTableOfStagesMakesTheNamedStages(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4", Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(t.Context()) })
	ep := &epoch{cfg: m.cfg}
	for _, b := range builtins {
		if err := (Config{Stages: []OwnStage{{Stage: namedStage(b.name)}}}).checkStages(); err == nil {
			t.Errorf("a caller's stage may have the name %s", b.name)
		}
		if b.step == nil {
			if slices.Contains(StageNames(), b.name) {
				t.Errorf("policy.stages accepts %s, but the table has no such stage", b.name)
			}
			continue
		}
		if b.name == "summarize" || b.name == "shrink" { // the first needs a summarizer, the second does not exist
			continue
		}
		s, err := m.step(b.name, ep)
		if err != nil || s.Stage == nil || s.Stage.Name() != b.name {
			t.Errorf("%s makes %v, %v", b.name, s.Stage, err)
		}
	}
	if _, err := m.step("media", ep); err == nil {
		t.Error("the table makes the stage media, although the manager adds it by itself")
	}
}
