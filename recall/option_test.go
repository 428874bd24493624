package recall_test

import (
	"errors"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/recall"
	"github.com/agentcompact/compact/storage/memory"
)

func TestAtMostCutsBetweenCharacters(t *testing.T) {
	lines := []string{"äöü", "zwei", "drei"}
	for n, want := range map[int]string{
		100: "äöü\nzwei\ndrei",
		16:  "äöü\nzwei\ndrei",
		15:  "äöü\nzwei\n[1 of 3 lines follow, 4 bytes are left out]",
		7:   "äöü\n[2 of 3 lines follow, 9 bytes are left out]",
		3:   "ä\n[2 of 3 lines follow, 14 bytes are left out]",
		0:   "\n[2 of 3 lines follow, 16 bytes are left out]",
	} {
		if got := strings.Join(recall.AtMost(n)(lines), "\n"); got != want {
			t.Errorf("%d bytes: %q, want %q", n, got, want)
		}
	}
}

// Options apply in order. A pattern that matches nothing returns no line.
func TestOptionsSelectLines(t *testing.T) {
	lines := strings.Split("one\ntwo\nthree error\nfour\nfive error", "\n")
	for name, c := range map[string]struct {
		option recall.Option
		want   string
	}{
		"matching":             {recall.Matching(regexp.MustCompile("three"), 0), "three error"},
		"matching and around":  {recall.Matching(regexp.MustCompile("three"), 1), "two\nthree error\nfour"},
		"matching nothing":     {recall.Matching(regexp.MustCompile("six"), 1), ""},
		"lines below 1":        {recall.Lines(-3, 2), "one\ntwo"},
		"lines after the last": {recall.Lines(5, 99), "five error"},
		"no lines":             {recall.Lines(4, 2), ""},
	} {
		if got := strings.Join(c.option(slices.Clone(lines)), "\n"); got != c.want {
			t.Errorf("%s: %q, want %q", name, got, c.want)
		}
	}
}

// A reference that nobody can have made is not found, before the archive is read.
func TestAnInvalidReferenceIsNotFound(t *testing.T) {
	a := &failing{Archive: memory.New()}
	s, err := recall.Open(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	a.fails = true
	_, text := recall.Text(t.Context(), a, "s", "no reference")
	_, later := s.Text(t.Context(), "no reference")
	if !errors.Is(text, recall.ErrNotFound) || !errors.Is(later, recall.ErrNotFound) || !strings.Contains(later.Error(), "no reference") {
		t.Errorf("%v; %v", text, later)
	}
}
