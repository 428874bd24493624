package record_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

func TestAccessRecordsAreReadBackAndProven(t *testing.T) {
	archives(t, func(t *testing.T, a storage.Archive) {
		step(t, session(t, a, "Alice"), 1)
		l := record.NewAccessLog(a)
		must(t, l.Record(t.Context(), "Alice", "show", text("dave"), text("turn:2")))
		must(t, l.Record(t.Context(), record.EscapeSession("Alice"), "recall", text("agent"), text("3f9a")))
		var ops []string
		for x, err := range record.Accesses(t.Context(), a) {
			must(t, err)
			if x.Session != record.EscapeSession("Alice") || x.At.IsZero() {
				t.Errorf("%+v, want the session Alice and a time", x)
			}
			ops = append(ops, x.Who+" "+x.Op+" "+x.What)
		}
		if got := strings.Join(ops, ", "); got != "dave show turn:2, agent recall 3f9a" {
			t.Errorf("got %s, want %s", got, "dave show turn:2, agent recall 3f9a")
		}
		if r, err := record.VerifyAccesses(t.Context(), a); err != nil || !r.OK() || len(r.Files) != 1 {
			t.Errorf("%+v, %v, want no problems in one file", r, err)
		}
		for info, err := range a.List(t.Context(), mustKey(t, "_access")) {
			must(t, err)
			data := everything(t, a)[info.Key.String()]
			must(t, a.(storage.Remover).Remove(t.Context(), info.Key))
			must(t, a.Append(t.Context(), info.Key, 0, storage.Redacted(text("%s", strings.Replace(data, "dave", "mary", 1)))))
		}
		if r, err := record.VerifyAccesses(t.Context(), a); err != nil || r.OK() {
			t.Errorf("a changed line is not seen: %v", err)
		}
	})
}

// A foreign file among the access records is a problem, even in a folder.
func TestAForeignFileAmongAccessRecordsIsAProblem(t *testing.T) {
	a := memory.New()
	must(t, record.NewAccessLog(a).Record(t.Context(), "", "search", text("dave"), text("disk")))
	must(t, a.Append(t.Context(), mustKey(t, "_access/w.jsonl/x"), 0, storage.Redacted(text("who knows\n"))))
	if r, err := record.VerifyAccesses(t.Context(), a); err != nil || len(r.Problems) != 1 || r.Problems[0].Kind != record.Added {
		t.Errorf("%+v, %v, want one problem of kind Added", r, err)
	}
}

// A file manager can leave a file among the records. The records are listed in spite of it.
func TestAccessRecordsBesideAForeignFileAreRead(t *testing.T) {
	dir := t.TempDir()
	a, err := fs.Open(dir)
	must(t, err)
	must(t, record.NewAccessLog(a).Record(t.Context(), "", "search", text("dave"), text("disk")))
	must(t, os.WriteFile(filepath.Join(dir, "_access", ".DS_Store"), []byte("who knows"), 0o600))
	n := 0
	for x, err := range record.Accesses(t.Context(), a) {
		must(t, err)
		if n++; x.Who != "dave" || x.What != "disk" {
			t.Errorf("%+v, want the record of dave about disk", x)
		}
	}
	if n != 1 {
		t.Errorf("%d records, want 1", n)
	}
	must(t, a.Close())
}

var _ storage.Sweeper = (*fs.Archive)(nil)
