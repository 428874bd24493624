package replay

import (
	"bytes"
	"compress/gzip"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

const line = `{"role":"user","content":"hello"}` + "\n" + `{"role":"assistant","content":"hi"}` + "\n"

func write(t *testing.T, path string, data []byte) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

func zipped(t *testing.T, data string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	if _, err := z.Write([]byte(data)); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func TestFilesOfFoldersAndPatterns(t *testing.T) {
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.jsonl"), []byte(line))
	write(t, filepath.Join(dir, "sub", "b.jsonl.gz"), zipped(t, line))
	write(t, filepath.Join(dir, "README"), []byte("no session"))
	got, err := Files(filepath.Join(dir, "a.*"), dir)
	if err != nil || len(got) != 2 {
		t.Fatalf("Files = %v, %v", got, err)
	}
	for _, f := range got {
		s, err := Read(f, "auto")
		if err != nil || len(s.Messages) != 2 || len(s.Calls()) != 1 {
			t.Errorf("Read(%s) = %+v, %v", f, s, err)
		}
	}
	for _, none := range []string{filepath.Join(dir, "x*"), filepath.Join(dir, "missing"), t.TempDir()} {
		if _, err := Files(none); err == nil {
			t.Errorf("Files(%s) has no error", none)
		}
	}
}

func TestReadNamesFileAndLine(t *testing.T) {
	dir := t.TempDir()
	cut := filepath.Join(dir, "cut.jsonl")
	write(t, cut, []byte(line+`{"role":"us`))
	if _, err := Read(cut, "auto"); err == nil || !strings.Contains(err.Error(), "cut.jsonl:3: ") {
		t.Errorf("Read = %v, want file and line", err)
	}
	broken := filepath.Join(dir, "cut.jsonl.gz")
	write(t, broken, zipped(t, strings.Repeat(line, 99))[:40])
	if _, err := Read(broken, "auto"); err == nil || !strings.Contains(err.Error(), "cut.jsonl.gz") {
		t.Errorf("Read = %v, want the file's name", err)
	}
}
