package compact_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/memory"
)

// A mistake of the caller is an error with a remedy, and the result has the history.
func TestMisuseIsAnErrorWithARemedy(t *testing.T) {
	var nothing context.Context
	if _, err := compact.New(nothing, compact.Config{Archive: memory.New()}); err == nil || !strings.Contains(err.Error(), "the context is nil: pass ") {
		t.Errorf("New without a context: %v, want an error with %q", err, "the context is nil: pass ")
	}
	r, history := newRig(t, compact.Config{}), loop(3, 10)
	var none *compact.CompactManager
	res, err := none.Preflight(t.Context(), "s", history)
	if err == nil || !strings.Contains(err.Error(), "check the error of New") || len(res.Messages) != len(history) {
		t.Errorf("a nil manager: %v, %v; want an error with %q", err, res, "check the error of New")
	}
	res, err = r.CompactManager.Preflight(nothing, "s", history)
	if err == nil || !strings.Contains(err.Error(), "the context is nil: pass ") || len(res.Messages) != len(history) {
		t.Errorf("without a context: %v, %v; want an error with %q", err, res, "the context is nil: pass ")
	}
	if _, err := r.CompactManager.Preflight(t.Context(), "s", history, nil); err != nil {
		t.Errorf("a nil option: %v", err)
	}
}
