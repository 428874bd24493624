package record_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// lived returns an archive with a session of two steps, a held session, and an erased
// one.
func lived(t *testing.T) *memory.Archive {
	t.Helper()
	a := memory.New()
	h := record.NewHeads(a, nil)
	for _, id := range []string{"alice", "bob", "carol"} {
		s := session(t, a, id)
		s.KeepHeads(h)
		step(t, s, 1)
		switch id {
		case "alice":
			step(t, s, 2)
		case "bob":
			must(t, s.Hold(t.Context(), text("a case")))
		case "carol":
			must(t, second(s.Erase(t.Context(), text("asked for"))))
		}
	}
	return a
}

// wantCopy fails if a copy differs from its source, or is not proven.
func wantCopy(t *testing.T, dst, src storage.Archive) {
	t.Helper()
	have, want := everything(t, dst), everything(t, src)
	if len(have) != len(want) {
		t.Errorf("%d keys, want %d", len(have), len(want))
	}
	for k, data := range want {
		if have[k] != data {
			t.Errorf("%s differs", k)
		}
	}
	book, err := record.ReadHeads(t.Context(), dst, record.HeadsOptions{})
	must(t, err)
	gone, err := book.Vanished(t.Context(), dst)
	must(t, err)
	if len(gone) > 0 || !book.Report().OK() {
		t.Errorf("heads: %v, %q", gone, book.Report().Problems)
	}
	for _, id := range []string{"alice", "bob"} {
		r, err := record.Verify(t.Context(), dst, id, record.VerifyOptions{Heads: book})
		must(t, err)
		if !r.OK() || !r.TailProven {
			t.Errorf("%s: %q, proven %v; want no problems and true", id, r.Problems, r.TailProven)
		}
	}
	if h, err := session(t, dst, "bob").Held(t.Context()); !h.Held || err != nil {
		t.Errorf("bob is held %v, %v", h, err)
	}
	if stone, ok, err := record.Erased(t.Context(), dst, "carol"); !ok || !stone.Done || err != nil {
		t.Errorf("carol's tombstone: %+v, %v", stone, err)
	}
}

func everything(t *testing.T, a storage.Archive) map[string]string {
	t.Helper()
	all := map[string]string{}
	for info, err := range a.List(t.Context(), storage.Key{}) {
		must(t, err)
		r, err := a.Open(t.Context(), info.Key, 0, -1)
		must(t, err)
		data, err := io.ReadAll(r)
		must(t, err)
		all[info.Key.String()] = string(data)
	}
	return all
}

func TestACopyEqualsItsSource(t *testing.T) {
	src := lived(t)
	archives(t, func(t *testing.T, dst storage.Archive) {
		done, err := record.Copy(t.Context(), dst, src, record.CopyOptions{})
		must(t, err)
		if done.Sessions != 2 || done.Files == 0 || done.Same > 0 {
			t.Errorf("%+v, want 2 sessions and only new files", done)
		}
		wantCopy(t, dst, src)
		again, err := record.Copy(t.Context(), dst, src, record.CopyOptions{})
		must(t, err)
		if again.Files != 0 || again.Bytes != 0 {
			t.Errorf("again: %+v", again)
		}
	})
}

// limited fails after some writes.
type limited struct {
	storage.Archive
	left int
}

var errCut = errors.New("cut short")

func (l *limited) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if l.left--; l.left < 0 {
		return errCut
	}
	return l.Archive.Create(ctx, k, b)
}

func (l *limited) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if l.left--; l.left < 0 {
		return errCut
	}
	return l.Archive.Append(ctx, k, seq, b)
}

// TestInterruptedCopyContinues: after any number of writes, a partial copy of a
// session is never mistaken for a session, and copying again completes it.
func TestInterruptedCopyContinues(t *testing.T) {
	src := lived(t)
	for n := 0; ; n++ {
		dst := memory.New()
		_, err := record.Copy(t.Context(), &limited{dst, n}, src, record.CopyOptions{})
		if err == nil {
			break
		}
		if !errors.Is(err, errCut) {
			t.Fatalf("after %d writes: %v, want errCut", n, err)
		}
		for s, err := range record.Sessions(t.Context(), dst) {
			must(t, err)
			r, err := record.Verify(t.Context(), dst, s.Dir, record.VerifyOptions{})
			must(t, err)
			if want, _ := record.Verify(t.Context(), src, s.Dir, record.VerifyOptions{}); r.OK() && len(r.Files) != len(want.Files) {
				t.Errorf("after %d writes %s counts as complete, with %d files of %d", n, s.Dir, len(r.Files), len(want.Files))
			}
		}
		_, err = record.Copy(t.Context(), dst, src, record.CopyOptions{})
		must(t, err)
		wantCopy(t, dst, src)
	}
}

func TestCopyOverwritesNothing(t *testing.T) {
	src, dst := lived(t), memory.New()
	must(t, session(t, dst, "alice").Hold(t.Context(), text("another case"))) // another first line, even at the same time
	step(t, session(t, dst, "alice"), 1)
	before := everything(t, dst)
	if _, err := record.Copy(t.Context(), dst, src, record.CopyOptions{}); !errors.Is(err, storage.ErrExists) {
		t.Errorf("got %v, want ErrExists", err)
	}
	after := everything(t, dst)
	for k, data := range before {
		if after[k] != data {
			t.Errorf("%s was changed", k)
		}
	}
	if r, err := record.Verify(t.Context(), dst, "bob", record.VerifyOptions{}); err != nil || !r.OK() {
		t.Errorf("the others: %v, %q; want no error and no problems", err, r.Problems)
	}
}

// Erased data does not come back with a copy that somebody still has. A session that
// was scrubbed since then counts as a different session, so it is not copied over
// the earlier copy, which stays valid.
func TestACopyAfterAScrubLeavesTheEarlierCopyWhole(t *testing.T) {
	src, dst := lived(t), memory.New()
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	s := session(t, src, "alice")
	s.KeepHeads(record.NewHeads(src, nil))
	done, err := s.Scrub(t.Context(), record.ScrubOptions{Find: func(file string, line []byte) (all [][2]int) {
		if i := bytes.Index(line, []byte("user")); i > 0 && strings.HasPrefix(file, "transcript-") {
			all = append(all, [2]int{i, i + 4})
		}
		return all
	}})
	must(t, err)
	if len(done.Files) == 0 {
		t.Fatal("there was nothing to scrub")
	}
	was := everything(t, dst)
	if _, err := record.Copy(t.Context(), dst, src, record.CopyOptions{}); !errors.Is(err, storage.ErrExists) {
		t.Errorf("copied: %v, want ErrExists", err)
	}
	for k, data := range everything(t, dst) {
		if was[k] != data {
			t.Errorf("%s differs", k)
		}
	}
	book, err := record.ReadHeads(t.Context(), dst, record.HeadsOptions{})
	must(t, err)
	if r, err := record.Verify(t.Context(), dst, "alice", record.VerifyOptions{Heads: book}); err != nil || !r.OK() || !r.TailProven {
		t.Errorf("%q, %v; want no problems and no error", r.Problems, err)
	}
}

func TestCopyRestoresNoErasedSession(t *testing.T) {
	src := lived(t)
	archives(t, func(t *testing.T, dst storage.Archive) {
		_, err := record.Copy(t.Context(), dst, src, record.CopyOptions{})
		must(t, err)
		must(t, second(session(t, dst, "alice").Erase(t.Context(), text("asked for"))))
		for _, opts := range []record.CopyOptions{{Sessions: []string{"alice"}}, {}} {
			if _, err := record.Copy(t.Context(), dst, src, opts); !errors.Is(err, record.ErrErased) || !strings.Contains(err.Error(), "alice") {
				t.Errorf("%v: got %v, want ErrErased", opts.Sessions, err)
			}
		}
		names := 0
		for k, data := range everything(t, dst) {
			named := strings.HasPrefix(k, "_names/")
			if strings.HasPrefix(k, "alice/") || named && strings.Contains(data, "alice") {
				t.Errorf("%s came back", k)
			}
			if named {
				names++
			}
		}
		if names == 0 {
			t.Error("the other sessions have no names")
		}
		if r, err := record.Verify(t.Context(), dst, "bob", record.VerifyOptions{}); err != nil || !r.OK() {
			t.Errorf("the others: %v, %q; want no error and no problems", err, r.Problems)
		}
	})
}

// An erase leaves the files of other programs. Such a file is not the session.
func TestCopyRestoresNoErasedSessionBesideAForeignFile(t *testing.T) {
	src, dir := memory.New(), t.TempDir()
	dst, err := fs.Open(dir)
	must(t, err)
	step(t, session(t, src, "alice"), 1)
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	must(t, second(session(t, dst, "alice").Erase(t.Context(), text("asked for"))))
	must(t, os.MkdirAll(filepath.Join(dir, "alice"), 0o700))
	must(t, os.WriteFile(filepath.Join(dir, "alice", ".DS_Store"), []byte("who knows"), 0o600))
	if _, err := record.Copy(t.Context(), dst, src, record.CopyOptions{}); !errors.Is(err, record.ErrErased) {
		t.Errorf("got %v, want ErrErased", err)
	}
	for info, err := range dst.List(t.Context(), mustKey(t, "alice")) {
		if must(t, err); info.Foreign == "" {
			t.Errorf("copied: %s", info.Key)
		}
	}
	must(t, dst.Close())
}

func TestCopyOfOneSessionHasAHeadOfItsOwn(t *testing.T) {
	src, dst := lived(t), memory.New()
	_, err := record.Copy(t.Context(), dst, src, record.CopyOptions{Sessions: []string{"alice"}, Heads: record.NewHeads(dst, nil)})
	must(t, err)
	book, err := record.ReadHeads(t.Context(), dst, record.HeadsOptions{})
	must(t, err)
	gone, err := book.Vanished(t.Context(), dst)
	must(t, err)
	r, err := record.Verify(t.Context(), dst, "alice", record.VerifyOptions{Heads: book})
	if err != nil || !r.OK() || !r.TailProven || len(gone) > 0 {
		t.Errorf("%v, %q, proven %v, gone %v; want no error, no problems and true", err, r.Problems, r.TailProven, gone)
	}
}

func TestCopyNamesTheKeys(t *testing.T) {
	src, dst := lived(t), memory.New()
	for _, id := range []string{"one", "two"} {
		must(t, second(record.AddKeyID(t.Context(), src, id, func([]string) bool { return false })))
	}
	for range 2 {
		must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
		ids, err := record.KeyIDs(t.Context(), dst)
		if err != nil || !slices.Equal(ids, []string{"one", "two"}) {
			t.Errorf("keys %q, %v; want %q and no error", ids, err, []string{"one", "two"})
		}
	}
}

func TestFullCopyHasTheAccessRecords(t *testing.T) {
	src, dst := lived(t), memory.New()
	l := record.NewAccessLog(src)
	show := func(what string) { must(t, l.Record(t.Context(), "alice", "show", text("ann"), text("%s", what))) }
	for _, what := range []string{"turn:1", "turn:2"} {
		show(what) // the second copy continues the log of the first
		must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	}
	wantCopy(t, dst, src)
	if r, err := record.VerifyAccesses(t.Context(), dst); err != nil || !r.OK() || len(r.Files) != 1 {
		t.Errorf("%+v, %v, want no problems in one file", r, err)
	}
}

// unreadable is an archive that can read neither one key nor the list of it.
type unreadable struct {
	*memory.Archive
	key string
}

func (u *unreadable) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if u.key != "" && prefix.String() == u.key {
		return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, errDisk) }
	}
	return u.Archive.List(ctx, prefix)
}

func (u *unreadable) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if k.String() == u.key {
		return nil, errDisk
	}
	return u.Archive.Open(ctx, k, off, n)
}

// A copy that cannot look something up returns an error, and removes no existing file.
func TestACopyThatCannotReadIsAnError(t *testing.T) {
	src, dst := &unreadable{Archive: lived(t)}, &unreadable{Archive: memory.New()}
	must(t, second(record.Copy(t.Context(), dst, src, record.CopyOptions{})))
	for key, a := range map[string]*unreadable{"alice": dst, "_keys.jsonl": src} {
		a.key = key
		if _, err := record.Copy(t.Context(), dst, src, record.CopyOptions{}); !errors.Is(err, errDisk) {
			t.Errorf("%s: %v, want %v", key, err, errDisk)
		}
		a.key = ""
		wantCopy(t, dst, src)
	}
}
