package record_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
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

// Bytes at the end of a log that are not a line of it can be half a line that a crash left, or
// the text of somebody else. The end is not proven.
func TestAddedBytesAreNotProven(t *testing.T) {
	for _, log := range []string{"events.jsonl", "journal.jsonl", "manifest.jsonl"} {
		for junk, want := range map[string]string{
			`{"seq":9,"prev":"`:                         "are an incomplete line: a crash or a person cut it off",
			`{"role":"user","content":"forged"}` + "\n": "are not a line of this log: a crash or a person left them",
		} {
			a := memory.New()
			s := session(t, a, "s")
			step(t, s, 1)
			must(t, s.Journal(t.Context(), lines("said", 1)))
			must(t, s.Checkpoint(t.Context()))
			k, err := storage.ParseKey("s/" + log)
			must(t, err)
			r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Head: s.ManifestHead()})
			if must(t, err); !r.TailProven {
				t.Fatal(r.Notes)
			}
			size := int64(len(content(t, s, log)))
			must(t, a.Append(t.Context(), k, size, storage.Redacted(text("%s", junk))))
			r, err = record.Verify(t.Context(), a, "s", record.VerifyOptions{Head: s.ManifestHead()})
			if notes := strings.Join(r.Notes, "\n"); err != nil || !r.OK() || r.TailProven || !strings.Contains(notes, want) || !strings.Contains(notes, "the end is not proven") {
				t.Errorf("%s with %q: proven %v, %q, %v", log, junk, r.TailProven, r.Notes, err)
			}
		}
	}
}

// A file of heads without a line proves nothing, so that it was emptied is worth a note.
func TestEmptiedHeadsAreNoted(t *testing.T) {
	a := memory.New()
	k, err := storage.ParseKey("_heads/20260101t000000z-0123456789abcdef.jsonl")
	must(t, err)
	must(t, a.Create(t.Context(), k, storage.Redacted(redact.Text{})))
	b, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	if r := b.Report(); err != nil || !r.OK() || len(r.Notes) != 1 || !strings.Contains(r.Notes[0], "it has no line: it was emptied") {
		t.Errorf("%q, %q, %v", r.Notes, r.Problems, err)
	}
}
