// Package corpus reads the shared recordings that tests compare against. They
// are never part of the project: where they are not there, the test is
// skipped with a message that says so.
package corpus

import (
	"bytes"
	"compress/gzip"
	"io"
	"iter"
	"os"
	"path/filepath"
	"sort"
	"strings"
	"testing"
)

// Dir returns a shared folder: the one that the environment variable names,
// else ../shared/<name> beside the repository. The test is skipped when it is
// not there.
func Dir(t testing.TB, env, name string) string {
	t.Helper()
	dir := os.Getenv(env)
	if dir == "" {
		dir = filepath.Join(filepath.Dir(Root(t)), "shared", name)
	}
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("../shared/%s is not there (set %s): %v", name, env, err)
	}
	return dir
}

// Root returns the folder of the repository.
func Root(t testing.TB) string {
	t.Helper()
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir
		}
		up := filepath.Dir(dir)
		if up == dir {
			t.Fatal("corpus: not inside of the repository")
		}
		dir = up
	}
}

// Sessions yields the recorded sessions of ../shared/transcripts/<dir> ("chat"
// or "chat_asis") by name, decompressed, in the order of their names.
func Sessions(t testing.TB, dir string) iter.Seq2[string, []byte] {
	t.Helper()
	root := Dir(t, "COMPACT_TRANSCRIPTS", "transcripts")
	files, err := filepath.Glob(filepath.Join(root, dir, "*.jsonl*"))
	if err != nil || len(files) == 0 {
		t.Skipf("../shared/transcripts/%s holds no sessions: %v", dir, err)
	}
	sort.Strings(files)
	return func(yield func(string, []byte) bool) {
		for _, f := range files {
			data, err := readFile(f)
			if err != nil {
				t.Fatal(err)
			}
			name := strings.TrimSuffix(strings.TrimSuffix(filepath.Base(f), ".gz"), ".jsonl")
			if !yield(name, data) {
				return
			}
		}
	}
}

func readFile(path string) ([]byte, error) {
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

// Soak reports whether the full sweeps are asked for (COMPACT_SOAK=1). Without
// it tests run samples of the same code.
func Soak() bool { return os.Getenv("COMPACT_SOAK") == "1" }
