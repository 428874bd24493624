package seal

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

var one, two = Key{1}, Key{2}

func TestSealOpensOnlyWithItsKey(t *testing.T) {
	fp := [16]byte{1, 2, 3}
	sealed := New(one).Seal(fp)
	if sealed == fp || New(two).Seal(fp) == sealed {
		t.Error("the sealed value does not depend on the key")
	}
	if New(one).Seal(fp) != sealed {
		t.Error("the sealed value differs each time")
	}
	if New(one).Open(sealed) != fp {
		t.Error("the key does not open it")
	}
	if New(two).Open(sealed) == fp {
		t.Error("another key opens it")
	}
	if ref := New(one).Ref(fp); ref != fmt.Sprintf("%x", sealed[:6]) {
		t.Errorf("the reference %s is not the beginning of %x", ref, sealed)
	}
	if (*Sealer)(nil).Open((*Sealer)(nil).Seal(fp)) != fp || (*Sealer)(nil).ID() != "" {
		t.Error("a nil sealer changes a fingerprint, or has an id")
	}
}

func TestDigestsDependOnKeyAndPurpose(t *testing.T) {
	seen := map[[16]byte]bool{}
	for _, k := range []Key{one, two} {
		for _, purpose := range []string{"name", "branch"} {
			for _, text := range []string{"", "a", "ab"} {
				seen[New(k).Digest(purpose, []byte(text))] = true
			}
		}
	}
	if len(seen) != 12 {
		t.Errorf("%d different digests, want 12", len(seen))
	}
	if New(one).Digest("a", []byte("bc")) == New(one).Digest("ab", []byte("c")) {
		t.Error("another split of purpose and data gives the same digest")
	}
}

func TestKeysAreReadAndNeverPrinted(t *testing.T) {
	for _, text := range []string{one.Hex(), " " + strings.ToUpper(one.Hex()) + "\n", base64.StdEncoding.EncodeToString(one[:]), base64.RawURLEncoding.EncodeToString(one[:])} {
		if k, err := ParseKey(text); err != nil || k != one {
			t.Errorf("%q: %v, want the key and no error", text, err)
		}
	}
	for _, text := range []string{"", "ab", one.Hex()[1:], one.Hex() + "00", base64.StdEncoding.EncodeToString(one[:31])} {
		if _, err := ParseKey(text); err == nil {
			t.Errorf("%q is accepted as a key", text)
		} else if len(text) > 8 && strings.Contains(err.Error(), text) {
			t.Errorf("the error contains the key: %v", err)
		}
	}
	if keys, err := ParseKeys(one.Hex() + ", " + two.Hex()); err != nil || !slices.Equal(keys, []Key{one, two}) {
		t.Errorf("%d keys, %v", len(keys), err)
	}
	for _, verb := range []string{"%v", "%s", "%x", "%q", "%+v", "%#v", "%d"} {
		if got := fmt.Sprintf(verb, one); got != "[redacted]" {
			t.Errorf("%s prints %s, want %s", verb, got, "[redacted]")
		}
	}
}

func TestKeyInAFolderIsPrivateToTheUser(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "a", "keys")
	if err := WriteKey(folder, one); err != nil {
		t.Fatal(err)
	}
	if k, err := ReadKey(folder, one.ID()); err != nil || k != one {
		t.Errorf("read back: %v", err)
	}
	for name, want := range map[string]os.FileMode{"": 0o700, one.ID(): 0o600} {
		if info, err := os.Stat(filepath.Join(folder, name)); err != nil || info.Mode().Perm() != want {
			t.Errorf("%q has mode %v, want %v (%v)", name, info.Mode().Perm(), want, err)
		}
	}
	for _, id := range []string{"", "../" + one.ID(), two.ID(), strings.ToUpper(one.ID())} {
		if _, err := ReadKey(folder, id); err == nil {
			t.Errorf("the id %q leads to a key", id)
		}
	}
	if err := os.WriteFile(filepath.Join(folder, two.ID()), []byte(one.Hex()), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ReadKey(folder, two.ID()); err == nil {
		t.Error("a key in the file of another key is accepted")
	}
}

// Processes that make the key of one archive at once end with the same key.
func TestConcurrentProcessesMakeOneKey(t *testing.T) {
	for range 20 {
		a, folder := memory.New(), filepath.Join(t.TempDir(), "keys")
		var wg sync.WaitGroup
		var got [8]Held
		for i := range got {
			wg.Go(func() {
				h, err := Make(t.Context(), a, folder, NewKey())
				if err != nil {
					t.Error(err)
				}
				got[i] = h
			})
		}
		wg.Wait()
		for _, h := range got {
			if len(h.Keys) != 1 || h.Keys[0] != got[0].Keys[0] || len(h.Lost) != 0 {
				t.Fatalf("%d keys, %d lost; want 1 and 0", len(h.Keys), len(h.Lost))
			}
		}
		if files, _ := os.ReadDir(folder); len(files) != 1 {
			t.Fatalf("%d files in the folder of keys, want 1", len(files))
		}
	}
}

func TestLostArchiveKeyIsReplacedAndReported(t *testing.T) {
	a := memory.New()
	here, elsewhere := filepath.Join(t.TempDir(), "keys"), filepath.Join(t.TempDir(), "keys")
	if _, err := Make(t.Context(), a, elsewhere, one); err != nil {
		t.Fatal(err)
	}
	h, err := Look(t.Context(), a, here)
	if err != nil || len(h.Keys) != 0 || !slices.Equal(h.Lost, []string{one.ID()}) {
		t.Fatalf("%d keys, lost %v, %v; want 0, %v and no error", len(h.Keys), h.Lost, err, []string{one.ID()})
	}
	h, err = Make(t.Context(), a, here, two)
	if err != nil || !slices.Equal(h.Keys, []Key{two}) || !slices.Equal(h.Lost, []string{one.ID()}) {
		t.Fatalf("%d keys, lost %v, %v; want %v and no error", len(h.Keys), h.Lost, err, []string{one.ID()})
	}
	ids, err := record.KeyIDs(t.Context(), a)
	if err != nil || !slices.Equal(ids, []string{one.ID(), two.ID()}) {
		t.Errorf("the archive names %v, %v; want %v and no error", ids, err, []string{one.ID(), two.ID()})
	}
}

func TestNewKeyComesFirstAndNamesStay(t *testing.T) {
	a, folder := memory.New(), filepath.Join(t.TempDir(), "keys")
	if _, err := Make(t.Context(), a, folder, one); err != nil {
		t.Fatal(err)
	}
	h, err := Add(t.Context(), a, folder, two)
	if err != nil || !slices.Equal(h.Keys, []Key{two, one}) {
		t.Fatalf("%d keys, %v", len(h.Keys), err)
	}
	r := NewRing(folder, h.Keys...)
	if r.Current().ID() != two.ID() || r.Root().ID() != one.ID() {
		t.Error("the new key is not the current one, or has become the root")
	}
}

// A ring may begin with a key of its own and learn the archive's key afterwards. From
// then on nothing is sealed or named with the first key, but data sealed with it can
// still be opened.
func TestLearnedKeyReplacesTheFirstKey(t *testing.T) {
	own := Key{3}
	for _, learned := range [][]Key{{one}, {two, one}} {
		r := NewRing("", own)
		r.Use(learned[0], learned[1:]...)
		if r.Current().ID() != learned[0].ID() || r.Root().ID() != one.ID() {
			t.Errorf("with %d keys of the archive: sealed with %s, named with %s", len(learned), r.Current().ID(), r.Root().ID())
		}
		if _, ok := r.ByID(own.ID()); !ok {
			t.Error("the first key is forgotten")
		}
	}
}

func TestARingFindsKeysByTheirIDs(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "keys")
	if err := WriteKey(folder, two); err != nil {
		t.Fatal(err)
	}
	r := NewRing(folder, one)
	for id, want := range map[string]bool{"": true, one.ID(): true, two.ID(): true, (Key{3}).ID(): false} {
		if s, ok := r.ByID(id); ok != want || ok && s.ID() != id {
			t.Errorf("%q: %v, want %v", id, ok, want)
		}
	}
	if all := r.All(); len(all) != 3 || all[0] != nil {
		t.Errorf("%d sealers, want that of no key and two", len(all))
	}
	if _, ok := (*Ring)(nil).ByID(one.ID()); ok {
		t.Error("a nil ring returns a key")
	}
}

// The archive has nothing of a key but its id.
func TestTheArchiveHasNoKey(t *testing.T) {
	a, folder := memory.New(), filepath.Join(t.TempDir(), "keys")
	k := NewKey()
	if _, err := Make(t.Context(), a, folder, k); err != nil {
		t.Fatal(err)
	}
	for info, err := range a.List(t.Context(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Open(t.Context(), info.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		var b bytes.Buffer
		_, _ = b.ReadFrom(r)
		if strings.Contains(b.String(), k.Hex()) || !strings.Contains(b.String(), k.ID()) {
			t.Errorf("%s: %s, want the id of the key and not the key", info.Key, b.String())
		}
	}
}

func TestProcessesOfAMachineHaveOneKey(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "keys")
	if _, ok, err := MachineKey(folder, one, false); ok || err != nil {
		t.Fatalf("the key exists before it is made: %v", err)
	}
	var wg sync.WaitGroup
	var got [8]Key
	for i := range got {
		wg.Go(func() {
			k, ok, err := MachineKey(folder, NewKey(), true)
			if err != nil || !ok {
				t.Error(ok, err)
			}
			got[i] = k
		})
	}
	wg.Wait()
	for _, k := range got {
		if k != got[0] {
			t.Fatal("two processes have two keys")
		}
	}
	if k, err := ReadKey(folder, got[0].ID()); err != nil || k != got[0] {
		t.Errorf("the key is not found by its id: %v", err)
	}
	if files, _ := os.ReadDir(folder); len(files) != 2 {
		t.Errorf("%d files in the folder, want 2", len(files))
	}
}
