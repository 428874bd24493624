package anthropic_test

import (
	"testing"

	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/wire/wiretest"
	"github.com/agentcompact/compact/token"
)

// The API drops all blocks before the newest compaction block
// (https://platform.claude.com/docs/en/build-with-claude/compaction).
func TestMessagesBeforeACompactionAreNotRead(t *testing.T) {
	const before = `{"role":"user","content":"one"},{"role":"assistant","content":[{"type":"tool_use","id":"a","name":"f","input":{}}]},` +
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":"a","content":"A"}]},`
	const after = `,{"role":"user","content":"two"}`
	e, err := token.NewEstimator("claude-opus-4-8", nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	for block, want := range map[string]bool{
		`{"type":"compaction","content":"what was done"}`:                 true,
		`{"type":"compaction","content":null,"encrypted_content":"QUJD"}`: true,
		`{"type":"compaction","content":null}`:                            false, // the compaction failed
	} {
		r := wiretest.Parse(t, anthropic.Wire, `{"system":"s","messages":[`+before+`{"role":"assistant","content":[`+block+`,{"type":"text","text":"on"}]}`+after+`]}`)
		msgs := r.Messages()
		for i := range msgs {
			is := i >= 1 && i <= 3
			if msgs[i].Unread != (is && want) || is && want && (!msgs[i].Protected || e.Message(msgs[i]) != 0) {
				t.Errorf("%s: message %d is unread: %v, protected: %v", block, i, msgs[i].Unread, msgs[i].Protected)
			}
		}
		if e.Message(msgs[4]) == 0 || e.Message(msgs[0]) == 0 || msgs[5].Protected {
			t.Errorf("%s: a message that the provider reads costs nothing, or a message after the block is protected", block)
		}
	}
}

func TestTheProvidersThresholdIsRead(t *testing.T) {
	for field, want := range map[string]int{
		`{"edits":[{"type":"compact_20260112"}]}`:                                                                                                                             150_000,
		`{"edits":[{"type":"clear_tool_uses_20250919"},{"type":"compact_20260112"}]}`:                                                                                         100_000,
		`{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":30000}}]}`:                                                                     30_000,
		`{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":5}}]}`:                                                                            1,
		`{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":60000}},{"type":"new_1"}]}`:                                                            1,
		`{"edits":[{"type":"clear_thinking_20251015"}]}`:                                                                                                                      0,
		`{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":70000}},{"type":"compact_20260112","trigger":{"type":"input_tokens","value":60000}}]}`: 60_000,
		`{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":60000}},{"type":"compact_20260112","trigger":{"type":"input_tokens","value":70000}}]}`: 60_000,
		`{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":2}}]}`:                                                                                 2,
		`{"edits":[{"type":"compact_20260112","trigger":{"type":"input_tokens","value":0}}]}`:                                                                                 1,
		`{"edits":[7]}`:    1,
		`{"edits":[]}`:     0,
		`{"edits":"auto"}`: 0,
		`"auto"`:           1,
	} {
		r := wiretest.Parse(t, anthropic.Wire, `{"context_management":`+field+`,"messages":[{"role":"user","content":"q"}]}`)
		if a := r.About(); a.ServerTrigger != want || (a.ServerSide != "") != (want > 0) {
			t.Errorf("%s: threshold %d (%q), want %d", field, a.ServerTrigger, a.ServerSide, want)
		}
	}
}
