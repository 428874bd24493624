package compact_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// referring returns a session whose later transcripts refer to earlier ones.
func referring(t *testing.T) (*rig, *tale, string) {
	t.Helper()
	r, h, view := newRig(t, compact.Config{}), newTale(), ""
	for range 3 {
		h.grow(12)
		res, err := r.ManualCompact(t.Context(), "s", h.history, "")
		if err != nil {
			t.Fatal(err)
		}
		view = bytesOf(res.Messages)
	}
	if err := r.Archive(t.Context(), "s", h.history); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !r.holdsText(`{"from":"transcript-pre-compact-00`) {
		t.Fatal("no transcript refers to another: the test proves nothing")
	}
	return r, h, view
}

// readBack fails unless a session verifies, gives the view, and has each turn.
func readBack(t *testing.T, a *memory.Archive, h *tale, view string) {
	t.Helper()
	r := newRig(t, compact.Config{Archive: a})
	r.archive = a
	r.verified()
	res, err := r.Preflight(t.Context(), "s", h.history)
	if err != nil || bytesOf(res.Messages) != view {
		t.Errorf("the view differs: %v, %v", err, res.Warnings)
	}
	for _, turn := range []string{"turn:2", "turn:9"} {
		text, err := r.Recall(t.Context(), "s", turn)
		if err != nil || len(text) < 500 {
			t.Errorf("%s: %.80q, %v, want at least 500 bytes and no error", turn, text, err)
		}
	}
	for name := range r.archived() {
		if !record.HasMessages(name) {
			continue
		}
		lines := 0
		for _, err := range r.stored().Lines(t.Context(), name) {
			if err != nil {
				t.Fatal(err)
			}
			lines++
		}
		if lines < 20 {
			t.Errorf("%s has %d messages, want at least 20", name, lines)
		}
	}
}

func TestSessionWithReferencesSurvivesEveryOperation(t *testing.T) {
	for name, do := range map[string]func(ctx context.Context, a *memory.Archive) (*memory.Archive, error){
		"copy": func(ctx context.Context, a *memory.Archive) (*memory.Archive, error) {
			b := memory.New()
			_, err := record.Copy(ctx, b, a, record.CopyOptions{})
			return b, err
		},
		"rekey": func(ctx context.Context, a *memory.Archive) (*memory.Archive, error) {
			_, err := compact.Rekey(ctx, compact.Config{}, a)
			return a, err
		},
		"hold": func(ctx context.Context, a *memory.Archive) (*memory.Archive, error) {
			s, err := record.OpenSession(ctx, a, "s")
			if err == nil {
				err = s.Hold(ctx, redact.Lit("lawsuit"))
			}
			return a, err
		},
		"prune of older sessions": func(ctx context.Context, a *memory.Archive) (*memory.Archive, error) {
			for _, err := range record.Prune(ctx, a, record.PruneOptions{Before: time.Now().Add(-time.Hour)}) {
				if err != nil {
					return nil, err
				}
			}
			return a, nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(compact.ArchiveKeyVariable, "") // keys are in the user's folder
			t.Setenv("XDG_CONFIG_HOME", t.TempDir())
			r, h, view := referring(t)
			a, err := do(t.Context(), r.archive)
			if err != nil {
				t.Fatal(err)
			}
			readBack(t, a, h, view)
		})
	}
}

// Sessions are removed as a whole, so no remaining file refers to a removed
// one.
func TestSessionWithReferencesIsRemovedAsAWhole(t *testing.T) {
	for name, do := range map[string]func(ctx context.Context, a *memory.Archive) error{
		"erase": func(ctx context.Context, a *memory.Archive) error {
			s, err := record.OpenSession(ctx, a, "s")
			if err == nil {
				_, err = s.Erase(ctx, redact.Text{})
			}
			return err
		},
		"prune": func(ctx context.Context, a *memory.Archive) error {
			for r, err := range record.Prune(ctx, a, record.PruneOptions{Before: time.Now().Add(time.Hour)}) {
				if err != nil || r.Err != nil {
					return r.Err
				}
			}
			return nil
		},
	} {
		t.Run(name, func(t *testing.T) {
			r, _, _ := referring(t)
			if err := do(t.Context(), r.archive); err != nil {
				t.Fatal(err)
			}
			for file, data := range r.archived() {
				if strings.Contains(file, "transcript") || strings.Contains(data, `{"from":`) {
					t.Errorf("%s is left", file)
				}
			}
		})
	}
}
