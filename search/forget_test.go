package search

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

func line1(l redact.Text) []redact.Text { return []redact.Text{l} }

// secretOf returns a word that only one session has.
func secretOf(session, i int) string { return fmt.Sprintf("hush%04dword%03d", session, i) }

// whispers returns an archive of sessions. Each session has its own words, so many
// that pages of the index begin with them.
func whispers(t testing.TB, sessions, words int) *memory.Archive {
	a := memory.New()
	for s := range sessions {
		var b strings.Builder
		for i := range words {
			b.WriteString(secretOf(s, i) + " common ")
		}
		say(t, a, fmt.Sprintf("s%04d", s), b.String(), strings.Repeat("padding ", 500))
	}
	return a
}

// files returns the content of all files of an index.
func files(t testing.TB, folder string) []byte {
	t.Helper()
	var all []byte
	entries, err := os.ReadDir(folder)
	ok(t, err)
	for _, e := range entries {
		data, err := os.ReadFile(filepath.Join(folder, e.Name()))
		ok(t, err)
		all = append(all, data...)
	}
	return all
}

func TestForgottenTextIsNotInTheFile(t *testing.T) {
	const sessions, words, gone = 60, 40, 17
	dir := folder(t)
	a := whispers(t, sessions, words)
	x := index(t, a, dir)
	_, err := x.Update(t.Context(), nil)
	ok(t, err)
	if !bytes.Contains(files(t, dir), []byte(secretOf(gone, 3))) {
		t.Fatal("the session was not in the index")
	}
	name := fmt.Sprintf("s%04d", gone)
	ok(t, x.Forget(t.Context(), name))
	ok(t, x.clean(t.Context()))
	x.traces(t, gone, words)
	ok(t, x.Close())
	for i := range words {
		if bytes.Contains(files(t, dir), []byte(secretOf(gone, i))) {
			t.Errorf("%s still exists", secretOf(gone, i))
		}
	}
	if !bytes.Contains(files(t, dir), []byte(secretOf(gone+1, 3))) {
		t.Error("other sessions were removed, too")
	}
}

// traces searches the tables of the full-text index, whose content is compressed.
func (x *Index) traces(t *testing.T, gone, words int) {
	t.Helper()
	var n int
	prefix := secretOf(gone, 0)[:8]
	ok(t, x.db.QueryRow(`SELECT count(*) FROM known WHERE term >= ? AND term < ?`, prefix, prefix+"z").Scan(&n))
	if n != 0 {
		t.Errorf("%d words of %d are still known", n, words)
	}
	ok(t, x.db.QueryRow(`SELECT count(*) FROM word_idx WHERE substr(term, 2, 8) = CAST(? AS BLOB)`, prefix).Scan(&n))
	if n != 0 {
		t.Errorf("%d pages begin with a word that is gone", n)
	}
	tx, err := x.db.Begin()
	ok(t, err)
	defer func() { _ = tx.Rollback() }()
	if left, err := stale(t.Context(), tx); err != nil || left {
		t.Errorf("stale %t, %v", left, err)
	}
}

func TestStalePagesAreDetected(t *testing.T) {
	a := whispers(t, 60, 40)
	x := index(t, a, folder(t))
	_, err := x.Update(t.Context(), nil)
	ok(t, err)
	left := false
	for s := 0; s < 60 && !left; s++ { // some session's word begins a page
		ok(t, x.write(t.Context(), func(tx *sql.Tx) error {
			if _, err := forget(t.Context(), tx, fmt.Sprintf("s%04d", s)); err != nil {
				return err
			}
			left, err = stale(t.Context(), tx)
			return err
		}))
	}
	if !left {
		t.Error("no page begins with a word of any session: the test tests nothing, or stale sees nothing")
	}
}

func TestRemovedTextLeavesTheFile(t *testing.T) {
	dir, a := folder(t), memory.New()
	s := say(t, a, "one", "the word was sesame9000")
	x := index(t, a, dir)
	_, err := x.Update(t.Context(), nil)
	ok(t, err)
	var names []storage.Key
	for info := range s.Files(t.Context()) {
		names = append(names, info.Key)
	}
	for _, k := range names {
		ok(t, a.Remove(t.Context(), k))
	}
	say(t, a, "one", "the word was taken out")
	if got := found(t, x, Query{Words: "sesame9000"}); len(got) != 0 {
		t.Errorf("found %q", got)
	}
	if bytes.Contains(files(t, dir), []byte("sesame9000")) {
		t.Error("the removed text is still in the files of the index")
	}
}

// If another process removes a text while this one cleans the file, the file is cleaned
// again.
func TestTextRemovedDuringACleaningLeavesTheFile(t *testing.T) {
	a, dir := memory.New(), folder(t)
	say(t, a, "one", "zebra")
	say(t, a, "two", "okapi")
	x, other := index(t, a, dir), index(t, a, dir)
	ok(t, second(x.Update(t.Context(), nil)))
	ok(t, x.Forget(t.Context(), "one"))
	mark, err := x.uncleaned(t.Context())
	ok(t, err)
	ok(t, other.Forget(t.Context(), "two")) // after the file was cleaned, and before that is recorded
	ok(t, x.cleaned(t.Context(), mark))
	if left, err := x.uncleaned(t.Context()); err != nil || left == 0 || left == mark {
		t.Errorf("the file counts as clean: mark %d, then %d, %v", mark, left, err)
	}
	ok(t, x.clean(t.Context()))
	if left, err := x.uncleaned(t.Context()); err != nil || left != 0 {
		t.Errorf("after another cleaning: mark %d, %v", left, err)
	}
}

// Text that was read before a session was forgotten is not indexed, however often sessions were
// forgotten before.
func TestEachForgetDiscardsTextThatWasReadBefore(t *testing.T) {
	a, dir := memory.New(), folder(t)
	say(t, a, "one", "zebra")
	x, other := index(t, a, dir), index(t, a, dir)
	for n := range 3 {
		before, err := forgets(t.Context(), x.db)
		ok(t, err)
		batch, err := x.readSome(t.Context(), []look{{dir: "one", files: "a hash"}}, nil)
		ok(t, err)
		ok(t, other.Forget(t.Context(), "one"))
		if err := x.put(t.Context(), batch, nil, before); !errors.Is(err, errForgotten) {
			t.Errorf("after %d forgets, text that was read before another one is indexed: %v", n, err)
		}
	}
}

func TestErasureUpdatesItsIndex(t *testing.T) {
	root := t.TempDir()
	a, err := fs.Open(root)
	ok(t, err)
	say(t, a, "one", "an apple")
	say(t, a, "two", "a banana")
	place, err := Folder(a)
	ok(t, err)
	if want := filepath.Join(root, "_index"); place != want {
		t.Fatalf("the index is in %s, not in %s", place, want)
	}
	x := index(t, a, place)
	_, err = x.Update(t.Context(), nil)
	ok(t, err)
	s, err := record.OpenSession(t.Context(), a, "one")
	ok(t, err)
	s.KeepIndex(x)
	if _, err := s.Erase(t.Context(), redact.Lit("why")); err != nil {
		t.Fatal(err)
	}
	if st, err := x.Stats(t.Context()); err != nil || st.Sessions != 1 {
		t.Errorf("the index has %+v, %v", st, err)
	}
	ok(t, x.Close())
	if bytes.Contains(files(t, place), []byte("apple")) {
		t.Error("the erased text is still in the files of the index")
	}
}

func TestErasureWithoutItsIndexRemovesTheWholeIndex(t *testing.T) {
	a, err := fs.Open(t.TempDir())
	ok(t, err)
	s := say(t, a, "one", "an apple")
	say(t, a, "two", "an apple, too")
	place, err := Folder(a)
	ok(t, err)
	x := index(t, a, place)
	_, err = x.Update(t.Context(), nil)
	ok(t, err)
	ok(t, x.Close())
	if _, err := s.Erase(t.Context(), redact.Lit("why")); err != nil {
		t.Fatal(err)
	}
	if Exists(place) {
		t.Error("the index still exists")
	}
	if got := found(t, index(t, a, place), Query{Words: "apple"}); len(got) != 1 || got[0] != "two: an apple, too" {
		t.Errorf("found %q", got)
	}
}

// failing is an index that can't forget.
type failing struct{}

func (failing) Forget(context.Context, ...string) error { return errTest }

func TestEraseFailsIfTheIndexKeepsText(t *testing.T) {
	a := memory.New()
	s := say(t, a, "one", "an apple")
	s.KeepIndex(failing{})
	if _, err := s.Erase(t.Context(), redact.Lit("why")); !errors.Is(err, errTest) {
		t.Errorf("erased: %v", err)
	}
	s.KeepIndex(nil)
	if stone, err := s.Erase(t.Context(), redact.Lit("why")); err != nil || !stone.Done {
		t.Errorf("erased again: %+v, %v", stone, err)
	}
}

func TestDamagedIndexIsRebuilt(t *testing.T) {
	dir, a := folder(t), memory.New()
	say(t, a, "one", "an apple")
	for name, damage := range map[string]func(x *Index) error{
		"garbage":         func(x *Index) error { return os.WriteFile(x.path, []byte("this is no database"), 0o600) },
		"another version": func(x *Index) error { return second(x.db.Exec(`UPDATE fact SET value = 99 WHERE name = 'version'`)) },
		"other tables":    func(x *Index) error { return second(x.db.Exec(`DROP TABLE fact`)) },
	} {
		x := index(t, a, dir)
		_, err := x.Update(t.Context(), nil)
		ok(t, err)
		ok(t, damage(x))
		ok(t, x.db.Close())
		if got := found(t, index(t, a, dir), Query{Words: "apple"}); len(got) != 1 {
			t.Errorf("%s: found %q", name, got)
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestIndexesArePrivateToTheOwner(t *testing.T) {
	dir := folder(t)
	index(t, memory.New(), dir)
	for name, want := range map[string]os.FileMode{dir: 0o700, filepath.Join(dir, fileName): 0o600} {
		info, err := os.Stat(name)
		if err != nil || info.Mode().Perm() != want {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
}

// Each goroutine removes sessions of its own. It no longer finds its removed sessions.
// It finds all sessions that nobody removes, and may miss sessions that others are
// removing.
func TestSeveralUseOneIndexAtOnce(t *testing.T) {
	dir := folder(t)
	a := whispers(t, 12, 3)
	var all sync.WaitGroup
	for w := range 3 {
		all.Go(func() {
			x, err := Open(context.Background(), a, dir)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = x.Close() }()
			mine := []string{"s0009", "s0010", "s0011"}
			for i := range 3 {
				mine = append(mine, fmt.Sprintf("s%04d", w*3+i))
			}
			for _, own := range mine[3:] {
				if err := x.Forget(context.Background(), own); err != nil {
					t.Error(err)
				}
				f, err := x.Search(context.Background(), Query{Words: "common"})
				got := make(map[string]int)
				for _, m := range f.Matches {
					got[m.Session]++
				}
				if err != nil || len(got) != len(f.Matches) {
					t.Errorf("found %v, %v", got, err)
				}
				for _, s := range mine {
					if got[s] != 1 {
						t.Errorf("found %v without %s", got, s)
					}
				}
			}
		})
	}
	all.Wait()
	x := index(t, a, dir)
	if got := found(t, x, Query{Words: "common"}); len(got) != 12 {
		t.Errorf("found %q", got)
	}
	if st, err := x.Stats(t.Context()); err != nil || st.Sessions != 12 || st.Texts != 24 {
		t.Errorf("the index has %+v, %v", st, err)
	}
}
