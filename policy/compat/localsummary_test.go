package compat_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/running"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/compat"
	"github.com/agentcompact/compact/token"
)

// summaryOf returns the body of the summary that LocalSummary writes, and the facts about it.
func summaryOf(t *testing.T, s compat.LocalSummary, v *policy.View) (string, *policy.SummaryInfo) {
	t.Helper()
	p, err := s.Propose(t.Context(), v)
	if err != nil {
		t.Fatal(err)
	}
	if len(p.Groups) == 0 {
		return "", nil
	}
	_, body, ok := policy.ParseSummary(*p.Groups[0][0].Cut.New)
	if !ok {
		t.Fatalf("no summary: %q", p.Groups[0][0].Cut.New.Text())
	}
	if c := p.Groups[0][0].Cut; p.Summary.Text != c.New.Text() || c.Recent != len(v.Messages)-4 {
		t.Errorf("the archive gets the text %q of %q; the rest begins at %d of %d", p.Summary.Text, c.New.Text(), c.Recent, len(v.Messages))
	}
	return body, p.Summary
}

// ran returns a request followed by calls with these results, and four messages that stay.
func ran(results ...string) []message.Message {
	msgs := []message.Message{message.User("Rename the flag.")}
	for i, text := range results {
		id := fmt.Sprint("c", i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "task", "{}")), message.ToolResult(id, text))
	}
	return append(msgs, message.User("And?"), message.Assistant("One."), message.User("And?"), message.Assistant("Two."))
}

func localView(msgs []message.Message) *policy.View {
	v := policy.NewView(msgs, pins, token.NewCharsEstimator())
	v.Budget = budget(100_000).CapOnly()
	return v
}

// A summary without a configured length has at most 1400 characters, its facts name its
// backend and what it covers, and it is not made if it is longer than that.
func TestLocalSummaryHasADefaultLength(t *testing.T) {
	var results []string
	for i := range 9 {
		results = append(results, fmt.Sprint(i, strings.Repeat(" outcome", 40)))
	}
	msgs := ran(results...)
	tags := func(*policy.View, int) []string { return []string{compat.TagConstraint, compat.TagUnresolved} }
	v := localView(msgs)
	body, info := summaryOf(t, compat.LocalSummary{Tags: tags}, v)
	size := 0
	for i := range len(msgs) - 4 {
		size += v.Tokens[i]
	}
	if n := len(message.SummaryText(1, body)); n != 1400 || info.Backend != "local" || info.Input != len(msgs)-4 || info.InputSize != size {
		t.Errorf("%d characters, %+v, want 1400 and a size of %d", n, info, size)
	}
	if body, _ := summaryOf(t, compat.LocalSummary{}, localView(ran("one"))); body != "" {
		t.Errorf("the summary is longer than the messages: %q", body)
	}
}

// Results that an earlier compaction masked say nothing, so the summary leaves them out. It
// keeps the answers of other agents, which survive masking.
func TestLocalSummaryLeavesOutPlaceholders(t *testing.T) {
	v := localView(ran(strings.Repeat("long ", 200)+"a", "[observation masked — 4812 chars]", "[dispatch output masked — 400 chars]\nBEGIN_DISPATCH_RESULT done END_DISPATCH_RESULT", "ok"))
	v.Bind(running.Run{Dispatch: []string{"task"}})
	body, _ := summaryOf(t, compat.LocalSummary{}, v)
	_, outcomes, _ := strings.Cut(body, "- Key tool outcomes: ")
	outcomes, _, _ = strings.Cut(outcomes, "\n")
	items := strings.Split(outcomes, "; ")
	if want := []string{"BEGIN_DISPATCH_RESULT done END_DISPATCH_RESULT", "ok"}; len(items) != 3 || !slices.Equal(items[1:], want) || len(items[0]) != 120 {
		t.Errorf("outcomes %q, want %q after the first", items, want)
	}
}

// A second summary keeps the objective, the tasks, the outcomes and the rules of the first, and
// the newest items if there are too many.
func TestLocalSummaryKeepsTheFirstSummary(t *testing.T) {
	first := "Conversation summary (contract):\n- Objective: %s\n- Unresolved tasks: %s\n- Key tool outcomes: %s\n- Current constraints: %s"
	tags := func(v *policy.View, i int) []string {
		if strings.HasPrefix(v.Messages[i].Text(), "Never") {
			return []string{compat.TagConstraint}
		}
		return nil
	}
	for name, c := range map[string]struct {
		body      string
		objective string
		tasks     string
		outcomes  string
		rules     string
	}{
		"all lines":           {fmt.Sprintf(first, "The first.", "t1; t2", "o1; o2", "r1; r2"), "The first.", "t1; t2", "o1; o2; done", "r1; r2; Never push."},
		"lines without items": {fmt.Sprintf(first, "Not specified.", "None captured.", "No tool outcomes captured.", "No constraints captured."), "Never push.", "None captured.", "done", "Never push."},
		"too many items":      {fmt.Sprintf(first, "The first.", "t1; t2; t3; t4; t5; t6", "o1; o2; o3; o4; o5; o6", "r1; r2; r3; r4; r5; r6; r7; r8"), "The first.", "t1; t2; t3; t4; t5; t6", "o2; o3; o4; o5; o6; done", "r2; r3; r4; r5; r6; r7; r8; Never push."},
		"another summary":     {"what was", "what was", "None captured.", "done", "Never push."},
	} {
		msgs := ran("done")
		msgs[0] = message.User("Never push.")
		msgs = append([]message.Message{policy.NewSummary(3, c.body), message.Assistant(strings.Repeat("thinking ", 200))}, msgs...)
		body, info := summaryOf(t, compat.LocalSummary{Tags: tags}, localView(msgs))
		if want := fmt.Sprintf(first, c.objective, c.tasks, c.outcomes, c.rules); body != want || info.Version != 4 || info.Input != 4 {
			t.Errorf("%s: version %+v of\n%s\nwant\n%s", name, info, body, want)
		}
	}
}

// A notice among the messages that stay goes, too: the summary replaces it.
func TestLocalSummaryReplacesNoticesAmongTheLastMessages(t *testing.T) {
	v := policy.NewView(ofRoles("aaaunua"), pins, words{})
	if got := (compat.LocalSummary{Messages: 3}).Takes(v); !slices.Equal(got, []int{0, 1, 2, 4}) {
		t.Errorf("the floor is without %v, want 0, 1, 2 and 4", got)
	}
}
