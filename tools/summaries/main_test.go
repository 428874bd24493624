package main

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestSummariesPageIsUpToDate(t *testing.T) {
	got, err := render(filepath.Join("..", "..", "examples", "data"))
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(filepath.Join("..", "..", "docs", "SUMMARIES.md"))
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff(string(want), got); d != "" {
		t.Errorf("run go run ./tools/summaries: %s", d)
	}
}

func TestMissingSessionIsAnError(t *testing.T) {
	if _, err := render(t.TempDir()); err == nil {
		t.Error("no error")
	}
}
