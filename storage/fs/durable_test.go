package fs_test

import (
	"context"
	"errors"
	"fmt"
	iofs "io/fs"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
)

// breaker fails the n-th call of a kind after begin is set.
type breaker struct {
	mu    sync.Mutex
	call  string
	begin bool
	n     int
}

var errBroken = errors.New("the disk is broken")

func (b *breaker) fails(call string) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.begin || call != b.call {
		return nil
	}
	b.n--
	if b.n == 0 {
		return errBroken
	}
	return nil
}

func TestOpenMakesANewRootDurable(t *testing.T) {
	b := &breaker{call: "sync folder", n: 1, begin: true}
	if _, err := fs.OpenBroken(filepath.Join(t.TempDir(), "new"), b.fails); !errors.Is(err, errBroken) {
		t.Errorf("the folder above the new one was not synced: %v", err)
	}
	a, err := fs.OpenBroken(t.TempDir(), b.fails)
	closing(t, a, err)
}

func TestFailedCreateLeavesNoPartialFile(t *testing.T) {
	for call, wantKey := range map[string]bool{"sync file": false, "link": false, "sync folder": true} {
		root := t.TempDir()
		b := &breaker{call: call, n: 1}
		a, err := fs.OpenBroken(root, b.fails)
		closing(t, a, err)
		b.begin = true
		err = a.Create(t.Context(), key(t, "s/f"), lit)
		var typed *storage.Error
		if !errors.Is(err, errBroken) || !errors.As(err, &typed) || typed.Key != key(t, "s/f") {
			t.Errorf("%s: %v, want errBroken", call, err)
		}
		got := tree(t, root)
		delete(got, "s")
		delete(got, ".tmp")
		if wantKey { // the name exists, but its durability is unknown
			if got["s/f"] != "-rw------- {\"some\":\"text\"}\n" {
				t.Errorf("%s: the file is %q, want %q", call, got["s/f"], "-rw------- {\"some\":\"text\"}\n")
			}
			delete(got, "s/f")
		}
		if len(got) > 0 {
			t.Errorf("%s: leftover %v", call, got)
		}
		if err := a.Create(t.Context(), key(t, "s/f"), lit); err != nil != wantKey {
			t.Errorf("%s: the second attempt: %v", call, err)
		}
	}
}

func TestFailedAppendRemovesItsBytes(t *testing.T) {
	root := t.TempDir()
	b := &breaker{call: "sync file", n: 1}
	a, err := fs.OpenBroken(root, b.fails)
	closing(t, a, err)
	k := key(t, "s/events.jsonl")
	must(t, a.Append(t.Context(), k, 0, lit))
	b.begin = true
	if err := a.Append(t.Context(), k, lit.Size(), lit2); !errors.Is(err, errBroken) {
		t.Errorf("got %v, want errBroken", err)
	}
	if got := tree(t, root)["s/events.jsonl"]; got != "-rw------- {\"some\":\"text\"}\n" {
		t.Errorf("the file is %q, want %q", got, "-rw------- {\"some\":\"text\"}\n")
	}
	must(t, a.Append(t.Context(), k, lit.Size(), lit2))
}

func TestAppendContinuesAfterTheFileWasErased(t *testing.T) {
	a := open(t, t.TempDir())
	k := key(t, "s/events.jsonl")
	must(t, a.Append(t.Context(), k, 0, lit))
	must(t, a.Remove(t.Context(), k))
	if err := a.Append(t.Context(), k, lit.Size(), lit); !errors.Is(err, storage.ErrSeq) {
		t.Errorf("at the old length: %v, want ErrSeq", err)
	}
	must(t, a.Append(t.Context(), k, 0, lit))
}

func TestAppendWaitsForTheLockOnlyAsLongAsItsContext(t *testing.T) {
	root := t.TempDir()
	a := open(t, root)
	k := key(t, "s/events.jsonl")
	must(t, a.Append(t.Context(), k, 0, lit))
	unlock := fs.LockFile(t, filepath.Join(root, "s", "events.jsonl"))
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := a.Append(ctx, k, lit.Size(), lit); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("got %v, want DeadlineExceeded", err)
	}
	unlock()
	must(t, a.Append(t.Context(), k, lit.Size(), lit))
}

func TestVanishedRootIsAClearError(t *testing.T) {
	root := filepath.Join(t.TempDir(), "root")
	a := open(t, root)
	must(t, os.RemoveAll(root))
	if err := a.Create(t.Context(), key(t, "s/f"), lit); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("Create: %v, want ErrNotExist", err)
	}
	if err := a.Append(t.Context(), key(t, "s/f"), 0, lit); !errors.Is(err, iofs.ErrNotExist) {
		t.Errorf("Append: %v, want ErrNotExist", err)
	}
}

// durable simulates a power loss after the operations in the notes, and returns the
// violations at the end of one Create of k.
func durable(notes []string, file, name string, folders ...string) error {
	synced := map[string]bool{}
	named := false
	for _, n := range notes {
		var id, to string
		if _, err := fmt.Sscanf(n, "link %s %s", &id, &to); err == nil && to == name {
			if id != file || !synced[file] {
				return fmt.Errorf("%s got its name before its bytes were synced", name)
			}
			named, synced = true, map[string]bool{}
			continue
		}
		if _, err := fmt.Sscanf(n, "sync %s", &id); err == nil {
			synced[id] = true
		}
	}
	if !named {
		return fmt.Errorf("%s never got its name", name)
	}
	for _, f := range folders {
		if !synced[f] {
			return errors.New("a folder was not synced after the name was given")
		}
	}
	return nil
}

func TestCreateSyncsInTheOnlyDurableOrder(t *testing.T) {
	for fault, sound := range map[fs.Fault]bool{fs.NoFault: true, fs.FaultNoFileSync: false, fs.FaultNoFolderSync: false} {
		root := t.TempDir()
		a, notes, err := fs.Watch(root, fault)
		closing(t, a, err)
		must(t, a.Create(t.Context(), key(t, "s/f"), lit))
		var ids []string
		for _, path := range []string{"s/f", "s", "."} {
			id, err := fs.FileID(filepath.Join(root, path))
			must(t, err)
			ids = append(ids, id)
		}
		if err := durable(*notes, ids[0], "s/f", ids[1:]...); (err == nil) != sound {
			t.Errorf("fault %q: %v in %q", fault, err, *notes)
		}
	}
}

func TestCreateAllSyncsInTheOnlyDurableOrder(t *testing.T) {
	for fault, sound := range map[fs.Fault]bool{fs.NoFault: true, fs.FaultNoFileSync: false, fs.FaultNoFolderSync: false} {
		root := t.TempDir()
		a, notes, err := fs.Watch(root, fault)
		closing(t, a, err)
		names := []string{"s/f", "s/g", "t/f", "f"}
		var keys []storage.Key
		var blobs []storage.Blob
		for _, name := range names {
			keys, blobs = append(keys, key(t, name)), append(blobs, lit)
		}
		must(t, errors.Join(a.CreateAll(t.Context(), keys, blobs)...))
		for _, name := range names {
			var ids []string
			for path := name; ; path = filepath.Dir(path) {
				id, err := fs.FileID(filepath.Join(root, path))
				must(t, err)
				if ids = append(ids, id); path == "." {
					break
				}
			}
			if err := durable(*notes, ids[0], name, ids[1:]...); (err == nil) != sound {
				t.Errorf("fault %q, %s: %v in %q", fault, name, err, *notes)
			}
		}
	}
}

// A folder that can't be synced is an error for each of its files, and for no other
// file.
func TestFailedCreateAllNamesTheFile(t *testing.T) {
	for call, want := range map[string]int{"sync file": 1, "link": 1, "sync folder": 3} {
		b := &breaker{call: call, n: 1}
		a, err := fs.OpenBroken(t.TempDir(), b.fails)
		closing(t, a, err)
		b.begin = true
		keys := []storage.Key{key(t, "s/one"), key(t, "s/two"), key(t, "s/three"), key(t, "t/four")}
		failed := 0
		for i, err := range a.CreateAll(t.Context(), keys, []storage.Blob{lit, lit, lit, lit}) {
			var typed *storage.Error
			if err == nil {
				continue
			}
			if failed++; !errors.Is(err, errBroken) || !errors.As(err, &typed) || typed.Key != keys[i] {
				t.Errorf("%s: %s: %v, want errBroken", call, keys[i], err)
			}
		}
		if failed != want {
			t.Errorf("%s: %d files failed, want %d", call, failed, want)
		}
	}
}

func TestAppendSyncsTheFileAndOnceItsFolder(t *testing.T) {
	root := t.TempDir()
	k := key(t, "s/events.jsonl")
	for i := range int64(2) { // the second archive does not know the operations of the first
		a, notes, err := fs.Watch(root, fs.NoFault)
		closing(t, a, err)
		must(t, a.Append(t.Context(), k, 2*i*lit.Size(), lit))
		must(t, a.Append(t.Context(), k, (2*i+1)*lit.Size(), lit))
		var want []string
		for _, path := range []string{"s/events.jsonl", "s", ".", "s/events.jsonl"} {
			id, err := fs.FileID(filepath.Join(root, path))
			must(t, err)
			want = append(want, "sync "+id)
		}
		if diff := cmp.Diff(want, *notes); diff != "" {
			t.Errorf("archive %d (-want +got):\n%s", i+1, diff)
		}
	}
}

func TestAppendSyncsTheFolderOfARecreatedLog(t *testing.T) {
	root := t.TempDir()
	k, path := key(t, "s/events.jsonl"), filepath.Join(root, "s", "events.jsonl")
	a, notes, err := fs.Watch(root, fs.NoFault)
	closing(t, a, err)
	other := open(t, root)
	must(t, a.Append(t.Context(), k, 0, lit))
	must(t, os.Link(path, filepath.Join(t.TempDir(), "keep"))) // keeps the file's number from being reused
	must(t, other.Remove(t.Context(), k))
	must(t, other.Append(t.Context(), k, 0, lit))
	for i, synced := range []int{3, 1} { // file and two folders, and then the file alone
		*notes = nil
		must(t, a.Append(t.Context(), k, int64(i+1)*lit.Size(), lit))
		if len(*notes) != synced {
			t.Errorf("append %d synced %q", i+1, *notes)
		}
	}
	must(t, a.Remove(t.Context(), k))
	*notes = nil
	must(t, a.Append(t.Context(), k, 0, lit))
	if len(*notes) != 3 {
		t.Errorf("the first append to a new file synced %q", *notes)
	}
}

func TestRemoveSyncsTheRemainingFolders(t *testing.T) {
	root := t.TempDir()
	a, notes, err := fs.Watch(root, fs.NoFault)
	closing(t, a, err)
	first, last := key(t, "s/first"), key(t, "s/last")
	must(t, errors.Join(a.Create(t.Context(), first, lit), a.Create(t.Context(), last, lit)))
	above := []string{"s", "."}
	if fs.KnowsBirth(root) { // the entry of s in the root is durable by now
		above = above[:1]
	}
	for _, c := range []struct {
		k       storage.Key
		folders []string
	}{{first, above}, {last, []string{"."}}} {
		var want []string
		for _, folder := range c.folders {
			id, err := fs.FileID(filepath.Join(root, folder))
			must(t, err)
			want = append(want, "sync "+id)
		}
		*notes = nil
		must(t, a.Remove(t.Context(), c.k))
		if diff := cmp.Diff(want, *notes); diff != "" {
			t.Errorf("removing %s (-want +got):\n%s", c.k, diff)
		}
	}
}

func TestWaitingAppendDetectsAnErasedFile(t *testing.T) {
	root := t.TempDir()
	a := open(t, root)
	k := key(t, "s/events.jsonl")
	must(t, a.Append(t.Context(), k, 0, lit))
	unlock := fs.LockFile(t, filepath.Join(root, "s", "events.jsonl"))
	done := make(chan error, 1)
	go func() { done <- a.Append(t.Context(), k, lit.Size(), lit) }()
	time.Sleep(20 * time.Millisecond) // by now it waits
	must(t, a.Remove(t.Context(), k))
	unlock()
	if err := <-done; !errors.Is(err, storage.ErrSeq) {
		t.Errorf("got %v, want ErrSeq", err)
	}
}
