package compact_test

import (
	"context"
	"slices"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
	"github.com/agentcompact/compact/storage/memory"
)

// A compaction reaches the target and stops there: the test measures the cost of views
// as a share of the target, over recorded sessions, at the steps whose last stage was
// the summary. The test uses a sample of the sessions, and all sessions with
// COMPACT_SOAK=1.
func TestSoakViewOverTarget(t *testing.T) {
	every := samples.Every(5)
	if soak() {
		every = 1
	}
	for _, window := range []int{32_000, 128_000}[:samples.Of(2)] {
		var shares []float64
		n := 0
		for _, data := range corpus.Some(t, "chat", func() bool { n++; return n%every == 0 }) {
			msgs, _, err := openai.Parse(data)
			if err != nil {
				t.Fatal(err)
			}
			shares = append(shares, sharesOfTarget(t, msgs, window)...)
		}
		if len(shares) == 0 {
			t.Logf("window %d: no summary", window)
			continue
		}
		slices.Sort(shares)
		at := func(q int) float64 { return shares[(len(shares)-1)*q/100] }
		t.Logf("window %d: %d summaries, view/target median %.3f, quartiles %.3f and %.3f, %.3f to %.3f",
			window, len(shares), at(50), at(25), at(75), at(0), at(100))
		if m := at(50); m < 0.85 || m > 1 {
			t.Errorf("window %d: the median is %.3f, want 0.85 to 1", window, m)
		}
	}
}

// sharesOfTarget makes the calls of a session, and returns the cost of the view
// of each summarizing step as a share of the target.
func sharesOfTarget(t *testing.T, history []message.Message, window int) (shares []float64) {
	m, err := compact.New(context.Background(), compact.Config{Model: propertyModel, MaxContextTokens: window, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	for i := range history {
		if history[i].Role != message.RoleAssistant {
			continue
		}
		res, err := m.Preflight(context.Background(), "s", history[:i])
		if err != nil {
			break // from here on, the history is too large for the window
		}
		if res.Triggered && lastStage(res) == summarize.StageName && res.Summary != nil {
			shares = append(shares, float64(res.After.Total)/float64(res.Target))
		}
	}
	return shares
}

// lastStage returns the last stage that edited something.
func lastStage(res *compact.Result) string {
	for _, s := range slices.Backward(res.Stages) {
		if s.Edits > 0 {
			return s.Stage
		}
	}
	return ""
}
