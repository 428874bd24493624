package strategy_test

import (
	"context"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// TestHostileTextCostsNoMoreThanLinearTime summarises and verifies megabytes
// of what is hard on scanners.
func TestHostileTextCostsNoMoreThanLinearTime(t *testing.T) {
	const size = 1 << 20
	var distinct strings.Builder
	for i := 0; distinct.Len() < size; i++ {
		distinct.WriteString("pkg" + strconv.Itoa(i) + "/file_" + strconv.Itoa(i) + ".go ")
	}
	for _, piece := range []string{distinct.String(), "a", "/", "a/", "1,", "123,", "_", "a_b", ".", "a.", "-", "@", "a@", "\"", "`", "\"error a b ", "[s1] ", "\n", "- ", "# ", "<", "{", "a b. ", "。", "::", "é",
		"\\", "|", ">", "a > b ", "<<E\n", "--- a\n+++ b\n", "*** Add File: a\n", "@@", "[ ] x\n", "http://", "a-1", "v1.", "deadbeef", "必须 ", "TODO ", "error:\n", "x=", "x= "} {
		text := strings.Repeat(piece, max(1, size/len(piece)))
		msgs := []message.Message{
			message.User("summarise this, never drop it: " + text[:size/8]),
			message.Assistant(text[:size/8], message.Part{Kind: message.KindToolCall, CallID: "1", Name: "bash", Args: []byte(text[:size/8])}, message.Call("2", "apply_patch", `{"command":"x"}`)),
			message.ToolResult("1", text),
		}
		start := time.Now()
		for _, w := range []strategy.Writer{{}, {Strategy: strategy.CodeDelta}, {Summarizer: scribe{"## Decisions\n- " + text[:4000] + "\n- it was decided"}}} {
			if _, err := w.Write(context.Background(), strategy.Input{Previous: text[:1000], Messages: msgs, Count: count4}); err != nil && w.Summarizer == nil {
				t.Logf("%q: %v", piece, err)
			}
		}
		if d := time.Since(start); d > 5*time.Second {
			t.Errorf("%.20q took %v", piece, d)
		}
	}
}
