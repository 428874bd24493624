package fs_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/turnindex"
)

// A step syncs transcript, summary, index and ledger (file and folder each), their
// lines in the manifest, and the audit log. The head of a step is synced with a later
// line. If a transcript is stored together with its step, one announcement names both.
func TestStepSyncsFewTimes(t *testing.T) {
	for name, c := range map[string]struct {
		most int
		step func(*testing.T, *record.Session, int) record.Step
	}{
		"beside": {11, func(t *testing.T, s *record.Session, n int) record.Step {
			transcript, err := s.Transcript(t.Context(), n, []redact.Text{redact.Lit(`{"role":"user","content":"hello"}`)})
			must(t, err)
			return record.Step{Number: n, Files: []record.Written{transcript}}
		}},
		"with its step": {9, func(t *testing.T, s *record.Session, n int) record.Step {
			var c record.Content
			c.Line(redact.Lit(`{"role":"user","content":"hello"}`))
			transcript, err := s.TranscriptDraft(&c, nil)
			must(t, err)
			return record.Step{Number: n, Drafts: []record.Draft{transcript}}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			root := t.TempDir()
			a, notes, err := fs.Watch(root, fs.NoFault)
			closing(t, a, err)
			s, err := record.OpenSession(t.Context(), a, "s")
			must(t, err)
			s.KeepHeads(record.NewHeads(a, nil))
			for n := 1; n <= 3; n++ {
				*notes = nil
				step := c.step(t, s, n)
				index, err := s.IndexDraft(&turnindex.Set{})
				must(t, err)
				step.Drafts = append(step.Drafts, s.SummaryDraft(redact.Lit(`{"v":1}`)), index)
				step.Ledger = func([]record.Written) ([]redact.Text, error) { return []redact.Text{redact.Lit(`{"v":1}`)}, nil }
				step.Beside = func(ctx context.Context, _ []record.Written) error {
					return s.Events(ctx, []redact.Text{redact.Lit(`{"name":"e"}`)})
				}
				_, err = s.CommitStep(t.Context(), step)
				must(t, err)
				syncs := countSyncs(*notes)
				t.Logf("step %d: %d syncs", n, syncs)
				if n > 1 && syncs > c.most && fs.KnowsBirth(root) {
					t.Errorf("step %d syncs %d times", n, syncs)
				}
			}
		})
	}
}

// A recreated folder may have the inode number of the old one: its entry is synced
// again.
func TestCreateSyncsTheEntryOfARecreatedFolder(t *testing.T) {
	root := t.TempDir()
	a, notes, err := fs.Watch(root, fs.NoFault)
	closing(t, a, err)
	other := open(t, root)
	for round := range 5 {
		first, second := key(t, "s/first"), key(t, "s/second")
		must(t, other.Create(t.Context(), first, lit))
		*notes = nil
		must(t, a.Create(t.Context(), second, lit))
		if n := countSyncs(*notes); n != 3 {
			t.Errorf("round %d: %d syncs, want those of the file, its folder and the root: %q", round, n, *notes)
		}
		must(t, errors.Join(other.Remove(t.Context(), first), other.Remove(t.Context(), second)))
	}
}

func countSyncs(notes []string) (n int) {
	for _, note := range notes {
		if strings.HasPrefix(note, "sync ") {
			n++
		}
	}
	return n
}

// A lazy append is seen at once by another process, and the next append makes it
// durable. A new log is synced.
func TestLazyAppendIsSyncedWithTheNextOne(t *testing.T) {
	root := t.TempDir()
	a, notes, err := fs.Watch(root, fs.NoFault)
	closing(t, a, err)
	k := key(t, "_heads/w.jsonl")
	for seq, c := range []struct {
		append func(context.Context, storage.Key, int64, storage.Blob) error
		syncs  bool
	}{{a.AppendLazily, true}, {a.AppendLazily, false}, {a.AppendLazily, false}, {a.Append, true}} {
		*notes = nil
		must(t, c.append(t.Context(), k, int64(seq), storage.Redacted(redact.Lit("x"))))
		if n := countSyncs(*notes); (n > 0) != c.syncs {
			t.Errorf("append %d: %d syncs", seq+1, n)
		}
		if err := a.AppendLazily(t.Context(), k, int64(seq), lit); !errors.Is(err, storage.ErrSeq) {
			t.Errorf("an append at an old length: %v, want ErrSeq", err)
		}
		data, err := os.ReadFile(filepath.Join(root, "_heads", "w.jsonl"))
		if err != nil || len(data) != seq+1 {
			t.Errorf("%q, %v, want all appended bytes and no error", data, err)
		}
	}
}
