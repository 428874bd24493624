package replay

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/token"
)

func view(t *testing.T, p Policy, s *Session, window int) View {
	t.Helper()
	counter, err := token.ForModel("gpt-4o")
	if err != nil {
		t.Fatal(err)
	}
	count, err := token.NewEstimator("gpt-4o", counter, nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Begin(t.Context(), s, Env{Model: "gpt-4o", Window: window, Count: count})
	if err != nil {
		t.Fatal(err)
	}
	v, err := r.View(t.Context(), s.Messages)
	if err != nil {
		t.Fatal(err)
	}
	if len(v.Messages) != len(v.Sources) {
		t.Fatalf("%d messages with %d sources", len(v.Messages), len(v.Sources))
	}
	return v
}

func TestSlidingMasksOlderResults(t *testing.T) {
	s := session("a", 5)
	v := view(t, Sliding(2), s, 1e6)
	for i, m := range v.Messages {
		if m.ResultText() == "" {
			continue
		}
		old := i < len(v.Messages)-4
		if got := m.ResultText() == slidingMark; got != old {
			t.Errorf("message %d: masked is %v", i, got)
		}
	}
	if strings.Contains(s.Messages[3].ResultText(), slidingMark) {
		t.Error("the history was modified")
	}
}

func TestDropKeepsSystemMessagesAndTheLastTurns(t *testing.T) {
	v := view(t, DropOldest(2), session("a", 5), 1e6)
	if len(v.Messages) != 5 || v.Messages[0].Role != message.RoleSystem || v.Sources[1] != 8 {
		t.Errorf("the view is %v", v.Sources)
	}
	if v := view(t, DropOldest(9), session("a", 5), 1e6); len(v.Messages) != 12 {
		t.Errorf("with more turns than there are, %d of 12 messages are left", len(v.Messages))
	}
}

func TestSummarizeRunsAtItsShareAndIsBilled(t *testing.T) {
	s := session("a", 30)
	if v := view(t, Summarize(0.85), s, 1e6); v.Compacted || len(v.Messages) != len(s.Messages) {
		t.Error("Summarize compacts in an empty window")
	}
	v := view(t, Summarize(0.85), s, 8000)
	if !v.Compacted || v.Summary.Cached == 0 || v.Summary.Output != summaryTokens {
		t.Errorf("compacted %v, billed %+v", v.Compacted, v.Summary)
	}
	if v.Sources[1] != -1 || v.Messages[1].Role != message.RoleAssistant {
		t.Errorf("sources %v: no summary after the system message", v.Sources)
	}
}

func TestParseReference(t *testing.T) {
	for _, name := range References() {
		p, ok, err := ParseReference(name)
		if err != nil || !ok || p.Name() != name || !p.Reference() {
			t.Errorf("%s: %v, %v, %v", name, p, ok, err)
		}
	}
	if p, ok, err := ParseReference("summarise:0.4"); err != nil || !ok || p.Name() != "summarize:0.4" {
		t.Errorf("the old name: %v, %v, %v", p, ok, err)
	}
	for _, name := range []string{"raw:1", "sliding", "sliding:0", "drop:x", "drop:99999999999999999999", "sliding:-99999999999999999999", "summarize:2", "summarize:NaN", "summarize:0.5x", "summarize:0"} {
		if _, ok, err := ParseReference(name); !ok || err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
	for _, preset := range []string{"graduated", "summarize"} {
		if _, ok, err := ParseReference(preset); ok || err != nil {
			t.Errorf("%s: %v, %v", preset, ok, err)
		}
	}
}
