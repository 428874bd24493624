package compact_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
)

// A failed stage and a stage whose edits were refused are distinguished.
func TestErrorsOfStagesNameTheFailure(t *testing.T) {
	failed := stageOf(func(context.Context, *policy.View) (policy.Proposal, error) {
		return policy.Proposal{}, errors.New("no rules for polls")
	})
	torn := stageOf(func(_ context.Context, v *policy.View) (policy.Proposal, error) {
		// a result without its call
		return policy.Proposal{Groups: [][]policy.Edit{{{Decision: policy.Dropped, Cut: &policy.Cut{Removed: []int{3}, Recent: 4}}}}}, nil
	})
	for want, stage := range map[string]stageOf{"StageFailed": failed, "StageDiscarded": torn} {
		r := newRig(t, ownConfig(stage, memory.New()))
		r.preflight(pollHistory())
		e := dataOf[trace.Error](t, last(t, r, trace.NameError))
		if e.ErrorType != want || e.Stage != "polls" || want == "StageFailed" && !strings.Contains(e.Message, "no rules for polls") {
			t.Errorf("%s: %+v", want, e)
		}
	}
}

// The log with the reason for removing nothing is written when the archive works again.
func TestAuditLogRecordsArchiveFailures(t *testing.T) {
	a := &storing{Archive: memory.New(), err: errors.New("disk full")}
	r := newRig(t, compact.Config{MaxContextTokens: 8_000, Archive: a})
	r.archive = a.Archive
	if _, err := r.Preflight(t.Context(), "s", loop(60, 200)); !errors.Is(err, compact.ErrArchiveFailed) {
		t.Fatal(err)
	}
	lines := lateEvents(r)
	if !slices.ContainsFunc(lines, func(l string) bool {
		return strings.Contains(l, `"name":"compact.archival"`) && strings.Contains(l, `"status":"error"`) && strings.Contains(l, `"archived_count":0`)
	}) {
		t.Errorf("no line of %d reports the failed transcript: %s", len(lines), strings.Join(lines, "\n"))
	}
}

func TestResultNamesTheCountingMethod(t *testing.T) {
	for model, want := range map[string]string{"gpt-4o": "o200k_base", "gpt-4": "cl100k_base", "claude-sonnet-4-5": "cl100k_base (approximation)", "nobody-knows-it": "o200k_base (approximation)"} {
		res := newRig(t, compact.Config{Model: model, MaxContextTokens: 64_000}).preflight(loop(3, 50))
		if res.CountingUnit != want {
			t.Errorf("%s is counted with %q, want %q", model, res.CountingUnit, want)
		}
	}
}
