package strategy_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
)

// Summary 7 keeps the statements of summary 1 that were not superseded.
func TestSeventhSummaryKeepsFirstSummary(t *testing.T) {
	previous, text := "", ""
	for i := range 7 {
		msgs := []message.Message{
			message.Assistant(fmt.Sprintf("I'll change the part %d of the loader because its rows are skipped.", i), message.Call("1", "edit", fmt.Sprintf(`{"path":"load/part%d.go","old_string":"a","new_string":"b"}`, i))),
			message.ToolResult("1", "The file has been updated."),
			message.Assistant("", message.Call("2", "bash", `{"command":"go vet ./load"}`)),
			message.ToolResult("2", "Exit code: 0\n"),
		}
		if i == 0 {
			msgs = append(shop(), msgs...)
		}
		if i == 3 {
			msgs = append(msgs, message.User("Call the flag --dry."), message.Assistant("", message.Call("3", "bash", `{"command":"go test ./orders/..."}`)), message.ToolResult("3", "Exit code: 0\nok  \torders\t0.2s"))
		}
		sum, err := summarize.Writer{}.Write(context.Background(), summarize.Input{Previous: previous, Messages: msgs, Count: count4})
		if err != nil {
			t.Fatal(err)
		}
		previous, text = sum.Text, sum.Text
	}
	for _, want := range []string{"[s1] Move the orders table to the new schema.", "[s10] No, wait: write to orders_v2", "] Call the flag --dry.", "You must never drop the column legacy_id",
		"`orders/schema.go`: edited", "`load/part0.go`: edited", "`load/part6.go`: edited", "`go test ./orders/...` passed (exit 0): ok orders 0.2s", "`make lint` passed"} {
		if !strings.Contains(text, want) {
			t.Errorf("%q is not in:\n%s", want, text)
		}
	}
	if n := strings.Count(text, "## What the user said"); n != 1 || strings.Count(text, "This block stands for") != 1 {
		t.Errorf("%d sections of words in:\n%s\nwant 1", n, text)
	}
	_, standing, _ := strings.Cut(text, "## Where things stand")
	if strings.Contains(standing, "`go test ./orders/...` failed") {
		t.Errorf("the summary still has a repaired failure:\n%s", standing)
	}
	if strings.Count(text, "`load/part6.go`: edited") > 1 || strings.Contains(text, "announced last: Next I'll rename the table") {
		t.Errorf("the summary still has superseded lines:\n%s", text)
	}
}
