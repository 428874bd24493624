package main

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
)

func TestSamplesOfTheRule(t *testing.T) {
	if err := Badge.Check(); err != nil {
		t.Error(err)
	}
}

func TestArchiveHoldsNeitherBadgeNorProject(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, strings.Repeat("ab", 32))
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); !strings.Contains(got, "My badge is <REDACTED>. What does <REDACTED> still need?") || !strings.Contains(got, "A second reader.") {
		t.Errorf("read back: %s", got)
	}
}
