package compact_test

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/testkey"
	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// ageKeys returns keys of a recipient, and the keys of a process with its identity.
func ageKeys(t *testing.T) (writer func() *crypt.Keys, reader *crypt.Keys) {
	t.Helper()
	identity, recipient, err := crypt.NewIdentity()
	if err != nil {
		t.Fatal(err)
	}
	keys := func(identity string) *crypt.Keys {
		k, err := crypt.NewKeys([]string{recipient}, identity)
		if err != nil {
			t.Fatal(err)
		}
		return k
	}
	return func() *crypt.Keys { return keys("") }, keys(identity)
}

// TestAProcessWithoutAnIdentityCompacts: a process that can't read a session continues
// in its own folder. A process with the identity reads and proves all folders.
func TestAProcessWithoutAnIdentityCompacts(t *testing.T) {
	writer, reader := ageKeys(t)
	inner := memory.New()
	history := loop(30, 150)
	views := map[string]bool{}
	for range 3 {
		m := newRig(t, compact.Config{MaxContextTokens: 4_000, Archive: crypt.New(inner, writer())})
		res := m.preflight(history)
		if res.Step != 1 {
			t.Errorf("step %d, want 1", res.Step)
		}
		if again := m.preflight(history); again.Step != 0 || bytesOf(again.Messages) != bytesOf(res.Messages) {
			t.Errorf("the next call makes step %d", again.Step)
		}
		p := history[3].Parts[0]
		if got, err := m.Recall(t.Context(), "s", testkey.Ref(p)); err != nil || got != p.Text {
			t.Errorf("recall: %.40q, %v; want %q and no error", got, err, p.Text)
		}
		views[bytesOf(res.Messages)] = true
		if err := m.Close(context.Background()); err != nil {
			t.Error(err)
		}
	}
	if len(views) != 1 {
		t.Errorf("one history has %d different views", len(views))
	}
	a, sessions := crypt.New(inner, reader), 0
	for info, err := range record.Sessions(t.Context(), a) {
		if err != nil {
			t.Fatal(err)
		}
		sessions++
		s, err := record.OpenDir(t.Context(), a, info.Dir)
		if err != nil {
			t.Fatal(err)
		}
		if r, err := s.Verify(t.Context(), record.VerifyOptions{Refs: recall.Refs}); err != nil || !r.OK() || r.Steps != 1 {
			t.Errorf("%s: %d steps, %q, %v; want 1, no problems and no error", info.Dir, r.Steps, r.Problems, err)
		}
	}
	if sessions != 3 {
		t.Errorf("%d sessions, want that of the first process and one of each other", sessions)
	}
}

// TestAFlippedBitOfAnEncryptedArchive is TestAFlippedBitNeverReachesAPrompt with
// encryption, where one bit makes a whole piece unreadable.
func TestAFlippedBitOfAnEncryptedArchive(t *testing.T) {
	count := 6
	if os.Getenv("COMPACT_SOAK") != "" {
		count = 400
	}
	_, reader := ageKeys(t)
	c := compact.Config{MaxContextTokens: 3_500}
	l := live(t, c, 22)
	whole := encryptedObjects(t, l.files, reader)
	names := slices.Sorted(maps.Keys(whole))
	for seed := range count {
		r := rand.New(rand.NewPCG(uint64(seed), 5))
		name := names[r.IntN(len(names))]
		if seed < 3 {
			name = []string{"s/ledger-001.json.age", "s/manifest.jsonl/00000000000000000000.age", "s/turns-001.idx.age"}[seed]
		}
		objects := maps.Clone(whole)
		at := r.IntN(8 * len(objects[name]))
		objects[name] = flip(objects[name], at)
		inner := inMemory(t, nil)
		for name, data := range objects {
			k, err := storage.ParseKey(name)
			if err == nil {
				err = inner.Create(t.Context(), k, storage.Redacted(plainText(t, string(data))))
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		l.goesOn(t, fmt.Sprintf("%s: bit %d", name, at), c, crypt.New(inner, reader), r)
	}
}

func plainText(t *testing.T, s string) redact.Text {
	t.Helper()
	plain, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	return plain.Text(s)
}

// encryptedObjects stores the files of a session encrypted, with each line of a log as
// one piece, and returns the stored objects.
func encryptedObjects(t *testing.T, files map[string][]byte, keys *crypt.Keys) map[string][]byte {
	t.Helper()
	inner := memory.New()
	a := crypt.New(inner, keys)
	for name, data := range files {
		k, err := storage.ParseKey("s/" + name)
		isLog := slices.Contains([]string{"manifest.jsonl", "events.jsonl", "journal.jsonl", "edits.jsonl"}, name)
		if err == nil && !isLog {
			err = a.Create(t.Context(), k, storage.Redacted(plainText(t, string(data))))
		}
		at := int64(0)
		for line := range bytes.Lines(data) {
			if err == nil && isLog {
				err = a.Append(t.Context(), k, at, storage.Redacted(plainText(t, string(line))))
				at += int64(len(line))
			}
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	out := map[string][]byte{}
	for info, err := range inner.List(t.Context(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := inner.Open(t.Context(), info.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		if out[info.Key.String()], err = io.ReadAll(r); err != nil || !strings.HasSuffix(info.Key.String(), ".age") {
			t.Fatal(info.Key, err)
		}
	}
	return out
}
