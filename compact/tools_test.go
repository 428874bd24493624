package compact_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
)

// TestInvalidToolSchemasAreReported: calls report them once, and each plan reports
// them.
func TestInvalidToolSchemasAreReported(t *testing.T) {
	r := newRig(t, compact.Config{Model: "gpt-4o"})
	said := func(res *compact.Result) bool {
		return strings.Contains(strings.Join(res.Warnings, "\n"), "not a JSON array")
	}
	for _, tools := range []string{"", "null", "[]", ` [{"name":"x"}] `} {
		if got := r.preflight(loop(2, 50), compact.WithTools(json.RawMessage(tools))); said(got) {
			t.Errorf("a second call warns again: %q: %q", tools, got.Warnings)
		}
	}
	for _, tools := range []string{"{nope", "[", `{"name":"x"}`, "[]]"} {
		if plan, err := r.Plan(t.Context(), "s", loop(2, 50), compact.WithTools(json.RawMessage(tools))); err != nil || !said(plan) {
			t.Errorf("%q: %q, %v, want no error and a warning", tools, plan.Warnings, err)
		}
	}
	for _, want := range []bool{true, false} {
		if got := r.preflight(loop(2, 50), compact.WithTools(json.RawMessage("{nope"))); said(got) != want {
			t.Errorf("warnings %q, want a warning: %v", got.Warnings, want)
		}
	}
}
