package main

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

func TestFileIsWrittenAtomically(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "out")
	if err := os.WriteFile(path, []byte("old"), 0o640); err != nil {
		t.Fatal(err)
	}
	target, err := openTarget(path)
	if err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "old" {
		t.Errorf("before the commit the file holds %q", got)
	}
	target.discard()
	if got := read(t, path); got != "old" {
		t.Errorf("after a discard the file holds %q", got)
	}
	if err := writeFile(path, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "new" {
		t.Errorf("after the commit the file holds %q", got)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("mode %v (%v), want the earlier mode 0640", info.Mode(), err)
	}
	onlyFiles(t, dir, "out")
}

func TestOnlyTheOwnerCanReadANewFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := writeFile(path, nil); err != nil {
		t.Fatal(err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v, %v", info.Mode(), err)
	}
}

// A secret that a shell redirects into a file is readable by all users under most umasks.
func TestSecretInAReadableFileIsAWarning(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("modes mean nothing")
	}
	for _, command := range [][]string{{"archive", "identity"}, {"archive", "heads", "--new-key"}} {
		for mode, want := range map[os.FileMode]bool{0o644: true, 0o600: false} {
			path := filepath.Join(t.TempDir(), "key.txt")
			f, err := os.OpenFile(path, os.O_CREATE|os.O_WRONLY, mode)
			if err == nil {
				err = f.Chmod(mode)
			}
			if err != nil {
				t.Fatal(err)
			}
			var errOut strings.Builder
			code := run(t.Context(), command, strings.NewReader(""), f, &errOut)
			if err := f.Close(); err != nil {
				t.Fatal(err)
			}
			if warned := strings.Contains(errOut.String(), "chmod 600"); code != exitOK || warned != want {
				t.Errorf("%v, mode %o: exit status %d, %q", command, mode, code, errOut.String())
			}
		}
	}
}

func TestLinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	path, link := filepath.Join(dir, "real"), filepath.Join(dir, "link")
	if err := os.WriteFile(path, []byte("old"), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(path, link); err != nil {
		t.Skipf("no symbolic links here: %v; run it on a file system, and as a user, that may make them", err)
	}
	if err := writeFile(link, []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, path); got != "new" {
		t.Errorf("the target of the link has %q", got)
	}
	onlyFiles(t, dir, "link", "real")
}

func TestDeviceIsWrittenInPlace(t *testing.T) {
	if err := writeFile(os.DevNull, []byte("x")); err != nil {
		t.Error(err)
	}
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s was replaced: %v, %v", os.DevNull, info.Mode(), err)
	}
}

// TestDanglingLinkStaysALink: the command creates the link's target.
func TestDanglingLinkStaysALink(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "sub"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, to := range map[string]string{"a": "b", "b": "sub/new"} {
		if err := os.Symlink(to, filepath.Join(dir, link)); err != nil {
			t.Skipf("no symbolic links here: %v; run it on a file system, and as a user, that may make them", err)
		}
	}
	if err := writeFile(filepath.Join(dir, "a"), []byte("new")); err != nil {
		t.Fatal(err)
	}
	if got := read(t, filepath.Join(dir, "sub", "new")); got != "new" {
		t.Errorf("the target of the links has %q", got)
	}
	if to, err := os.Readlink(filepath.Join(dir, "a")); err != nil || to != "b" {
		t.Errorf("the link was replaced: %q, %v", to, err)
	}
	onlyFiles(t, dir, "a", "b", "sub")
	onlyFiles(t, filepath.Join(dir, "sub"), "new")
}

func TestReadOnlyFileIsRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	if err := os.WriteFile(path, []byte("old"), 0o444); err != nil {
		t.Fatal(err)
	}
	err := writeFile(path, []byte("new"))
	if err == nil || !strings.Contains(err.Error(), path+" can't be written: it is read-only: change its mode") {
		t.Errorf("%v", err)
	}
	if got := read(t, path); got != "old" {
		t.Errorf("the read-only file now holds %q", got)
	}
	onlyFiles(t, filepath.Dir(path), "out")
}

// TestFailedCommitNamesTheFile: on a full disk, the error names the output file.
func TestFailedCommitNamesTheFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	target, err := openTarget(path)
	if err != nil {
		t.Fatal(err)
	}
	_ = target.temp.Close()
	if err := target.commit([]byte("x")); err == nil || !strings.HasPrefix(err.Error(), path+" can't be written: ") || strings.Contains(err.Error(), ".out.") {
		t.Errorf("%v", err)
	}
	onlyFiles(t, filepath.Dir(path))
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func onlyFiles(t *testing.T, dir string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != len(names) {
		t.Errorf("%s holds %v, want %v", dir, entries, names)
	}
}
