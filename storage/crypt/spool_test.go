package crypt_test

import (
	"context"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

// TestSpoolContainsNoPlaintext: both the waiting data on the disk and the sent data are
// encrypted, and are proven in both places. Logs that no session owns don't wait there:
// machines share them.
func TestSpoolContainsNoPlaintext(t *testing.T) {
	p := newPair(t)
	k := keys(t, p.identity, p)
	far, dir := memory.New(), t.TempDir()
	s, err := spool.Open(dir, far, &spool.Options{Passive: true})
	must(t, err)
	a := crypt.New(s, k)
	for _, id := range []string{"alice", "bob"} {
		x, err := record.OpenSession(t.Context(), a, id)
		must(t, err)
		x.KeepHeads(record.NewHeads(a, nil))
		step(t, x, 1)
		must(t, x.Checkpoint(t.Context()))
		if id == "bob" {
			_, err := x.Erase(t.Context(), text(t, "asked for"))
			must(t, err)
		}
	}
	if gone, erased, err := record.Erased(t.Context(), crypt.New(far, k), "bob"); err != nil || !erased || gone.Head == "" {
		t.Errorf("the tombstone waits on the disk: %v, %v", erased, err)
	}
	proven(t, a, "alice")
	files := 0
	must(t, filepath.WalkDir(dir, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if strings.Contains(string(data), "a message") || strings.Contains(string(data), "an event") {
			t.Errorf("%s holds plain text", path)
		}
		if strings.HasSuffix(path, ".age") {
			files++
		}
		return err
	}))
	if files == 0 {
		t.Error("nothing waits in the spool")
	}
	must(t, a.Close(context.Background()))
	proven(t, crypt.New(far, k), "alice")
	if state, err := crypt.Look(t.Context(), far); state != crypt.Encrypted || err != nil {
		t.Errorf("state %v, %v; want %v and no error", state, err, crypt.Encrypted)
	}
}

// TestRemotelyErasedSessionLeavesAnEncryptedSpool: the spool reads tombstones and names with
// the keys of the archive in front of it.
func TestRemotelyErasedSessionLeavesAnEncryptedSpool(t *testing.T) {
	p := newPair(t)
	k := keys(t, p.identity, p)
	far, dir := memory.New(), t.TempDir()
	s, err := spool.Open(dir, far, &spool.Options{Passive: true, Over: func(a storage.Archive) storage.Archive { return crypt.New(a, k) }})
	must(t, err)
	headed := func(a storage.Archive, id string) *record.Session {
		x, err := record.OpenSession(t.Context(), a, id)
		must(t, err)
		x.KeepHeads(record.NewHeads(a, nil))
		return x
	}
	for _, id := range []string{"alice", "bob"} {
		step(t, headed(crypt.New(s, k), id), 1)
	}
	must(t, s.Flush(t.Context()))
	_, err = headed(crypt.New(far, k), "alice").Erase(t.Context(), text(t, "asked for"))
	must(t, err)
	must(t, s.Flush(t.Context()))
	on, err := s.Sessions()
	must(t, err)
	names, err := os.ReadDir(filepath.Join(dir, "archive", "_names"))
	if len(on) != 1 || on[0] != "bob" || len(names) != 1 || err != nil {
		t.Errorf("the spool has %q, and %d names, %v", on, len(names), err)
	}
	must(t, s.Close(t.Context()))
}

func proven(t *testing.T, a storage.Archive, id string) {
	t.Helper()
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	r, err := record.Verify(t.Context(), a, id, record.VerifyOptions{Heads: book})
	must(t, err)
	if !r.OK() || !r.TailProven || r.Steps != 1 {
		t.Errorf("%d steps, %q, proven %v; want 1, no problems and true", r.Steps, r.Problems, r.TailProven)
	}
}
