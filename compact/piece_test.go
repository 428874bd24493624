package compact

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/turnindex"
)

// A line above the limit is recalled if a ledger has its length. Otherwise the error
// says that it is too large. Neither is a change of the archive; a wrong length is.
func TestLargeLineIsNotTakenForAChangedOne(t *testing.T) {
	defer func(most int64) { mostAtOnce = most }(mostAtOnce)
	mostAtOnce = 16 << 10
	m, err := New(t.Context(), Config{Model: "gpt-4o", MaxContextTokens: 128_000, Archive: memory.New()})
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
		t.Errorf("it has %d bytes, %v", len(got), err)
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
	step := m.sessions["s"].snapshot()[0]
	for _, e := range step.Evicted {
		if _, err := m.sessions["s"].piece(t.Context(), turnindex.Record{File: step.Archive, Off: e.Off, Len: 1 << 40}); !errors.As(err, &changed) {
			t.Errorf("a forged length of %d bytes: %v", e.Len, err)
		}
	}
}
