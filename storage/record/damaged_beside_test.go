package record_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// damage replaces a text in the first two lines of a log, as a bad disk could.
func damage(t *testing.T, a *memory.Archive, key, from, to string) {
	t.Helper()
	k, err := storage.ParseKey(key)
	must(t, err)
	was := everythingIn(a, k)
	if !strings.Contains(was, from) {
		t.Fatalf("%s does not have %q", key, from)
	}
	must(t, a.Remove(t.Context(), k))
	must(t, a.Append(t.Context(), k, 0, storage.Redacted(text("%s", strings.Replace(was, from, to, 2)))))
}

// A damaged tombstone does not block other sessions, and its own session stays erased.
// If the line no longer names its session, only calls for a session without a tombstone
// get an error.
func TestADamagedTombstoneBlocksNoOtherSession(t *testing.T) {
	for name, c := range map[string]struct {
		from, to string
		known    bool
	}{
		"time":        {`"at":"20`, `"at":"x0`, true},
		"no JSON":     {`,"at":`, `,"at:`, true},
		"session":     {`"session":"`, `"session":"x`, false},
		"all of JSON": {`"session":"`, `"session:"x`, false},
	} {
		t.Run(name, func(t *testing.T) {
			a := lived(t)
			bob := session(t, a, "bob")
			_, _ = bob.Erase(t.Context(), text("in the way")) // the erase is refused, and its tombstone is not damaged
			eraseAs(t, a, "alice")
			damage(t, a, "_erased.jsonl", c.from, c.to)
			for _, find := range []func(string) (record.Tombstone, bool, error){
				func(id string) (record.Tombstone, bool, error) { return record.Erased(t.Context(), a, id) },
				func(id string) (record.Tombstone, bool, error) {
					return record.NewGraves(a).Find(t.Context(), id)
				},
			} {
				if _, gone, err := find("alice"); !gone || err != nil {
					t.Errorf("alice: %v, %v; want true and no error", gone, err)
				}
				if _, gone, err := find("carol"); gone != c.known || (err == nil) != c.known {
					t.Errorf("carol: %v, %v, want %v", gone, err, c.known)
				}
				if _, gone, err := find("dave"); gone || (err == nil) != c.known {
					t.Errorf("dave: %v, %v, want false", gone, err)
				}
			}
			book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
			must(t, err)
			if r, err := record.Verify(t.Context(), a, "bob", record.VerifyOptions{Heads: book}); err != nil || len(r.Files) == 0 {
				t.Errorf("bob: %v", err)
			}
			if r, err := record.VerifyTombstones(t.Context(), a); err != nil || r.OK() {
				t.Errorf("no problem of the tombstones is reported, %v", err)
			}
		})
	}
}

// A folder in place of a log next to the sessions is reported as a problem.
func TestAFolderInPlaceOfALogIsReported(t *testing.T) {
	for name, verify := range map[string]func(context.Context, storage.Archive) (record.Report, error){"_erased.jsonl": record.VerifyTombstones, "_keys.jsonl": record.VerifyKeys} {
		a := memory.New()
		must(t, a.Create(t.Context(), mustKey(t, name+"/x"), storage.Blob{}))
		if r, err := verify(t.Context(), a); err != nil || len(r.Problems) != 1 || r.Problems[0].Kind != record.Added || r.Problems[0].File != name+"/x" {
			t.Errorf("%s: %+v, %v, want one problem of kind Added and no error", name, r, err)
		}
	}
}

func TestADamagedKeyBlocksNoSession(t *testing.T) {
	a := memory.New()
	for _, id := range []string{"one", "two"} {
		must(t, second(record.AddKeyID(t.Context(), a, id, func([]string) bool { return false })))
	}
	if r, err := record.VerifyKeys(t.Context(), a); err != nil || !r.OK() || len(r.Files) != 1 {
		t.Fatalf("%+v, %v, want no problems in one file", r, err)
	}
	damage(t, a, "_keys.jsonl", `"at":"20`, `"at":"x0`)
	if ids, err := record.KeyIDs(t.Context(), a); err != nil || !slices.Equal(ids, []string{"one", "two"}) {
		t.Errorf("%q, %v; want %q and no error", ids, err, []string{"one", "two"})
	}
	if r, err := record.VerifyKeys(t.Context(), a); err != nil || r.OK() {
		t.Errorf("no problem of the keys is reported, %v", err)
	}
	damage(t, a, "_keys.jsonl", `"key":"one"`, `"key":17`)
	if ids, err := record.KeyIDs(t.Context(), a); err != nil || !slices.Equal(ids, []string{"two"}) {
		t.Errorf("%q, %v; want %q and no error", ids, err, []string{"two"})
	}
}

// If two processes give an archive its first key at once, one succeeds, and the other
// learns that key.
func TestConcurrentProcessesAgreeOnTheFirstKey(t *testing.T) {
	any := func(ids []string) bool { return len(ids) > 0 }
	a := &failing{Archive: memory.New()}
	a.fail = func(op string, _ storage.Key) error {
		if op == "append" {
			a.fail = nil
			must(t, second(record.AddKeyID(t.Context(), a.Archive, "theirs", any)))
		}
		return nil
	}
	got, err := record.AddKeyID(t.Context(), a, "ours", any)
	must(t, err)
	there, err := record.KeyIDs(t.Context(), a)
	if want := []string{"theirs"}; err != nil || !slices.Equal(got, want) || !slices.Equal(there, want) {
		t.Errorf("reported the keys %q, the archive names %q, %v", got, there, err)
	}
}
