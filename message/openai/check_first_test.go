package openai_test

import (
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

// If a conversation begins with a notice of an earlier compaction, it may begin with a
// summary afterwards. If it begins with the system prompt, it may not.
func TestSummaryMayReplaceANotice(t *testing.T) {
	for first, want := range map[string]int{message.NoticeText(7): 0, "You fix bugs.": 1} {
		body := `{"model":"m","messages":[{"role":"system","content":"` + first + `"},{"role":"user","content":"Q"}]}`
		req, err := openai.Wire.ParseRequest([]byte(body), nil)
		if err != nil {
			t.Fatal(err)
		}
		in := req.Messages()
		view := []message.Message{message.Assistant(message.SummaryText(1, "X")), in[1]}
		if found := req.Check(view, []int{-1, 1}); len(found) != want {
			t.Errorf("%q first: %v, want %d", first, found, want)
		}
	}
}
