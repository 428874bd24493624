package compact_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

// An agent whose spool has a session that another machine erases continues in a new
// folder, and the erased data leaves the spool.
func TestAgentWithASpoolContinuesAfterARemoteErase(t *testing.T) {
	bucket := memory.New()
	here, err := spool.Open(t.TempDir(), bucket, &spool.Options{Passive: true, Blind: true})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, compact.Config{Archive: here})
	history := loop(12, 200)
	if _, err := r.ManualCompact(t.Context(), "s", history, "test"); err != nil {
		t.Fatal(err)
	}
	if err := here.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	s, err := record.OpenSession(t.Context(), bucket, "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Erase(t.Context(), redact.Lit("asked for")); err != nil {
		t.Fatal(err)
	}
	var last error
	for i := range 4 {
		history = append(slices.Clone(history), message.User("Go on."))
		history = append(history, round(40+i, 3000)...)
		_, last = r.ManualCompact(t.Context(), "s", history, "test")
		if err := here.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if last != nil {
		t.Errorf("the agent does not continue: %v", last)
	}
	lives, err := compact.Lives(t.Context(), bucket, "s")
	if err != nil || len(lives) != 1 || !strings.HasPrefix(lives[0], "s.after-") {
		t.Errorf("the session continues in %q, %v", lives, err)
	}
	if on, err := here.Sessions(); err != nil || !slices.Equal(on, lives) {
		t.Errorf("the spool has %q, %v; want %q and no error", on, err, lives)
	}
}
