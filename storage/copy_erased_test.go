package storage_test

import (
	"context"
	"errors"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// wantErased fails where a copy has something of a session that was erased where it was
// copied from, or where verify takes that for tampering.
func wantErased(t *testing.T, dst storage.Archive, id string) {
	t.Helper()
	for k := range everything(t, dst) {
		if strings.HasPrefix(k, id+"/") {
			t.Errorf("%s is there", k)
		}
	}
	if stone, ok, err := storage.Erased(t.Context(), dst, id); !ok || !stone.Done || err != nil {
		t.Errorf("tombstone: %+v, %v", stone, err)
	}
	wantWhole(t, dst)
}

// wantWhole fails where verify finds anything wrong with an archive.
func wantWhole(t *testing.T, a storage.Archive) {
	t.Helper()
	book, err := storage.ReadHeads(t.Context(), a, storage.HeadsOptions{})
	must(t, err)
	gone, err := book.Vanished(t.Context(), a)
	must(t, err)
	graves, err := storage.VerifyTombstones(t.Context(), a)
	must(t, err)
	for _, r := range append(gone, book.Report(), graves) {
		if !r.OK() {
			t.Errorf("%s: %q", r.Dir, r.Problems)
		}
	}
	for s, err := range storage.Sessions(t.Context(), a) {
		must(t, err)
		if r, err := storage.Verify(t.Context(), a, s.ID, storage.VerifyOptions{Heads: book}); err != nil || !r.OK() {
			t.Errorf("%s: %q, %v", s.ID, r.Problems, err)
		}
	}
}

func eraseAs(t *testing.T, a storage.Archive, id string) {
	t.Helper()
	s := session(t, a, id)
	s.KeepHeads(storage.NewHeads(a, nil))
	s.ActAs(text("ann"))
	must(t, second(s.Erase(t.Context(), text("asked for"))))
}

// A nightly copy erases what was erased since, and says why.
func TestCopyCarriesAnEraseOver(t *testing.T) {
	for _, heads := range []bool{false, true} {
		src, dst := lived(t), memory.New()
		opts := storage.CopyOptions{}
		if heads {
			opts.Heads = storage.NewHeads(dst, nil)
		}
		must(t, second(storage.Copy(t.Context(), dst, src, opts)))
		eraseAs(t, src, "alice")
		done, err := storage.Copy(t.Context(), dst, src, opts)
		if err != nil || done.Erased != 1 || done.Sessions != 1 {
			t.Errorf("%+v, %v", done, err)
		}
		wantErased(t, dst, "alice")
		if stone, _, _ := storage.Erased(t.Context(), dst, "alice"); stone.Who != "ann" || stone.Reason != "asked for" {
			t.Errorf("erased by %q because %q", stone.Who, stone.Reason)
		}
		must(t, second(storage.Copy(t.Context(), dst, src, opts)))
	}
}

// A session that begins anew under the name of an erased one is copied.
func TestCopyOfASecondLifeTakesThePlaceOfTheFirst(t *testing.T) {
	src, dst := lived(t), memory.New()
	must(t, second(storage.Copy(t.Context(), dst, src, storage.CopyOptions{})))
	eraseAs(t, src, "alice")
	must(t, second(storage.Copy(t.Context(), dst, src, storage.CopyOptions{})))
	s := session(t, src, "alice")
	s.KeepHeads(storage.NewHeads(src, nil))
	step(t, s, 1)
	must(t, second(storage.Copy(t.Context(), dst, src, storage.CopyOptions{})))
	wantWhole(t, dst)
	if r := wantOK(t, dst, "alice"); r.Steps != 1 {
		t.Errorf("%d steps", r.Steps)
	}
}

func TestCopyOfANamedSessionThatWasErased(t *testing.T) {
	src, dst := lived(t), memory.New()
	opts := storage.CopyOptions{Sessions: []string{"alice"}, Heads: storage.NewHeads(dst, nil)}
	must(t, second(storage.Copy(t.Context(), dst, src, opts)))
	eraseAs(t, src, "alice")
	if _, err := storage.Copy(t.Context(), dst, src, opts); !errors.Is(err, storage.ErrErased) {
		t.Errorf("copied: %v", err)
	}
	wantErased(t, dst, "alice")
}

// What the copy keeps, by a hold of its own, stays whole; the others are copied.
func TestCopyErasesNothingThatIsHeld(t *testing.T) {
	src, dst := lived(t), memory.New()
	must(t, second(storage.Copy(t.Context(), dst, src, storage.CopyOptions{})))
	s := session(t, dst, "alice")
	s.KeepHeads(storage.NewHeads(dst, nil))
	must(t, s.Hold(t.Context(), text("a case of the copy")))
	eraseAs(t, src, "alice")
	step(t, session(t, src, "bob"), 2)
	if _, err := storage.Copy(t.Context(), dst, src, storage.CopyOptions{}); !errors.Is(err, storage.ErrHeld) || !strings.Contains(err.Error(), "alice") {
		t.Errorf("copied: %v", err)
	}
	if _, gone, err := storage.Erased(t.Context(), dst, "alice"); gone || err != nil {
		t.Errorf("erased %v, %v", gone, err)
	}
	if r := wantOK(t, dst, "bob"); r.Steps != 2 {
		t.Errorf("bob has %d steps", r.Steps)
	}
	wantWhole(t, dst)
}

// Another session of the same name is none of the source's.
func TestCopyErasesNoOtherSession(t *testing.T) {
	src, dst := lived(t), memory.New()
	step(t, session(t, dst, "alice"), 1)
	eraseAs(t, src, "alice")
	must(t, second(storage.Copy(t.Context(), dst, src, storage.CopyOptions{})))
	if r := wantOK(t, dst, "alice"); r.Steps != 1 {
		t.Errorf("%d steps", r.Steps)
	}
	wantWhole(t, dst)
}

// An erase at any time of a copy is no tampering with it.
func TestCopyBesideAnErase(t *testing.T) {
	for _, named := range [][]string{nil, {"alice"}} {
		for at := 0; ; at++ {
			src, dst, n := lived(t), memory.New(), 0
			opts := storage.CopyOptions{Sessions: named, Progress: func(storage.Key) {
				if n == at {
					eraseAs(t, src, "alice")
				}
				n++
			}}
			_, err := storage.Copy(t.Context(), dst, src, opts)
			if n <= at {
				break
			}
			if err != nil && (named == nil || !errors.Is(err, storage.ErrErased)) {
				t.Errorf("erased before file %d: %v", at, err)
			}
			wantWhole(t, dst)
			if named == nil {
				must(t, second(storage.Copy(t.Context(), dst, src, storage.CopyOptions{})))
				wantErased(t, dst, "alice")
			}
		}
	}
}

// older writes tombstones as version 0.1.0 did.
type older struct{ *memory.Archive }

func (a older) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if k.Base() == "_erased.jsonl" {
		data, err := io.ReadAll(b.Reader())
		if err != nil {
			return err
		}
		b = storage.Redacted(text("%s", regexp.MustCompile(`,"life":"[0-9a-f]*"`).ReplaceAllString(string(data), "")))
		n := int64(len(everythingIn(a.Archive, k)))
		return a.Archive.Append(ctx, k, n, b)
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func everythingIn(a storage.Archive, k storage.Key) string {
	r, err := a.Open(context.Background(), k, 0, -1)
	if err != nil {
		return ""
	}
	data, _ := io.ReadAll(r)
	return string(data)
}

func TestCopyCarriesOverAnEraseOfAnOlderVersion(t *testing.T) {
	for _, heads := range []bool{true, false} {
		src, dst := memory.New(), memory.New()
		s := session(t, src, "alice")
		if heads {
			s.KeepHeads(storage.NewHeads(src, nil))
		}
		step(t, s, 1)
		must(t, second(storage.Copy(t.Context(), dst, src, storage.CopyOptions{})))
		x := session(t, older{src}, "alice")
		if heads {
			x.KeepHeads(storage.NewHeads(src, nil))
		}
		must(t, second(x.Erase(t.Context(), text("asked for"))))
		_, err := storage.Copy(t.Context(), dst, src, storage.CopyOptions{})
		if heads {
			must(t, err)
			if stone, ok, err := storage.Erased(t.Context(), dst, "alice"); !ok || err != nil {
				t.Errorf("%+v, %v", stone, err)
			}
			continue
		}
		if !errors.Is(err, storage.ErrExists) || !strings.Contains(err.Error(), "alice") {
			t.Errorf("nobody knows whose tombstone it is: %v", err)
		}
		wantOK(t, dst, "alice")
	}
}
