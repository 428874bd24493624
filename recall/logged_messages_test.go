package recall_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// An original in edits.jsonl to which a step refers has the step's turn and time: a search
// since a time finds it.
func TestOriginalsOfAStepHaveTurnAndTime(t *testing.T) {
	c, err := compact.Preset("masking")
	if err != nil {
		t.Fatal(err)
	}
	a, began, history := memory.New(), time.Now(), loop(80)
	c.Model, c.MaxContextTokens, c.Archive = "gpt-4", 100_000, a
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	steps := 0
	for n := 10; n <= len(history); n += 2 {
		res, err := m.Preflight(t.Context(), "s", history[:n])
		if err != nil {
			t.Fatal(err)
		}
		steps = max(steps, res.Step)
	}
	s, err := record.OpenSession(t.Context(), a, "s")
	if err := errors.Join(err, m.Close(context.WithoutCancel(t.Context()))); err != nil {
		t.Fatal(err)
	}
	logged := 0
	for m, err := range recall.Messages(t.Context(), s) {
		if err != nil {
			t.Fatal(err)
		}
		if m.File != "edits.jsonl" || m.Step == 0 {
			continue
		}
		if logged++; m.Turn == 0 || m.Line == 0 || m.At.Before(began.Add(-time.Second)) || m.At.After(time.Now().Add(time.Second)) {
			t.Errorf("line %d: turn %d, step %d, at %s", m.Line, m.Turn, m.Step, m.At)
		}
	}
	if steps == 0 || logged < 20 {
		t.Errorf("%d steps refer to %d originals, want at least 20", steps, logged)
	}
}
