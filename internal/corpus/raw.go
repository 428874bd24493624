package corpus

import (
	"bufio"
	"encoding/json"
	"errors"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Raw yields id and content of every session that is stored in its tool's own form.
// format selects the sessions whose format in the manifest begins with it ("Claude
// Code", "Codex CLI", …). The sessions have the order of the manifest. Compressed
// sessions are decompressed. The caller owns the content. The test is skipped if there
// is no manifest or no such session, and fails if one can't be read.
func Raw(t testing.TB, format string) iter.Seq2[string, []byte] {
	t.Helper()
	dir := root(t)
	files := listed(t, filepath.Join(dir, "MANIFEST.jsonl"), format)
	return func(yield func(string, []byte) bool) {
		for _, f := range files {
			data, err := load(filepath.Join(dir, filepath.FromSlash(f.Path)))
			if err != nil {
				t.Fatalf("corpus: %v", err)
			}
			if !yield(f.ID, data) {
				return
			}
		}
	}
}

// rawFile is the entry of a session in the manifest.
type rawFile struct {
	ID     string `json:"id"`
	Format string `json:"format"`
	Path   string `json:"raw_path"`
}

func listed(t testing.TB, manifest, format string) (files []rawFile) {
	t.Helper()
	f, err := os.Open(manifest)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("corpus: there is no manifest; the recorded sessions are expected in ../shared/transcripts, or in the folder that %s names", Env)
	}
	if err != nil {
		t.Fatalf("corpus: %v", err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var file rawFile
		if err := json.Unmarshal(lines.Bytes(), &file); err != nil {
			t.Fatalf("corpus: the manifest: %v", err)
		}
		if file.Path != "" && strings.HasPrefix(file.Format, format) {
			files = append(files, file)
		}
	}
	if err := lines.Err(); err != nil {
		t.Fatalf("corpus: the manifest: %v", err)
	}
	if len(files) == 0 {
		t.Skipf("corpus: the manifest has no raw session of %q", format)
	}
	return files
}
