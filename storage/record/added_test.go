package record_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// Anybody who can write to the archive can add a chained line with a message to the end of a
// log. The end is not proven until the manifest confirms the line.
func TestAnAddedMessageIsNotProven(t *testing.T) {
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
	must(t, s.Journal(t.Context(), lines("forged", 1)))
	if ok, notes := proven(head); ok || !strings.Contains(notes, "journal.jsonl: lines may be missing at its end, or added") {
		t.Errorf("an added message is proven: %s", notes)
	}
	must(t, s.Checkpoint(t.Context()))
	if ok, notes := proven(s.ManifestHead()); !ok {
		t.Errorf("a confirmed message is not proven: %s", notes)
	}
	must(t, s.Events(t.Context(), lines("late", 1)))
	if ok, notes := proven(s.ManifestHead()); !ok || !strings.Contains(notes, "events.jsonl") {
		t.Errorf("a running agent's line of the audit log: %v, %s", ok, notes)
	}
}
