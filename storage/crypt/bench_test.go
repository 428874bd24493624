package crypt_test

import (
	"fmt"
	"io"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/record"
)

// both runs a benchmark over a folder, plain and encrypted.
func both(b *testing.B, run func(b *testing.B, a storage.Archive)) {
	b.Run("plain", func(b *testing.B) { run(b, folder(b, b.TempDir())) })
	b.Run("encrypted", func(b *testing.B) {
		p := newPair(b)
		run(b, crypt.New(folder(b, b.TempDir()), keys(b, p.identity, p)))
	})
}

func BenchmarkCreate1MB(b *testing.B) {
	data := storage.Redacted(text(b, strings.Repeat("0123456789abcdef", 1<<16)))
	both(b, func(b *testing.B, a storage.Archive) {
		b.SetBytes(data.Size())
		for i := range b.N {
			must(b, a.Create(b.Context(), key(b, fmt.Sprintf("s/f-%d", i)), data))
		}
	})
}

func BenchmarkAppend1kB(b *testing.B) {
	data := storage.Redacted(text(b, strings.Repeat("0123456789abcde\n", 64)))
	both(b, func(b *testing.B, a storage.Archive) {
		for i := range b.N {
			must(b, a.Append(b.Context(), key(b, "s/log.jsonl"), int64(i)*data.Size(), data))
		}
	})
}

// BenchmarkReadPage reads as much as a recall: 4 KB of 1 MB.
func BenchmarkReadPage(b *testing.B) {
	data := storage.Redacted(text(b, strings.Repeat("0123456789abcdef", 1<<16)))
	both(b, func(b *testing.B, a storage.Archive) {
		k := key(b, "s/f")
		must(b, a.Create(b.Context(), k, data))
		for b.Loop() {
			if _, err := read(b.Context(), a, k, 500_000, 4096); err != nil {
				b.Fatal(err)
			}
		}
	})
}

func BenchmarkReadWhole(b *testing.B) {
	data := storage.Redacted(text(b, strings.Repeat("0123456789abcdef", 1<<20)))
	both(b, func(b *testing.B, a storage.Archive) {
		k := key(b, "s/f")
		must(b, a.Create(b.Context(), k, data))
		b.SetBytes(data.Size())
		for b.Loop() {
			r, err := a.Open(b.Context(), k, 0, -1)
			must(b, err)
			_, err = io.Copy(io.Discard, r)
			must(b, err)
			must(b, r.Close())
		}
	})
}

// TestVerifyOfAGigabyteSoak verifies a gigabyte in an encrypted archive, in at most 10 s.
func TestVerifyOfAGigabyteSoak(t *testing.T) {
	if os.Getenv("COMPACT_SOAK") == "" {
		t.Skip("make soak")
	}
	p := newPair(t)
	a := crypt.New(folder(t, t.TempDir()), keys(t, p.identity, p))
	s, err := record.OpenSession(t.Context(), a, "s")
	must(t, err)
	lines := make([]redact.Text, 1<<14)
	for i := range lines {
		lines[i] = text(t, fmt.Sprintf(`{"role":"tool","content":"%d %s"}`, i, strings.Repeat("what a tool said ", 240)))
	}
	for n := range 16 {
		_, err := s.Transcript(t.Context(), n+1, lines)
		must(t, err)
		_, err = s.Commit(t.Context(), n+1, text(t, `{"v":1}`))
		must(t, err)
	}
	began := time.Now()
	r, err := s.Verify(t.Context(), record.VerifyOptions{})
	must(t, err)
	t.Logf("%d bytes in %s", r.Bytes, time.Since(began))
	if !r.OK() || r.Bytes < 1<<30 {
		t.Errorf("%d bytes, %q, want no problems", r.Bytes, r.Problems)
	}
}
