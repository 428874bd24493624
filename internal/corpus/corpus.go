// Package corpus reads recorded sessions outside the repository, for tests. The
// data are never part of the repository; tests that need them are skipped if
// they are absent.
package corpus

import (
	"bytes"
	"compress/gzip"
	"io"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Env names the variable with the folder of transcripts; the default is
// ../shared/transcripts, next to the repository.
const Env = "COMPACT_TRANSCRIPTS"

// Sessions yields name and content of every session in a folder of the
// transcripts ("chat" or "chat_asis"), in the order of their names. Compressed
// sessions are decompressed. The caller owns the content. The test is skipped
// if there are no transcripts, and fails if one can't be read.
func Sessions(t testing.TB, dir string) iter.Seq2[string, []byte] {
	t.Helper()
	return Some(t, dir, func() bool { return true })
}

// Some is like Sessions, for a test that uses only a part of the sessions. It calls
// take before each session, and reads the session only if take returns true.
func Some(t testing.TB, dir string, take func() bool) iter.Seq2[string, []byte] {
	t.Helper()
	files := list(t, filepath.Join(root(t), dir))
	return func(yield func(string, []byte) bool) {
		for _, path := range files {
			if !take() {
				continue
			}
			data, err := load(path)
			if err != nil {
				t.Fatalf("corpus: %v", err)
			}
			if !yield(name(path), data) {
				return
			}
		}
	}
}

// root returns the folder of transcripts.
func root(t testing.TB) string {
	t.Helper()
	if dir := os.Getenv(Env); dir != "" {
		return dir
	}
	dir, err := os.Getwd()
	if err != nil {
		t.Fatalf("corpus: %v", err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return filepath.Join(dir, "..", "shared", "transcripts")
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Skip("corpus: no go.mod above the working directory, so that ../shared/transcripts can't be found; set " + Env)
		}
		dir = up
	}
}

func list(t testing.TB, dir string) []string {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if os.IsNotExist(err) {
		t.Skipf("corpus: %s is absent; the recorded sessions are expected in ../shared/transcripts, or in the folder that %s names", filepath.Base(dir), Env)
	}
	if err != nil {
		t.Fatalf("corpus: %v", err)
	}
	var files []string
	for _, e := range entries {
		if path := filepath.Join(dir, e.Name()); name(path) != "" {
			files = append(files, path)
		}
	}
	if len(files) == 0 {
		t.Fatalf("corpus: %s holds no session (.jsonl or .jsonl.gz)", filepath.Base(dir))
	}
	return files
}

// name returns the name of the session in a file, "" for other files.
func name(path string) string {
	base, found := strings.CutSuffix(strings.TrimSuffix(filepath.Base(path), ".gz"), ".jsonl")
	if !found {
		return ""
	}
	return base
}

func load(path string) ([]byte, error) {
	data, err := os.ReadFile(path)
	if err != nil || !strings.HasSuffix(path, ".gz") {
		return data, err
	}
	z, err := gzip.NewReader(bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	return io.ReadAll(z)
}
