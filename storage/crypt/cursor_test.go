package crypt_test

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
)

// TestReadsEachRangeOfALargeFile reads ranges that cross the end of a chunk (64 KiB) and end in
// the middle of the next one.
func TestReadsEachRangeOfALargeFile(t *testing.T) {
	const chunk = 64 << 10
	p := newPair(t)
	a := crypt.New(memory.New(), keys(t, p.identity, p))
	rng := rand.New(rand.NewPCG(1, 2))
	for _, size := range []int{5 * chunk, 6*chunk + 777} {
		content := randomText(rng, size)
		k := key(t, "s/large.jsonl")
		must(t, a.Create(t.Context(), k, storage.Redacted(text(t, content))))
		places := []int{0, 1, chunk - 1, chunk, chunk + 1, 2*chunk - 1, 3*chunk + 5, 4 * chunk, size - chunk - 1, size - 1, size}
		for _, from := range places {
			for _, to := range places {
				if to <= from {
					continue
				}
				got, err := read(t.Context(), a, k, int64(from), int64(to-from))
				if err != nil || got != content[from:to] {
					t.Errorf("%d bytes, %d to %d: %d bytes came, %v", size, from, to, len(got), err)
				}
			}
		}
		must(t, a.Remove(t.Context(), k))
	}
}

func randomText(rng *rand.Rand, size int) string {
	var b strings.Builder
	for range size {
		b.WriteByte(byte('a' + rng.IntN(26)))
	}
	return b.String()
}

// breaking is an archive in which an open fails, or breaks off after some bytes.
type breaking struct {
	*memory.Archive
	opens, failsAt int // the number of the open that fails; 0 = none
	after          int64
}

var errAway = errors.New("the archive is unreachable")

func (a *breaking) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	r, err := a.Archive.Open(ctx, k, off, n)
	if a.opens++; err != nil || a.opens != a.failsAt {
		return r, err
	}
	if a.after == 0 {
		return nil, errors.Join(errAway, r.Close())
	}
	return struct {
		io.Reader
		io.Closer
	}{io.MultiReader(io.LimitReader(r, a.after), iotest.ErrReader(errAway)), r}, nil
}

// A file of an archive that does not answer must not count as changed, because a session with a
// changed file begins a new epoch.
func TestArchiveThatBreaksOffIsNoChangedFile(t *testing.T) {
	p := newPair(t)
	inner := &breaking{Archive: memory.New()}
	k, content := key(t, "s/large.jsonl"), randomText(rand.New(rand.NewPCG(1, 2)), 6*64<<10)
	must(t, crypt.New(inner, keys(t, p.identity, p)).Create(t.Context(), k, storage.Redacted(text(t, content))))
	for _, after := range []int64{0, 1, 1024, 1040, 70_000} {
		for _, n := range []int64{-1, 200_000} {
			for off := range int64(2) {
				want := content[off:]
				if n >= 0 {
					want = want[:n]
				}
				failed := false
				for at, more := 1, true; more; at++ {
					inner.opens, inner.failsAt, inner.after = 0, at, after
					got, err := read(t.Context(), crypt.New(inner, keys(t, p.identity, p)), k, off, n)
					switch more = inner.opens >= at; {
					case err == nil && got == want: // the error would have come later
					case !errors.Is(err, errAway) || errors.Is(err, storage.ErrChanged):
						t.Errorf("%d bytes at %d, open %d fails after %d bytes: %d bytes, %v", n, off, at, after, len(got), err)
					default:
						failed = true
					}
				}
				if !failed {
					t.Errorf("%d bytes at %d: no open failed after %d bytes", n, off, after)
				}
			}
		}
	}
	inner.failsAt = 0
	if got, err := read(t.Context(), crypt.New(inner, keys(t, p.identity, p)), k, 0, -1); err != nil || got != content {
		t.Errorf("%d bytes, %v", len(got), err)
	}
}
