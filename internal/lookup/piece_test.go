package lookup_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/lookup"
	_ "github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/turnindex"
)

// reads returns a conversation in which an agent reads a given number of files.
func reads(files int) []message.Message {
	history := []message.Message{message.User("go")}
	for i := range files {
		id := fmt.Sprintf("call_%d", i)
		history = append(history, message.Assistant("", message.Call(id, "read", "{}")),
			message.ToolResult(id, fmt.Sprintf("%d", i)+string(make([]byte, 1000))))
	}
	return history
}

// A line above the limit is recalled if a ledger has its length. Otherwise the error
// states that the text is too large. Neither is a change of the archive; a wrong length
// is.
func TestLargeLineIsNotTakenForAChangedOne(t *testing.T) {
	lookup.SetMostAtOnce(t, 16<<10)
	a := memory.New()
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4o", MaxContextTokens: 128_000, Archive: a})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	history := reads(12)
	large := strings.Repeat("large ", 4<<10)
	history[2].Parts[0].Text = large
	if _, err := m.ManualCompact(t.Context(), "s", history, ""); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Recall(t.Context(), "s", m.Ref(history[2].Parts[0])); err != nil || got != large {
		t.Errorf("the recalled text has %d bytes, %v", len(got), err)
	}
	if err := m.Archive(t.Context(), "other", history); err != nil {
		t.Fatal(err)
	}
	var changed *storage.ChangedError
	if _, err := m.Recall(t.Context(), "other", m.Ref(history[2].Parts[0])); err == nil || errors.As(err, &changed) || !strings.Contains(err.Error(), "recalled at once") {
		t.Errorf("in no ledger: %v", err)
	}
	for _, id := range []string{"s", "other"} {
		if res, err := m.Preflight(t.Context(), id, history); err != nil || len(res.Warnings) > 0 {
			t.Errorf("%s: %q, %v", id, res.Warnings, err)
		}
	}
	s, err := lookup.Open(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	step := s.Book().Steps()[0]
	for _, e := range step.Evicted {
		if _, err := s.Piece(t.Context(), turnindex.Record{File: step.Archive, Off: e.Off, Len: 1 << 40}); !errors.As(err, &changed) {
			t.Errorf("a forged length of %d bytes: %v", e.Len, err)
		}
	}
}
