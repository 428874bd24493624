package main

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy/policytest"
)

func TestStage(t *testing.T) { policytest.Run(t, Polls{}) }

func TestOnlyOldAnswersAreMasked(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, strings.Repeat("ab", 32))
	var out strings.Builder
	if err := run(t.Context(), &out, t.TempDir()); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.HasPrefix(got, "polls: ") || strings.Count(got, "\n") != 2 || strings.Contains(got, "63 of 63") {
		t.Errorf("the stage should be the only one that worked:\n%s", got)
	}
}
