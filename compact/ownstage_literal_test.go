package compact_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
)

// longNote is a literal that is too long to occur in a history by chance.
const longNote = " … (the rest of this poll was left out)"

// cutPolls cuts long results short, and writes a note that it has for each.
func cutPolls(note func(i int) string) stageOf {
	return func(_ context.Context, v *policy.View) (p policy.Proposal, err error) {
		for i := 0; i < v.Open-1; i++ {
			if v.HasResult(i) && len(v.Messages[i].Parts[0].Text) > 200 {
				p.Groups = append(p.Groups, []policy.Edit{{Decision: policy.Truncated, Reason: "long",
					Text: &policy.TextEdit{Index: i, Segments: []policy.Segment{{To: 40}, {Lit: note(i)}}}}})
			}
		}
		return p, nil
	}
}

func morePolls(msgs []message.Message, run int) []message.Message {
	for i := range 60 {
		id := fmt.Sprintf("call_%d_%d", run, i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "poll", `{}`)), message.ToolResult(id, fmt.Sprint("run ", run, i, " ", text(150))))
	}
	return msgs
}

// A stage may repeat text that it wrote at an earlier compaction: the view contains
// the text, the history does not.
func TestOwnStageWritesTheSameWordsAtEveryCompaction(t *testing.T) {
	r := newRig(t, ownConfig(cutPolls(func(int) string { return longNote }), memory.New()))
	msgs, before := pollHistory(), 0
	for n := range 3 {
		res := r.preflight(msgs)
		if len(res.Warnings) > 0 || res.TruncatedCount <= before || res.Step != n+1 {
			t.Fatalf("compaction %d is step %d: %d results are cut, %d were, warnings %q", n, res.Step, res.TruncatedCount, before, res.Warnings)
		}
		before, msgs = res.TruncatedCount, morePolls(msgs, n)
	}
}

// A message that an earlier step removed from the view still belongs to the history.
func TestOwnStageWritesNoRemovedText(t *testing.T) {
	msgs := pollHistory()
	secret := strings.Repeat("a plan of the user's ", 3)
	msgs[3] = message.ToolResult("call_0", "run 0 "+text(150)+secret)
	archive := memory.New()
	if res := newRig(t, ownConfig(cutPolls(func(int) string { return longNote }), archive)).preflight(msgs); res.TruncatedCount == 0 {
		t.Fatalf("nothing was cut: %q", res.Warnings)
	}
	res := newRig(t, ownConfig(cutPolls(func(int) string { return secret }), archive)).preflight(morePolls(msgs, 1))
	if len(res.Stages) == 0 || !strings.Contains(res.Stages[0].Err, "a literal is the stage's own") {
		t.Errorf("words of the history were written: %+v", res.Stages)
	}
}

// Every distinct literal is searched for in the whole history.
func TestOwnStageWritesFewDistinctWords(t *testing.T) {
	for kinds, want := range map[int]string{50: "", 51: "more than 50 different literals"} {
		s := cutPolls(func(i int) string { return fmt.Sprintf("%s %d", longNote, i/2%kinds) })
		res := newRig(t, ownConfig(s, memory.New())).preflight(pollHistory())
		if len(res.Stages) == 0 || (res.Stages[0].Err == "") != (want == "") || !strings.Contains(res.Stages[0].Err, want) {
			t.Errorf("%d kinds of words: %+v, want %q", kinds, res.Stages, want)
		}
	}
}
