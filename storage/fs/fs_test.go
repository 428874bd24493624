package fs_test

import (
	"errors"
	iofs "io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/storagetest"
)

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func second[T any](_ T, err error) error { return err }

func closing(t testing.TB, a *fs.Archive, err error) *fs.Archive {
	t.Helper()
	must(t, err)
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func open(t testing.TB, root string) *fs.Archive {
	t.Helper()
	a, err := fs.Open(root)
	return closing(t, a, err)
}

func key(t testing.TB, s string) storage.Key {
	t.Helper()
	k, err := storage.ParseKey(s)
	must(t, err)
	return k
}

var (
	lit  = storage.Redacted(redact.Lit("{\"some\":\"text\"}\n"))
	lit2 = storage.Redacted(redact.Lit("{\"other\":\"text\"}\n"))
)

// tree returns every path below dir with its mode and, for a file, its content.
func tree(t testing.TB, dir string) map[string]string {
	t.Helper()
	out := map[string]string{}
	must(t, filepath.WalkDir(dir, func(path string, d iofs.DirEntry, err error) error {
		if err != nil || path == dir {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		what := info.Mode().String()
		if info.Mode().IsRegular() {
			data, err := os.ReadFile(path)
			if err != nil {
				return err
			}
			what += " " + string(data)
		}
		rel, err := filepath.Rel(dir, path)
		out[rel] = what
		return err
	}))
	return out
}

func TestFolderKeepsThePromisesOfAnArchive(t *testing.T) {
	storagetest.Run(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		root := t.TempDir()
		return open(t, root), open(t, root)
	})
}

func TestSuiteDetectsAnArchiveThatOverwrites(t *testing.T) {
	got := storagetest.Check(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		a, err := fs.OpenWith(t.TempDir(), fs.FaultOverwrite)
		closing(t, a, err)
		return a, a
	}, "CreateHasOneWinner")
	if len(got) == 0 {
		t.Error("the fault was not caught")
	}
}

func TestOpenRefusesAFileSystemWithoutHardLinks(t *testing.T) {
	_, err := fs.OpenBroken(t.TempDir(), func(call string) error {
		if call == "link" {
			return errors.ErrUnsupported
		}
		return nil
	})
	if !errors.Is(err, errors.ErrUnsupported) || !strings.Contains(err.Error(), "hard links") {
		t.Errorf("got %v, want ErrUnsupported and an error with %q", err, "hard links")
	}
}

func TestOnlyTheOwnerCanReadFilesAndFolders(t *testing.T) {
	root := filepath.Join(t.TempDir(), "a", "b")
	a := open(t, root)
	must(t, a.Create(t.Context(), key(t, "s/ledger-001.json"), lit))
	must(t, a.Append(t.Context(), key(t, "s/events.jsonl"), 0, lit))
	got := map[string]string{}
	for path, what := range tree(t, filepath.Dir(filepath.Dir(root))) {
		got[path], _, _ = strings.Cut(what, " ")
	}
	want := map[string]string{
		"a": "drwx------", "a/b": "drwx------", "a/b/.tmp": "drwx------", "a/b/s": "drwx------",
		"a/b/s/ledger-001.json": "-rw-------", "a/b/s/events.jsonl": "-rw-------",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("modes (-want +got):\n%s", diff)
	}
}

func TestOpenRefusesARootThatCannotBeAFolder(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "file")
	must(t, os.WriteFile(file, nil, 0o600))
	for _, root := range []string{"", file, filepath.Join(file, "below"), "/proc/nothing/here"} {
		a, err := fs.Open(root)
		var typed *storage.Error
		if !errors.As(err, &typed) {
			t.Errorf("Open(%q) = %v, %v; want an *Error", root, a, err)
		}
	}
}

func TestFilesOutsideTheRootStayUntouched(t *testing.T) {
	outer := t.TempDir()
	must(t, os.WriteFile(filepath.Join(outer, "precious"), []byte("precious"), 0o600))
	a := open(t, filepath.Join(outer, "x", "root"))
	before := tree(t, outer)
	for _, id := range []string{"../../etc", "..", ".", "/tmp/abs", "a\x00b", `..\..`, "con", strings.Repeat("../", 1365), strings.Repeat("é", 2000), "a/../../b", ".tmp", "\n"} {
		s, err := record.OpenSession(t.Context(), a, id)
		must(t, err)
		must(t, second(s.Final(t.Context(), []redact.Text{redact.Lit("{}")})))
		must(t, s.Events(t.Context(), []redact.Text{redact.Lit("{}")}))
		r, err := s.Verify(t.Context(), record.VerifyOptions{})
		if err != nil || !r.OK() {
			t.Errorf("%.20q: %v, %v; want no problems and no error", id, r.Problems, err)
		}
	}
	after := tree(t, outer)
	for path := range after {
		if strings.HasPrefix(path, filepath.Join("x", "root")+"/") {
			delete(after, path)
			delete(before, path)
		}
	}
	delete(before, "x/root/.tmp")
	if diff := cmp.Diff(before, after); diff != "" {
		t.Errorf("outside of the root (-before +after):\n%s", diff)
	}
}

func TestLinksAreNotFollowed(t *testing.T) {
	outer := t.TempDir()
	elsewhere := filepath.Join(outer, "elsewhere")
	must(t, os.Mkdir(elsewhere, 0o700))
	must(t, os.WriteFile(filepath.Join(elsewhere, "f"), []byte("precious"), 0o600))
	root := filepath.Join(outer, "root")
	a := open(t, root)
	must(t, os.Mkdir(filepath.Join(root, "in"), 0o700))
	for name, target := range map[string]string{"out": elsewhere, "rel": "../elsewhere", "loop": "loop", "inner": "in"} {
		must(t, os.Symlink(target, filepath.Join(root, name)))
	}
	must(t, os.Symlink(filepath.Join(elsewhere, "f"), filepath.Join(root, "in", "f")))
	before := tree(t, outer)
	for _, s := range []string{"out/f", "rel/f", "loop/f", "in/f", "out/new", "rel/new", "loop/new", "inner/new", "out", "inner"} {
		k := key(t, s)
		if err := a.Create(t.Context(), k, lit); err == nil {
			t.Errorf("Create %s: no error", s)
		}
		if err := a.Append(t.Context(), k, 0, lit); err == nil {
			t.Errorf("Append %s: no error", s)
		}
		if r, err := a.Open(t.Context(), k, 0, -1); err == nil {
			t.Errorf("Open %s: no error", s)
			must(t, r.Close())
		}
		if s != "in/f" && s != "out" && s != "inner" { // these three are links, and may be removed themselves
			_ = a.Remove(t.Context(), k)
		}
	}
	if diff := cmp.Diff(before, tree(t, outer)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	var foreign []string
	for info, err := range a.List(t.Context(), storage.Key{}) {
		must(t, err)
		foreign = append(foreign, info.Foreign)
	}
	if diff := cmp.Diff([]string{"in/f", "inner", "loop", "out", "rel"}, foreign); diff != "" {
		t.Errorf("listed (-want +got):\n%s", diff)
	}
}

// TestLinkDoesNotCountAsASession: an operation on the name of a link never reaches the session
// at its target.
func TestLinkDoesNotCountAsASession(t *testing.T) {
	root := t.TempDir()
	a := open(t, root)
	log, file := key(t, "alice/events.jsonl"), key(t, "alice/ledger-001.json")
	must(t, a.Append(t.Context(), log, 0, lit))
	must(t, a.Create(t.Context(), file, lit))
	must(t, os.Symlink("alice", filepath.Join(root, "bob")))
	before := tree(t, root)
	for _, name := range []string{"events.jsonl", "ledger-001.json", "new"} {
		k := key(t, "bob/"+name)
		if r, err := a.Open(t.Context(), k, 0, -1); err == nil {
			t.Errorf("Open %s: no error", k)
			must(t, r.Close())
		}
		for _, seq := range []int64{0, lit.Size()} {
			if err := a.Append(t.Context(), k, seq, lit); err == nil {
				t.Errorf("Append %s at %d: no error", k, seq)
			}
		}
		if a.Create(t.Context(), k, lit) == nil {
			t.Errorf("Create %s: no error", k)
		}
		if a.Remove(t.Context(), k) == nil {
			t.Errorf("Remove %s: no error", k)
		}
		for info, err := range a.List(t.Context(), k) {
			if err == nil {
				t.Errorf("List %s: %+v", k, info)
			}
		}
	}
	if diff := cmp.Diff(before, tree(t, root)); diff != "" {
		t.Errorf("files (-before +after):\n%s", diff)
	}
	if _, err := record.OpenSession(t.Context(), a, "bob"); err == nil {
		t.Error("the link was opened as a session")
	}
}

func TestFilesOfOthersAreListedAsForeign(t *testing.T) {
	root := t.TempDir()
	a := open(t, root)
	must(t, a.Create(t.Context(), key(t, "s/f"), lit))
	for _, name := range []string{"README.txt", "s/.DS_Store", "s/With Space", "Folder/x"} {
		must(t, os.MkdirAll(filepath.Dir(filepath.Join(root, name)), 0o700))
		must(t, os.WriteFile(filepath.Join(root, name), []byte("x"), 0o600))
	}
	var got []string
	for info, err := range a.List(t.Context(), storage.Key{}) {
		must(t, err)
		if (info.Foreign == "") == info.Key.IsZero() {
			t.Errorf("%+v has both a key and a foreign name, or neither", info)
		}
		if info.Foreign != "" {
			got = append(got, info.Foreign)
		}
	}
	slices.Sort(got)
	if diff := cmp.Diff([]string{"Folder", "README.txt", "s/.DS_Store", "s/With Space"}, got); diff != "" {
		t.Errorf("foreign (-want +got):\n%s", diff)
	}
}

func TestSweepRemovesLeftoversOfACrash(t *testing.T) {
	root := t.TempDir()
	a := open(t, root)
	old := time.Now().Add(-2 * time.Minute)
	orphan, young := filepath.Join(root, ".tmp", "ORPHANAAAAAAAAAAAAAAAAAAAA"), filepath.Join(root, ".tmp", "YOUNGAAAAAAAAAAAAAAAAAAAAA")
	must(t, os.WriteFile(orphan, []byte("half"), 0o600))
	must(t, os.WriteFile(young, []byte("half"), 0o600))
	must(t, os.Chtimes(orphan, old, old))
	foreign := filepath.Join(root, ".tmp", "notes.txt") // somebody else's file, which the sweep must leave
	must(t, os.WriteFile(foreign, []byte("mine"), 0o600))
	must(t, os.Chtimes(foreign, old, old))
	slow, discard, err := a.NewTemp()
	must(t, err)
	defer discard()
	must(t, os.Chtimes(filepath.Join(root, slow), old, old))
	open(t, root).SweepNow()
	got := slices.Sorted(maps.Keys(tree(t, filepath.Join(root, ".tmp"))))
	want := []string{filepath.Base(slow), filepath.Base(young), "notes.txt"}
	slices.Sort(want)
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("temporary files (-want +got):\n%s", diff)
	}
}

func TestInterruptedScrubLosesNothing(t *testing.T) {
	storagetest.RunScrub(t, func(t testing.TB) (storage.Archive, storage.Archive) {
		root := t.TempDir()
		return open(t, root), open(t, root)
	}, 17)
}
