package main

import (
	"fmt"
	"github.com/agentcompact/compact/internal/testkey"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
)

// Call ids repeat, texts repeat, and one result is protected: each masked
// message is still found where it is in the view.
func TestPlacesFindsEveryEditedMessage(t *testing.T) {
	var history []message.Message
	for i := range 40 {
		id := fmt.Sprintf("call_%d", i%3)
		result := message.ToolResult(id, strings.Repeat(fmt.Sprintf("output %d ", i/2), 100))
		result.Protected = i == 9
		history = append(history, message.User("next"), message.Assistant("", message.Call(id, "bash", "{}")), result, message.Assistant("ok"))
	}
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4", MaxContextTokens: 12_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close(t.Context())
	res, err := m.Plan(t.Context(), "s", history, compact.WithRecall())
	if err != nil || res.MaskedCount < 10 {
		t.Fatalf("%d masked, %v", res.MaskedCount, err)
	}
	at := places(res)
	for i, d := range res.Decisions {
		k := at[i]
		switch {
		case d.Decision == policy.Summarized || d.Decision == policy.Dropped:
			if k >= 0 {
				t.Errorf("message %d was removed, but is at %d", i, k)
			}
		case k < 0:
			t.Errorf("message %d (%s) is not found", i, d.Decision)
		case res.Sources[k] != i:
			t.Errorf("message %d is at %d, where %d is", i, k, res.Sources[k])
		case d.Decision == policy.Masked && !strings.Contains(res.Messages[k].ResultText(), testkey.Ref(history[i].Parts[0])):
			t.Errorf("message %d was matched with the placeholder of another: %q", i, res.Messages[k].ResultText())
		case d.Decision == policy.Kept && res.Messages[k].Fingerprint() != history[i].Fingerprint():
			t.Errorf("message %d was kept, but differs", i)
		}
	}
}
