package crypt_test

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"filippo.io/age"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
)

// TestEveryStoredObjectIsAnAgeFile: the tool age alone decrypts all stored data, file
// by file and piece by piece, with the identity of any recipient.
func TestEveryStoredObjectIsAnAgeFile(t *testing.T) {
	one, two := newPair(t), newPair(t)
	root := t.TempDir()
	a := crypt.New(folder(t, root), keys(t, "", one, two))
	large := strings.Repeat(`{"role":"user","content":"the plain text of a message"}`+"\n", 4000)
	must(t, a.Create(t.Context(), key(t, "s/file.json"), storage.Redacted(text(t, large))))
	must(t, a.Create(t.Context(), key(t, "s/empty"), storage.Blob{}))
	must(t, a.Append(t.Context(), key(t, "s/events.jsonl"), 0, storage.Redacted(text(t, "first\n"))))
	must(t, a.Append(t.Context(), key(t, "s/events.jsonl"), 6, storage.Redacted(text(t, "second\n"))))
	for name, want := range map[string]string{
		"s/file.json.age": large, "s/empty.age": "",
		"s/events.jsonl/00000000000000000000.age": "first\n", "s/events.jsonl/00000000000000000006.age": "second\n",
	} {
		object, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		must(t, err)
		if bytes.Contains(object, []byte("first")) || bytes.Contains(object, []byte("plain text")) {
			t.Errorf("%s has text", name)
		}
		for _, p := range []pair{one, two} {
			identity, err := age.ParseX25519Identity(p.identity)
			must(t, err)
			r, err := age.Decrypt(bytes.NewReader(object), identity)
			must(t, err)
			got, err := io.ReadAll(r)
			if err != nil || string(got) != want {
				t.Errorf("%s decrypts to %d bytes, want %d: %v", name, len(got), len(want), err)
			}
		}
	}
}

// TestSizesAreKnownWithoutReading compares listed sizes with stored ones, for any length and any
// number of recipients.
func TestSizesAreKnownWithoutReading(t *testing.T) {
	var to []pair
	for range crypt.MaxRecipients {
		to = append(to, newPair(t))
		inner := memory.New()
		a := crypt.New(inner, keys(t, "", to...))
		for _, n := range []int{0, 1, 65535, 65536, 65537, 131072, 131073} {
			k := key(t, fmt.Sprintf("s/f-%d", n))
			must(t, a.Create(t.Context(), k, storage.Redacted(text(t, strings.Repeat("x", n)))))
			for info, err := range a.List(t.Context(), k) {
				must(t, err)
				if info.Size != int64(n) {
					t.Errorf("%d recipients: %d bytes are said to be %d", len(to), n, info.Size)
				}
			}
		}
	}
	if _, err := crypt.NewKeys(append(recipientsOf(to), newPair(t).recipient), ""); err == nil {
		t.Error("more recipients than a header holds are accepted")
	}
}

func recipientsOf(to []pair) (out []string) {
	for _, p := range to {
		out = append(out, p.recipient)
	}
	return out
}

// TestOnlyRecipientsCanRead: the identity of a recipient can read, and no other identity can. The
// error names the variable and no key. Check finds an identity that can't read. A process without
// an identity only writes.
func TestOnlyRecipientsCanRead(t *testing.T) {
	mine, theirs, other := newPair(t), newPair(t), newPair(t)
	inner := memory.New()
	writer := crypt.New(inner, keys(t, "", mine, theirs))
	file, log := key(t, "s/file"), key(t, "s/log.jsonl")
	must(t, writer.Create(t.Context(), file, storage.Redacted(text(t, "content"))))
	must(t, writer.Append(t.Context(), log, 0, storage.Redacted(text(t, "line\n"))))
	for name, c := range map[string]struct {
		a     *crypt.Archive
		reads bool
	}{
		"the writer itself":              {writer, true},
		"a recipient":                    {crypt.New(inner, keys(t, theirs.identity, mine)), true},
		"an old and a new identity":      {crypt.New(inner, keys(t, other.identity+"\n"+mine.identity, other)), true},
		"another writer":                 {crypt.New(inner, keys(t, "", mine, theirs)), false},
		"the identity of somebody else":  {crypt.New(inner, keys(t, other.identity, mine)), false},
		"no recipient, and no identity":  {crypt.New(inner, reading(t, "")), false},
		"no recipient, and the identity": {crypt.New(inner, reading(t, mine.identity)), true},
	} {
		var want error
		if name == "the identity of somebody else" {
			want = storage.ErrNoIdentity
		}
		if err := c.a.Check(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: Check: %v, want %v", name, err, want)
		}
		for _, k := range []storage.Key{file, log} {
			for _, n := range []int64{-1, 3} {
				_, err := read(t.Context(), c.a, k, 0, n)
				switch {
				case c.reads:
					if err != nil {
						t.Errorf("%s: %s: %v", name, k, err)
					}
				case !errors.Is(err, storage.ErrNoIdentity) || !strings.Contains(err.Error(), crypt.IdentityVariable) || strings.Contains(err.Error(), "AGE-SECRET"):
					t.Errorf("%s: %s: %v, want ErrNoIdentity with the variable and without a key", name, k, err)
				}
			}
		}
	}
}

func reading(t testing.TB, identities string) *crypt.Keys {
	t.Helper()
	k, err := crypt.ReadingKeys(identities)
	must(t, err)
	return k
}

// TestWithoutRecipientsNothingIsWritten: an archive opened for reading can't be written.
func TestWithoutRecipientsNothingIsWritten(t *testing.T) {
	inner := memory.New()
	a := crypt.New(inner, reading(t, newPair(t).identity))
	err := errors.Join(a.Create(t.Context(), key(t, "s/f"), storage.Blob{}), a.Append(t.Context(), key(t, "s/l"), 0, storage.Redacted(text(t, "x"))))
	if err == nil || !strings.Contains(err.Error(), "storage.encrypt.recipients") {
		t.Errorf("err = %v, want an error with %q", err, "storage.encrypt.recipients")
	}
	if state, err := crypt.Look(t.Context(), inner); state != crypt.Empty || err != nil {
		t.Errorf("state %v, %v; want %v and no error", state, err, crypt.Empty)
	}
}

// An index of the text is stored next to the sessions, and this package does not encrypt it.
func TestAnIndexMakesNoArchivePlain(t *testing.T) {
	inner, p := memory.New(), newPair(t)
	must(t, inner.Create(t.Context(), key(t, "_index/words"), storage.Redacted(text(t, "x"))))
	a := crypt.New(inner, keys(t, p.identity, p))
	if state, err := crypt.Look(t.Context(), inner); state != crypt.Empty || err != nil {
		t.Errorf("an index alone: state %v, %v; want %v and no error", state, err, crypt.Empty)
	}
	must(t, a.Check(t.Context()))
	must(t, a.Create(t.Context(), key(t, "s/f"), storage.Redacted(text(t, "x"))))
	if state, err := crypt.Look(t.Context(), inner); state != crypt.Encrypted || err != nil {
		t.Errorf("with an encrypted file: state %v, %v; want %v and no error", state, err, crypt.Encrypted)
	}
}
