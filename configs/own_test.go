package configs

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/strategy"
)

// idleStage is a stage that offers nothing.
type idleStage struct{}

func (idleStage) Name() string { return "idle" }

func (idleStage) Propose(context.Context, *policy.View) (policy.Proposal, error) {
	return policy.Proposal{}, nil
}

func TestFileNamesTheCallersStagesAndStrategy(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, strings.Repeat("ab", 32))
	tickets := strategy.Strategy{
		Name: "tickets", Sections: []strategy.Section{{Title: "Tickets"}}, Instructions: "List the tickets.",
		Extract: func(*strategy.History) []strategy.Line { return nil },
	}
	own := []Option{Environ(nil), Stages(compact.OwnStage{Stage: idleStage{}}), Strategy(tickets)}
	const file = "model: gpt-4\nstorage: {adapter: memory}\npolicy:\n  stages: [mask, idle, squeeze]\n  strategy: tickets\n"
	c, err := Parse("f.yaml", []byte(file), own...)
	if err != nil {
		t.Fatal(err)
	}
	if len(c.Stages) != 1 || c.Strategy == nil || !slices.Equal(c.Policy.Stages, []string{"mask", "idle", "squeeze"}) {
		t.Errorf("%d stages, strategy %v, policy.stages %v", len(c.Stages), c.Strategy, c.Policy.Stages)
	}
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Error(err)
	}

	for _, wrong := range []struct{ from, to, want string }{
		{"idle", "idel", `f.yaml:4: policy.stages[1] must be one of `},
		{"tickets", "ticket", `f.yaml:5: policy.strategy must be one of `},
	} {
		if _, err := Parse("f.yaml", []byte(strings.Replace(file, wrong.from, wrong.to, 1)), own...); err == nil || !strings.Contains(err.Error(), wrong.want) {
			t.Errorf("%s: %v", wrong.to, err)
		}
	}
	if c, err := Parse("f.yaml", []byte(strings.Replace(file, "tickets", "brief", 1)), own...); err != nil || c.Strategy != nil {
		t.Errorf("a file that names a built-in strategy: %v, %v", c.Strategy, err)
	}
	if _, err := Parse("f.yaml", []byte(strings.Replace(file, "[mask, idle, squeeze]", "[idle]", 1)), own...); err != nil {
		t.Errorf("a list with only the caller's own stage: %v", err)
	}
	if _, err := Parse("f.yaml", []byte(file), Environ(nil)); err == nil {
		t.Error("a program without the stage accepts its name")
	}
}
