package compact

import (
	"testing"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/redact"
)

// A transcript refers to lines of a file that has the transcript's own name (a canceled
// call left it), so the transcript must get another name. The places of the lines are
// correct under both names.
func TestLinesStayWhereTheyAreWhenATranscriptGetsAnotherName(t *testing.T) {
	r, err := redact.New(redact.Options{})
	if err != nil {
		t.Fatal(err)
	}
	texts := func(all ...string) (lines [][]redact.Text) {
		for _, s := range all {
			lines = append(lines, []redact.Text{r.Record([]byte(`{"role":"user","content":"` + s + `"}`))})
		}
		return lines
	}
	const taken, other = "transcript-pre-compact-006.jsonl", "transcript-pre-compact-006.2.jsonl"
	long := make([]string, 12)
	for i := range long {
		long[i] = string(rune('a'+i)) + ", and so many words that it is worth a reference to what stands there already"
	}
	_, first := layOut(texts(long...), nil)
	first.in(taken)
	run := &run{withStep: true}
	run.content, run.stored = layOut(texts(append(long, "new")...), first.lines)
	for _, name := range []string{taken, other} {
		run.name = name
		at := run.stored.places(run.archive())
		for i := range long {
			if got := *at[i]; got != first.lines[i] {
				t.Fatalf("named %s, line %d is in %s at %d, want %s at %d", name, i, got.file, got.off, taken, first.lines[i].off)
			}
		}
		if got := at[len(long)]; got.file != name {
			t.Errorf("named %s, the new line is in %s", name, got.file)
		}
	}
	if got := run.stored.lines[len(long)].file; got != "" {
		t.Errorf("the new line has the name %s before that name is certain", got)
	}
}

// A summary cites messages by numbers. If the stored messages are not the messages of the
// summary, the numbers would name wrong messages, so no number is set.
func TestMessagesHaveTheNumbersOfTheirSummary(t *testing.T) {
	history := []message.Message{message.User("a"), message.Assistant("b"), message.User("c"), message.Assistant("d"), message.User("e")}
	c := &call{asker: asker{history: history}}
	c.now.conv = reduce.NewConversation(history, nil, nil)
	summary := policy.NewSummary(1, "s")
	after, err := c.now.conv.Apply([]policy.Edit{{Decision: policy.Summarized, Cut: &policy.Cut{Removed: []int{0, 1, 2}, Recent: 3, New: &summary}}})
	if err != nil {
		t.Fatal(err)
	}
	for input, want := range map[int][]uint32{3: {7, 8, 9}, 2: {0, 0, 0}, 4: {0, 0, 0}} {
		all := make([]ledger.Eviction, 3)
		info := &policy.SummaryInfo{First: 7, Input: input, Text: "s"}
		c.cited(all, []int{0, 1, 2}, &reduce.Outcome{Conversation: after, Passes: []reduce.Pass{{Applied: 1, Summary: info}}})
		for k := range all {
			if all[k].Number != want[k] {
				t.Errorf("a summary of %d messages: message %d has the number %d, want %d", input, k, all[k].Number, want[k])
			}
		}
	}
}
