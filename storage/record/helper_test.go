package record_test

import (
	"fmt"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/fs"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// text makes a redacted text of any string.
func text(format string, args ...any) redact.Text {
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		panic(err)
	}
	return r.Text(fmt.Sprintf(format, args...))
}

// lines returns n lines that are different for each tag.
func lines(tag string, n int) []redact.Text {
	out := make([]redact.Text, n)
	for i := range out {
		out[i] = text(`{"role":"user","content":"%s %d"}`, tag, i)
	}
	return out
}

func session(t *testing.T, a storage.Archive, id string) *record.Session {
	t.Helper()
	s, err := record.OpenSession(t.Context(), a, id)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// step takes a session through one whole step.
func step(t *testing.T, s *record.Session, n int) {
	t.Helper()
	ctx := t.Context()
	must(t, second(s.Transcript(ctx, n, lines(fmt.Sprint("t", n), 3))))
	must(t, second(s.Summary(ctx, n, text(`{"summary":%d}`, n))))
	must(t, s.Events(ctx, lines(fmt.Sprint("e", n), 2)))
	must(t, second(s.Commit(ctx, n, text(`{"v":1,"step":%d}`, n))))
}

func second[T any](_ T, err error) error { return err }

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func names(t *testing.T, s *record.Session) []string {
	t.Helper()
	var out []string
	for info, err := range s.Files(t.Context()) {
		must(t, err)
		out = append(out, info.Key.Base())
	}
	return out
}

func content(t *testing.T, s *record.Session, name string) string {
	t.Helper()
	data, err := readAll(t.Context(), s, name)
	must(t, err)
	return data
}

// archives runs a test on each kind of archive.
func archives(t *testing.T, test func(t *testing.T, a storage.Archive)) {
	t.Run("memory", func(t *testing.T) { test(t, memory.New()) })
	t.Run("fs", func(t *testing.T) {
		a, err := fs.Open(t.TempDir())
		must(t, err)
		t.Cleanup(func() { must(t, a.Close()) })
		test(t, a)
	})
}

// report is like must, for use in goroutines.
func report(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Error(err)
	}
}

func mustKey(t *testing.T, s string) storage.Key {
	t.Helper()
	if s == "" {
		return storage.Key{}
	}
	k, err := storage.ParseKey(s)
	if err != nil {
		t.Fatal(err)
	}
	return k
}
