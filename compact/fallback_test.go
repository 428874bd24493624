package compact_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// refuser refuses every request, except one for a brief summary if brief is
// set.
type refuser struct{ brief bool }

func (r refuser) Summarize(_ context.Context, q strategy.Request) (strategy.Draft, error) {
	if r.brief && q.Strategy.Name == "brief" {
		return strategy.Draft{Text: "## Summary\n- pkg/file_3.go was read"}, nil
	}
	return strategy.Draft{Text: "I apologize, but I can't, password: hunter2x7Q9."}, nil
}

// The failure is in the result, without secrets, and the event names the
// fallback.
func TestFailuresAreInTheWarnings(t *testing.T) {
	for fallback, test := range map[string]struct {
		brief bool
		want  string
	}{
		summarize.FallbackPruning:    {false, "a notice replaces the removed messages (summarizer.fallback: pruning-only)"},
		summarize.FallbackExtractive: {false, "an extractive summary, which no model wrote, replaces it"},
		summarize.FallbackBrief:      {true, "a summary with the strategy brief replaces it"},
	} {
		t.Run(fallback, func(t *testing.T) {
			c := compact.Config{MaxContextTokens: 16_000, Summarize: refuser{test.brief}}
			if fallback == summarize.FallbackExtractive {
				c.Summarizer.Fallback = fallback
			}
			r := newRig(t, c)
			res := r.preflight(loop(250, 200))
			said := strings.Join(res.Warnings, "\n")
			if !strings.Contains(said, test.want) || !strings.Contains(said, "the model refused") || strings.Contains(said, "hunter2") {
				t.Errorf("warnings: %s, want text with %q, text with %q and text without %q", said, test.want, "the model refused", "hunter2")
			}
			if (res.Summary != nil) != (fallback != summarize.FallbackPruning) {
				t.Errorf("summary %v", res.Summary)
			}
			events := r.named(trace.NameError)
			if len(events) != 1 || !strings.Contains(events[0].Data.String(), fmt.Sprintf(`"fallback":%q`, fallback)) {
				t.Errorf("%d events: %v, want 1", len(events), events)
			}
		})
	}
}
