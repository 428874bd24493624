package compact

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// perByte counts bytes.
type perByte struct{}

func (perByte) Message(m message.Message) int { return m.Bytes() }
func (perByte) Text(s string) int             { return len(s) }

// cutsAll cuts every result short with the same words.
type cutsAll struct{ words string }

func (cutsAll) Name() string { return "cuts" }
func (s cutsAll) Propose(_ context.Context, v *policy.View) (p policy.Proposal, err error) {
	for i := range v.Messages {
		if v.HasResult(i) {
			p.Groups = append(p.Groups, []policy.Edit{{Decision: policy.Truncated, Text: &policy.TextEdit{Index: i, Segments: []policy.Segment{{To: 4}, {Lit: s.words}}}}})
		}
	}
	return p, nil
}

// Judging the same text for each of 2,000 edits would cost a pass over the history each
// time.
func TestOwnStagesLiteralsAreJudgedOnce(t *testing.T) {
	const edits, words = 2000, "… (the rest of it was left out)"
	msgs := []message.Message{message.User("wait")}
	for i := range edits {
		id := fmt.Sprint("call_", i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "poll", `{}`)), message.ToolResult(id, "a result"))
	}
	judged := 0
	s := &ownStage{OwnStage: OwnStage{Stage: cutsAll{words}, Timeout: ownStageTimeout}, name: "cuts", stuck: new(atomic.Bool), clean: func(text string) string {
		if text == words {
			judged++
		}
		return text
	}}
	p, err := s.Propose(t.Context(), policy.NewView(msgs, nil, perByte{}))
	if err != nil || len(p.Groups) != edits || judged != 1 {
		t.Errorf("%d edits, the words were judged %d times, %v; want %d, 1 and no error", len(p.Groups), judged, err, edits)
	}
}

// The errors for stages number messages and parts from 1, like all other texts.
func TestErrorsOfOwnStagesCountFromOne(t *testing.T) {
	view := policy.NewView([]message.Message{message.User("wait"), message.User("again")}, nil, perByte{})
	for _, tc := range []struct {
		edit policy.Edit
		want string
	}{
		{policy.Edit{Decision: policy.Dropped, Cut: &policy.Cut{Removed: []int{2}}}, "there is no message 3"},
		{policy.Edit{Decision: policy.Truncated, Text: &policy.TextEdit{Index: 1, Part: 1}}, "there is no part 2 of message 2"},
	} {
		j := judge{stage: &ownStage{name: "cuts", clean: func(s string) string { return s }}, view: view, good: map[string]bool{}}
		if _, err := j.edit(tc.edit); err == nil || !strings.HasSuffix(err.Error(), tc.want) {
			t.Errorf("%v, want %q", err, tc.want)
		}
	}
}
