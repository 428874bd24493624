package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// many makes an archive on disk with a given number of sessions of 12 messages, each of
// some 400 bytes, with the usual files of a session.
func many(b *testing.B, sessions int) *fs.Archive {
	b.Helper()
	root := b.TempDir()
	a, err := fs.Open(root)
	ok(b, err)
	in := memory.New() // with a folder, the benchmark would wait for the disk a hundred thousand times
	for s := range sessions {
		texts := make([]string, 12)
		for i := range texts {
			texts[i] = fmt.Sprintf("Question %d of session %d about module_%d: common words stand here. %s", i, s, (s*7+i)%997, strings.Repeat(fmt.Sprintf("filler%d ", (s+i)%5000), 30))
		}
		texts[5] += fmt.Sprintf("\nneedle%06d", s)
		say(b, in, fmt.Sprintf("session-%06d", s), texts...)
	}
	old := time.Now().Add(-time.Hour)
	for info, err := range in.List(context.Background(), storage.Key{}) {
		ok(b, err)
		r, err := in.Open(context.Background(), info.Key, 0, -1)
		ok(b, err)
		data, err := io.ReadAll(r)
		ok(b, err)
		name := filepath.Join(root, info.Key.String())
		ok(b, os.MkdirAll(filepath.Dir(name), 0o700))
		ok(b, os.WriteFile(name, data, 0o600))
		for _, more := range []string{"events.jsonl", "ledger-none", "turns-none"} {
			ok(b, os.WriteFile(filepath.Join(filepath.Dir(name), more), nil, 0o600))
		}
		ok(b, os.Chtimes(filepath.Dir(name), old, old))
	}
	return a
}

// scan1 searches without an index: it reads every transcript and looks for the
// word.
func scan1(b *testing.B, a storage.Archive, word string) (n int) {
	b.Helper()
	for info, err := range a.List(context.Background(), storage.Key{}) {
		ok(b, err)
		if !strings.HasPrefix(info.Key.Base(), "transcript-") {
			continue
		}
		r, err := a.Open(context.Background(), info.Key, 0, -1)
		ok(b, err)
		data, err := io.ReadAll(r)
		ok(b, errors.Join(err, r.Close()))
		for line := range bytes.SplitSeq(data, []byte("\n")) {
			if bytes.Contains(line, []byte(word)) {
				n++
			}
		}
	}
	return n
}

// BenchmarkSearch searches 500 sessions, or as many as COMPACT_SEARCH_SESSIONS says:
// COMPACT_SEARCH_SESSIONS=10000 go test ./search -run xxx -bench Search -benchtime 5x.
func BenchmarkSearch(b *testing.B) {
	sessions := 500
	if n, err := fmt.Sscan(os.Getenv("COMPACT_SEARCH_SESSIONS"), &sessions); n == 0 && err == nil {
		b.Fatal("COMPACT_SEARCH_SESSIONS is not a number")
	}
	a := many(b, sessions)
	dir := filepath.Join(b.TempDir(), "index")
	began := time.Now()
	first := index(b, a, dir)
	if u, err := first.Update(b.Context(), nil); err != nil || u.Put != sessions {
		b.Fatal(u, err)
	}
	built := time.Since(began)
	st, err := first.Stats(b.Context())
	ok(b, err)
	ok(b, first.Close())
	b.Run("build", func(b *testing.B) { // once is enough
		b.ReportMetric(built.Seconds(), "s")
		b.ReportMetric(float64(st.Bytes)/1e6, "MB")
		b.ReportMetric(0, "ns/op")
	})
	dirOf, err := record.Prefix("session-000100")
	ok(b, err)
	for name, c := range map[string]struct {
		q    Query
		want int
	}{
		"rare":    {Query{Words: "needle000123"}, 1},
		"common":  {Query{Words: "common words"}, 50},
		"begins":  {Query{Words: "needle0001*"}, 50},
		"session": {Query{Words: "common", Session: dirOf.String()}, 12},
		"agent":   {Query{Words: "common", Agent: "nobody"}, 0},
		"since":   {Query{Words: "common", Since: time.Now().Add(time.Hour)}, 0},
	} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() { // opening it included, as a command does
				x, err := Open(b.Context(), a, dir)
				ok(b, err)
				f, err := x.Search(b.Context(), c.q)
				if err != nil || len(f.Matches) != c.want || f.Sessions == 0 {
					b.Fatal(len(f.Matches), f.Sessions, err)
				}
				ok(b, x.Close())
			}
		})
	}
	b.Run("linear scan", func(b *testing.B) {
		for b.Loop() {
			if n := scan1(b, a, "needle000123"); n != 1 {
				b.Fatal(n)
			}
		}
	})
}
