package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
)

func TestPagerReportsHighSeverity(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, strings.Repeat("ab", 32))
	file := filepath.Join(t.TempDir(), "pager")
	if err := run(t.Context(), file); err != nil {
		t.Fatal(err)
	}
	got, err := os.ReadFile(file)
	if err != nil || string(got) != "session support-17: compact.redaction_disabled\n" {
		t.Errorf("got %q, %v", got, err)
	}
}
