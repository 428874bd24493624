package compact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/record"
)

// A session is found under its id, in every folder in which it may continue.
func TestSessionHasSeveralLives(t *testing.T) {
	r := newRig(t, compact.Config{})
	lives := func() []string {
		t.Helper()
		names, err := compact.Lives(t.Context(), r.archive, "s", "old name")
		if err != nil {
			t.Fatal(err)
		}
		return names
	}
	var had []string
	for range 3 {
		again := newRig(t, compact.Config{Archive: r.archive})
		if err := again.Archive(t.Context(), "s", loop(2, 10)); err != nil {
			t.Fatal(err)
		}
		if err := again.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		now := lives()
		if len(now) != 1 || slices.Contains(had, now[0]) || len(had) > 0 && !strings.HasPrefix(now[0], "s.after-") {
			t.Fatalf("after %q: %q", had, now)
		}
		had = append(had, now[0])
		s, err := record.OpenSession(t.Context(), r.archive, now[0])
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Erase(t.Context(), redact.Lit("asked for")); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{had[1], "s", "old name"} { // writers that did not know of the erasure
		s, err := record.OpenSession(t.Context(), r.archive, name)
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Journal(t.Context(), []redact.Text{redact.Lit(`{}`)}); err != nil {
			t.Fatal(err)
		}
	}
	if got := lives(); !slices.Equal(got, []string{"old name", "s", had[1]}) {
		t.Errorf("%q, want %q", got, []string{"old name", "s", had[1]})
	}
}
