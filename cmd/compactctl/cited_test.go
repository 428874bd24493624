package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// Every message that a summary may cite has its number in show, and recall of that number
// returns the message. That includes messages whose lines are in an earlier transcript.
func TestNumbersOfMessagesLeadToThem(t *testing.T) {
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	a := memory.New()
	c.Model, c.MaxContextTokens, c.Archive = "gpt-4o", 8000, a
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	history, steps := []message.Message{message.System("You are an agent."), message.User("Fix the build.")}, 0
	for i := range 70 {
		id := fmt.Sprint("c", i)
		history = append(history, message.Assistant(fmt.Sprintf("I look at file %d.", i), message.Call(id, "read", fmt.Sprintf(`{"path":"file%d.go"}`, i))),
			message.ToolResult(id, fmt.Sprintf("file %d\n", i)+strings.Repeat("some line of code here\n", 60)))
		res, err := m.Preflight(t.Context(), "s", history)
		if err != nil {
			t.Fatal(err)
		}
		if res.Step > 0 {
			steps++
		}
	}
	if err := m.Close(t.Context()); err != nil || steps < 3 {
		t.Fatalf("%d steps, %v", steps, err)
	}
	s, err := record.OpenSession(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	shown, err := conversationOf(t.Context(), "s", s)
	if err != nil {
		t.Fatal(err)
	}
	numbers, files := map[int]bool{}, map[string]bool{}
	lines := 0
	for line, err := range s.Whole(t.Context(), shown.File) {
		if err != nil {
			t.Fatal(err)
		}
		one := &shown.Said[lines]
		lines++
		if one.Cited == 0 {
			continue
		}
		numbers[one.Cited], files[line.File] = true, true
		text, err := recall.Text(t.Context(), a, "s", fmt.Sprintf("s%d", one.Cited))
		if want := one.Parts[0].Text; err != nil || !strings.Contains(text, want) {
			t.Errorf("s%d is %.60q, and recall returns %.60q, %v", one.Cited, want, text, err)
		}
	}
	for n := range len(numbers) {
		if !numbers[n+1] {
			t.Errorf("no message has the number s%d: %d have one", n+1, len(numbers))
		}
	}
	if len(files) < 2 || len(shown.Said) != lines {
		t.Errorf("the cited lines are in %v, %d messages are shown of %d", files, len(shown.Said), lines)
	}
}
