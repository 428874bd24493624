package compact_test

import (
	"testing"
	"testing/synctest"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// A model fails three times, and then the extractive fallback writes the summary. There
// were three requests, and each event counts the requests of its own backend.
func TestAttemptsCountTheBackendsCalls(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := compact.Config{MaxContextTokens: 8_000, Summarize: &scripted{model: "small", ends: []ending{{err: &strategy.Failure{Reason: strategy.ErrTransient, Status: 503}}}}}
		c.Summarizer.MaxAttempts, c.Summarizer.Fallback = 3, summarize.FallbackExtractive
		r := newRig(t, c)
		r.preflight(loop(100, 200))
		made := r.named(trace.NameSummarize)
		if len(made) != 2 {
			t.Fatalf("%d summaries were asked for, want 2", len(made))
		}
		model, own := dataOf[trace.Summarize](t, made[0]), dataOf[trace.Summarize](t, made[1])
		created, failed := dataOf[trace.SummaryCreated](t, last(t, r, trace.NameSummaryCreated)), dataOf[trace.Error](t, last(t, r, trace.NameError))
		if model.Attempts != 3 || own.Attempts != 1 || own.Backend != summarize.BackendExtractive || created.Attempts != 3 || created.Calls != 1 || failed.Attempts != 3 {
			t.Errorf("the model says %d attempts, %s %d; created %d with %d calls; the error %d; want 3, %s, 1, 3, 1 and 3", model.Attempts, own.Backend, own.Attempts, created.Attempts, created.Calls, failed.Attempts, summarize.BackendExtractive)
		}
	})
}
