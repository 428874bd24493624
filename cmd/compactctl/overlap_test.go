package main

import (
	"os"
	"path/filepath"
	"testing"
)

func TestArchivesOfACopyAreApart(t *testing.T) {
	root := t.TempDir()
	if err := os.MkdirAll(filepath.Join(root, "a"), 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(root, "link")
	if err := os.Symlink(filepath.Join(root, "a"), link); err != nil {
		t.Skip("this system makes no symbolic links here: ", err)
	}
	in := func(name string) string { return filepath.Join(root, name) }
	for _, tc := range []struct {
		src, dst string
		apart    bool
	}{
		{in("a"), in("b"), true},
		{in("a"), in("ab"), true},
		{in("a"), in("a") + "/.", false},
		{in("a"), in("a/new/copy"), false},
		{in("a/x"), in("a"), false},
		{in("a"), link, false},
		{in("a"), link + "/new", false},
		{in("a"), "s3://bucket/a", true},
		{"s3://bucket/a", "s3://bucket/ab", true},
		{"s3://bucket/a", "s3://other/a", true},
		{"s3://bucket/a", "s3://bucket/a/", false},
		{"s3://bucket", "s3://bucket/a", false},
	} {
		if err := overlap(tc.src, tc.dst); (err == nil) != tc.apart {
			t.Errorf("%s and %s: %v, want apart: %v", tc.src, tc.dst, err, tc.apart)
		}
	}
}
