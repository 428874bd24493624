package record_test

import (
	"bytes"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/flaky"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// Graves reads each line once, Erased reads all lines. Both must agree, also while the
// last line is incomplete, and after the log was truncated.
func TestGravesAgreeWithErased(t *testing.T) {
	a := lived(t)
	bob := session(t, a, "bob")
	_, _ = bob.Erase(t.Context(), text("in the way")) // refused
	eraseAs(t, a, "alice")
	k, err := storage.ParseKey("_erased.jsonl")
	must(t, err)
	r, err := a.Open(t.Context(), k, 0, -1)
	must(t, err)
	all, err := io.ReadAll(r)
	must(t, err)

	log := memory.New()
	graves := record.NewGraves(log)
	compare := func(size int) {
		t.Helper()
		for _, id := range []string{"alice", "bob", "carol", "dave"} {
			want, gone, werr := record.Erased(t.Context(), log, id)
			got, is, err := graves.Find(t.Context(), id)
			if is != gone || (err == nil) != (werr == nil) || got.Head != want.Head || got.Done != want.Done {
				t.Fatalf("at %d of %d bytes: %s: %v, %v; Erased returned %v, %v", size, len(all), id, is, err, gone, werr)
			}
		}
	}
	for size := range all {
		must(t, log.Append(t.Context(), k, int64(size), storage.Redacted(text("%s", string(all[size:size+1])))))
		if size%31 == 0 || bytes.IndexByte(all[size:], '\n') <= 1 { // also just before a line has its end
			compare(size + 1)
		}
	}
	if _, gone, err := graves.Find(t.Context(), "alice"); !gone || err != nil {
		t.Fatalf("alice: %v, %v; want true and no error", gone, err)
	}
	for _, part := range []int{len(all) / 2, len(all) / 3, 10} {
		must(t, log.Remove(t.Context(), k))
		must(t, log.Append(t.Context(), k, 0, storage.Redacted(text("%s", string(all[:part])))))
		compare(part)
	}
}

// A damaged tombstone that no longer names its session counts before its line has its end,
// too: nobody knows yet whether the session of the lookup was erased.
func TestGravesDoubtADamagedLastLine(t *testing.T) {
	a, k := lived(t), key(t, "_erased.jsonl")
	log := strings.TrimSuffix(everythingIn(a, k), "\n")
	last := strings.LastIndexByte(log, '\n') + 1
	log = log[:last] + strings.Replace(log[last:], `"session":"`, `"session":"x`, 1)
	must(t, a.Remove(t.Context(), k))
	must(t, a.Append(t.Context(), k, 0, storage.Redacted(text("%s", log))))
	if _, gone, err := record.Erased(t.Context(), a, "dave"); gone || err == nil {
		t.Fatalf("Erased returned %v, %v; want false and an error", gone, err)
	}
	graves := record.NewGraves(a)
	for range 2 {
		if _, gone, err := graves.Find(t.Context(), "dave"); gone || err == nil {
			t.Errorf("Find returned %v, %v, want an error", gone, err)
		}
	}
}

// The next lookup retries a request that failed at once. After a request that took
// long, lookups make none for a while.
func TestGravesRetryAfterAnError(t *testing.T) {
	a := lived(t)
	eraseAs(t, a, "alice")
	f := flaky.New(a, rand.New(rand.NewPCG(1, 2)))
	f.Reads = true
	graves := record.NewGraves(f)
	f.Fails(100)
	if _, _, err := graves.Find(t.Context(), "alice"); !errors.Is(err, flaky.Err) {
		t.Fatalf("while the archive fails: %v, want Err", err)
	}
	f.Fails(0)
	if _, gone, err := graves.Find(t.Context(), "alice"); !gone || err != nil {
		t.Errorf("afterwards: %v, %v; want true and no error", gone, err)
	}
}
