package recall

import (
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/internal/excerpt"
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/lookup"
)

// A search that leaves out the oldest messages for their size says so. A message that was
// searched before does not count.
func TestSearchReportsItsSizeLimit(t *testing.T) {
	step := &ledger.Step{Evicted: []ledger.Eviction{{Len: 301}}}
	for searched, cut := range map[bool]bool{false: true, true: false} {
		r := &searcher{s: &lookup.Session{}, left: 300, seen: map[string]bool{step.Evicted[0].FP.String(): searched}}
		if err := r.step(t.Context(), step); err != nil || r.found.Cut != cut {
			t.Errorf("searched before %v: cut is %v, %v", searched, r.found.Cut, err)
		}
	}
}

// A search stops by itself after its time limit, and keeps its results.
func TestSearchEndsAfterItsTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := excerpt.WithMatchTime(t.Context())
		defer cancel()
		time.Sleep(excerpt.MatchTime)
		synctest.Wait()
		s := &lookup.Session{}
		r := &searcher{s: s, matcher: excerpt.NewMatcher(ctx, regexp.MustCompile("a")), most: 9, left: 99, seen: map[string]bool{}, shown: map[string]bool{}}
		line := []byte(`{"role":"user","content":"a","meta":{"fp":"00112233445566778899aabbccddeeff","refs":["001122334455"]}}`)
		if err := r.line(line, ledger.Eviction{}); !errors.Is(err, excerpt.ErrLongMatch) {
			t.Error(err)
		}
	})
}

// The lines of context have a limit, and are never fewer than none.
func TestContextLinesOfASearchAreLimited(t *testing.T) {
	for given, want := range map[int]int{-1: 0, 0: 0, 3: 3, 50: 50, 99: 50} {
		r := &searcher{}
		if Around(given)(r); r.around != want {
			t.Errorf("Around(%d) adds %d lines, want %d", given, r.around, want)
		}
	}
}

// A part without a reference cannot be recalled, so no match names it. A message that was
// removed twice counts once.
func TestSearchShowsPartsWithReferenceOnce(t *testing.T) {
	r := &searcher{s: &lookup.Session{}, matcher: excerpt.NewMatcher(t.Context(), regexp.MustCompile("a")), most: 9, seen: map[string]bool{}, shown: map[string]bool{}}
	for _, line := range []string{
		`{"role":"user","content":[{"type":"text","text":"a one"},{"type":"text","text":"a two"},{"type":"text","text":"a three"}],"meta":{"fp":"00112233445566778899aabbccddeeff","refs":["","001122334455"]}}`,
		`{"role":"user","content":[{"type":"text","text":"a one"},{"type":"text","text":"a two"},{"type":"text","text":"a three"}],"meta":{"fp":"00112233445566778899aabbccddeeff","refs":["","001122334455"]}}`,
		`{"note":"a"}`,
	} {
		if err := r.line([]byte(line), ledger.Eviction{}); err != nil {
			t.Fatal(err)
		}
	}
	if f := r.found; f.Lines != 1 || len(f.Matches) != 1 || f.Matches[0].Text != "a two" || f.Matches[0].Ref != "001122334455" {
		t.Errorf("%+v", f)
	}
}
