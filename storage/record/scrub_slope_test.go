package record_test

import (
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/cputime"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// A line with many escapes and many hits takes time in proportion to its length.
func TestScrubOfManyHitsIsLinear(t *testing.T) {
	took := func(n int) time.Duration {
		s := session(t, memory.New(), "s")
		content := strings.Repeat(`hunter2-x\n`, n)
		must(t, second(s.Transcript(t.Context(), 1, []redact.Text{text(`{"role":"user","content":"%s"}`, content)})))
		must(t, second(s.Commit(t.Context(), 1, text(`{"v":1}`))))
		start := cputime.Used()
		must(t, second(s.Scrub(t.Context(), record.ScrubOptions{DryRun: true, Find: finds("hunter2-x")})))
		return cputime.Used() - start
	}
	took(100)
	small, large := took(4000), took(40_000)
	t.Logf("4000 hits took %v, 10 times as many %v", small, large)
	if large > 30*small+100*time.Millisecond {
		t.Errorf("%v, and %v for 10 times as many hits", small, large)
	}
}

// A hit inside one escape does not count. A hit that ends in the next escape replaces
// that whole escape.
func TestScrubReplacesWholeEscapes(t *testing.T) {
	for said, want := range map[string]string{
		`a\u0073b`:       `a\u0073b`,
		`\u0073ab\u0073`: `\u0073********`,
	} {
		s := session(t, memory.New(), "s")
		must(t, second(s.Transcript(t.Context(), 1, []redact.Text{text(`{"role":"user","content":"%s"}`, said)})))
		must(t, second(s.Commit(t.Context(), 1, text(`{"v":1}`))))
		for _, secret := range []string{"007", `73ab\u0`} {
			must(t, second(s.Scrub(t.Context(), record.ScrubOptions{Find: finds(secret)})))
		}
		if got := content(t, s, "transcript-pre-compact-001.jsonl"); !strings.Contains(got, `"`+want+`"`) {
			t.Errorf("%s: %s, want whole escapes replaced", said, got)
		}
	}
}
