package compact

import (
	"context"
	"fmt"
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
