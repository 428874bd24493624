package strategy_test

import (
	"context"
	"errors"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/cputime"
	"github.com/agentcompact/compact/internal/samples"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// hard lists texts that are difficult for scanners.
var hard = []string{"a", "/", "a/", "1,", "123,", "_", "a_b", ".", "a.", "-", "@", "a@", "\"", "`", "\"error a b ", "[s1] ", "\n", "- ", "# ", "<", "</", "/>", "{",
	"a b. ", "。", "::", "é", "\\", "|", ">", "a > b ", "<<E\n", "--- a\n+++ b\n", "*** Add File: a\n", "@@", "[ ] x\n", "http://", "a-1", "v1.", "deadbeef",
	"必须 ", "TODO ", "error:\n", "x=", "x= ", "<system-reminder></system-reminder>", "All tests pass. ", "The test may fail. "}

// TestHostileTextCostsNoMoreThanLinearTime summarizes and verifies a quarter of a megabyte
// of each text, or half a megabyte with COMPACT_SAMPLES=all. In linear time this takes four
// times as long as a quarter of the text. The test fails if the time grows more than twelve
// times and the whole text takes more than 0.5 s, or 2 s. A time that grows with the square
// of the size exceeds both limits.
func TestHostileTextCostsNoMoreThanLinearTime(t *testing.T) {
	size, limit := 1<<18, 500*time.Millisecond
	if samples.All() {
		size, limit = 1<<19, 2*time.Second
	}
	took := func(text string) time.Duration {
		start := cputime.Used() // does not depend on the load of the machine
		summarizeAll(t, text)
		return cputime.Used() - start
	}
	for _, piece := range append(hard, distinct(size)) {
		whole := strings.Repeat(piece, max(1, size/len(piece)))
		if d := took(whole); d > limit {
			if quarter := took(whole[:len(whole)/4]); d > 12*quarter {
				t.Errorf("%.20q took %v, a quarter of it %v", piece, d, quarter)
			}
		}
	}
}

// distinct returns a text in which no identifier occurs twice.
func distinct(size int) string {
	var b strings.Builder
	for i := 0; b.Len() < size; i++ {
		b.WriteString("pkg" + strconv.Itoa(i) + "/file_" + strconv.Itoa(i) + ".go ")
	}
	return b.String()
}

// summarizeAll summarizes histories with the text in every place that can hold a text.
func summarizeAll(t *testing.T, text string) {
	t.Helper()
	text = strings.ToValidUTF8(text, "")
	part := text[:len(text)/8]
	msgs := []message.Message{
		message.User("summarize this, never drop it: " + part),
		message.Assistant(part, message.Part{Kind: message.KindToolCall, CallID: "1", Name: "bash", Args: []byte(part)}, message.Call("2", "apply_patch", `{"command":"x"}`)),
		message.ToolResult("1", text),
	}
	draft := scribe{"## Decisions\n- " + text[:min(len(text), 4000)] + "\n- it was decided"}
	for _, w := range []summarize.Writer{{}, {Strategy: strategy.CodeDelta}, {Summarizer: draft}} {
		_, err := w.Write(context.Background(), summarize.Input{Previous: text[:min(len(text), 1000)], Messages: msgs, Count: count4})
		if err != nil && !errors.Is(err, summarize.ErrNoSummary) {
			t.Errorf("%.20q: %v", text, err)
		}
	}
}
