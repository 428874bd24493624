package fs

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFolderOfAName(t *testing.T) {
	for _, c := range []struct{ system, name, want, err string }{
		{"linux", ".compact/archive", ".compact/archive", ""},
		{"linux", "a:b", "a:b", ""},
		{"linux", "~backup/x", "~backup/x", ""},
		{"linux", "file:///var/a%20b", "/var/a b", ""},
		{"linux", "FILE:///var/a", "/var/a", ""},
		{"linux", "file:/var/a", "/var/a", ""},
		{"linux", "file://localhost/var/a", "/var/a", ""},
		{"linux", "file://var/a", "", "absolute path"},
		{"linux", "file:var/a", "", "absolute path"},
		{"linux", "file:///var/a?x=1", "", "absolute path"},
		{"linux", "file:///var/100%", "", "absolute path"},
		{"linux", "gs://bucket/a", "", "URL of gs, which is not supported"},
		{"linux", "https://host/a", "", "URL of https"},
		{"linux", "S3://bucket/a", "", "URL of S3"},
		{"linux", "~/archive", "", "begins with ~"},
		{"linux", "~", "", "begins with ~"},
		{"linux", "$HOME/archive", "", "begins with $HOME"},
		{"linux", "${HOME}/archive", "", "begins with ${HOME}"},
		{"linux", `%USERPROFILE%\archive`, "", "begins with %USERPROFILE%"},
		{"linux", `C:\archive`, "", "path of Windows"},
		{"windows", `C:\archive`, `C:\archive`, ""},
		{"windows", "C:/archive", "C:/archive", ""},
		{"windows", "file:///C:/archive", filepath.FromSlash("C:/archive"), ""},
	} {
		got, err := folderOn(c.system, c.name)
		if got != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s %q: %q, %v, want %q", c.system, c.name, got, err, c.want)
		}
		if url := strings.Contains(c.err, "URL of"); errors.Is(err, ErrURL) != url {
			t.Errorf("%s: ErrURL %v, want %t", c.name, err, url)
		}
	}
}

// No function of the package makes a folder that is named like a URL.
func TestURLsNameNoFolder(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	a, err := Open("file://" + filepath.ToSlash(dir) + "/archive")
	if err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
	r, err := OpenReadOnly("file://" + filepath.ToSlash(dir) + "/archive")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if err := Try("file://" + filepath.ToSlash(dir) + "/archive"); err != nil {
		t.Error(err)
	}
	_, wrote := Open("gs://bucket/a")
	_, read := OpenReadOnly("gs://bucket/a")
	for _, err := range []error{wrote, read, Try("gs://bucket/a")} {
		if !errors.Is(err, ErrURL) || !strings.Contains(err.Error(), `"gs://bucket/a"`) {
			t.Errorf("%v, want ErrURL and an error with %q", err, `"gs://bucket/a"`)
		}
	}
	if made, err := os.ReadDir(dir); err != nil || len(made) != 1 || made[0].Name() != "archive" {
		t.Errorf("%v, %v, want only the folder archive and no error", made, err)
	}
}
