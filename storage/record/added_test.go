package record_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// Anybody who can write to the archive can add a chained line to the end of a log. The end is
// not proven until the manifest confirms the line.
func TestAnAddedLineIsNotProven(t *testing.T) {
	a := memory.New()
	s := session(t, a, "s")
	step(t, s, 1)
	must(t, s.Checkpoint(t.Context()))
	head := s.ManifestHead()
	proven := func(head string) (bool, string) {
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Head: head})
		must(t, err)
		if !r.OK() {
			t.Fatal(r.Problems)
		}
		return r.TailProven, strings.Join(r.Notes, "\n")
	}
	if ok, notes := proven(head); !ok {
		t.Fatal(notes)
	}
	for log, add := range map[string]func(context.Context, []redact.Text) error{"journal.jsonl": s.Journal, "events.jsonl": s.Events} {
		must(t, add(t.Context(), lines("forged", 1)))
		if ok, notes := proven(head); ok || !strings.Contains(notes, log+": lines may be missing at its end, or added") || !strings.Contains(notes, "not proven: nothing confirms") {
			t.Errorf("%s: an added line is proven: %s", log, notes)
		}
		must(t, s.Checkpoint(t.Context()))
		if head = s.ManifestHead(); head == "" {
			t.Fatal("no head")
		}
		if ok, notes := proven(head); !ok {
			t.Errorf("%s: a confirmed line is not proven: %s", log, notes)
		}
	}
}
