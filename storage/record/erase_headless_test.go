package record_test

import (
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// A program that erases, prunes or copies without heads of its own leaves no session that
// seems to have vanished, and begins no heads in an archive without heads.
func TestEraseWithoutHeadsOfItsOwnIsRecordedInTheHeads(t *testing.T) {
	for name, remove := range map[string]func(*testing.T, storage.Archive){
		"Erase": func(t *testing.T, a storage.Archive) {
			must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
		},
		"Prune": func(t *testing.T, a storage.Archive) {
			for r, err := range record.Prune(t.Context(), a, record.PruneOptions{Before: time.Now().Add(time.Hour)}) {
				if must(t, err); r.Outcome != record.Pruned {
					t.Errorf("%s, %v, want %s", r.Outcome, r.Err, record.Pruned)
				}
			}
		},
		"Copy": func(t *testing.T, a storage.Archive) {
			src := memory.New()
			must(t, second(record.Copy(t.Context(), src, a, record.CopyOptions{})))
			must(t, second(session(t, src, "s").Erase(t.Context(), text("asked for"))))
			done, err := record.Copy(t.Context(), a, src, record.CopyOptions{})
			if must(t, err); done.Erased != 1 {
				t.Errorf("%+v, want one erased session", done)
			}
		},
	} {
		for _, heads := range []bool{true, false} {
			a := memory.New()
			s := session(t, a, "s")
			if heads {
				s.KeepHeads(record.NewHeads(a, nil))
			}
			step(t, s, 1)
			remove(t, a)
			book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
			must(t, err)
			gone, err := book.Vanished(t.Context(), a)
			must(t, err)
			for _, r := range append(gone, book.Report()) {
				for _, p := range r.Problems {
					t.Errorf("%s, heads %v: %s", name, heads, p)
				}
			}
			if n := book.Writers(); n > 0 && !heads {
				t.Errorf("%s: %d writers of heads in an archive without heads", name, n)
			}
		}
	}
}
