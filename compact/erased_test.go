package compact_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// erasing compacts a session, erases it from another process, and continues it in
// the same process or in another.
func erasing(t *testing.T, policy string, restart bool) (*rig, string, compact.Config) {
	t.Helper()
	dir := t.TempDir()
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	c.Model, c.MaxContextTokens, c.Archive, c.Storage.Erased = "gpt-4", 24_000, mustOpen(t, dir), policy
	r := newRig(t, c)
	if res, err := r.Preflight(t.Context(), "s", turns(60, 200)); err != nil || !res.Triggered {
		t.Fatalf("%v, triggered %v; want no error and true", err, res.Triggered)
	}
	other, err := record.OpenSession(t.Context(), c.Archive, "s")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.Erase(t.Context(), redact.Lit("asked for")); err != nil {
		t.Fatal(err)
	}
	if restart {
		r = newRig(t, c)
	}
	return r, dir, c
}

func TestErasedSessionStaysErased(t *testing.T) {
	for name, restart := range map[string]bool{"in the same process": false, "in another process": true} {
		t.Run(name, func(t *testing.T) {
			r, dir, _ := erasing(t, "refuse", restart)
			history := turns(90, 200)
			for range 3 {
				res, err := r.Preflight(t.Context(), "s", history)
				if !errors.Is(err, compact.ErrArchiveFailed) || !errors.Is(err, record.ErrErased) || len(res.Messages) != len(history) {
					t.Fatalf("%v, %d messages of %d; want ErrArchiveFailed and ErrErased", err, len(res.Messages), len(history))
				}
			}
			small := turns(2, 20)
			if res, err := r.Preflight(t.Context(), "s", small); err != nil || len(res.Messages) != len(small) {
				t.Errorf("an operation without the archive: %v", err)
			}
			if err := r.Flush(t.Context()); err != nil {
				t.Errorf("Flush: %v", err)
			}
			if files, err := filepath.Glob(filepath.Join(dir, "s*")); err != nil || len(files) > 0 {
				t.Errorf("stored again: %q, %v", files, err)
			}
		})
	}
}

func TestErasedSessionContinuesInANewLife(t *testing.T) {
	for name, restart := range map[string]bool{"in the same process": false, "in another process": true} {
		t.Run(name, func(t *testing.T) {
			r, dir, c := erasing(t, "new", restart)
			history := turns(90, 200)
			res, err := r.Preflight(t.Context(), "s", history) // even if the session is in memory
			if err != nil || !res.Triggered || res.Step != 1 || res.Session != "s" {
				t.Fatalf("%v, triggered %v, step %d of %s; want no error, true, 1 and %s", err, res.Triggered, res.Step, res.Session, "s")
			}
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			found := ""
			for _, e := range entries {
				if e.Name() == "s" {
					t.Error("the step was written to the old folder")
				}
				if strings.HasPrefix(e.Name(), "s.after-") {
					found = e.Name()
				}
			}
			if found == "" {
				t.Fatalf("there is no new folder: %v", entries)
			}
			again := newRig(t, c)
			if res, err := again.Preflight(t.Context(), "s", history); err != nil || res.Triggered || res.Replayed == 0 {
				t.Errorf("a third process does not find the step: %v, triggered %v", err, res.Triggered)
			}
		})
	}
}

// If access records are required, a read that can't be recorded is refused.
func TestRecallIsRecorded(t *testing.T) {
	c, err := compact.Preset("graduated")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	c.MaxContextTokens, c.Archive, c.Storage.AccessLog = 24_000, mustOpen(t, dir), true
	r := newRig(t, c)
	r.preflight(turns(60, 200))
	if _, err := r.Recall(t.Context(), "s", "turn:2"); err != nil {
		t.Fatal(err)
	}
	n := 0
	for x, err := range record.Accesses(t.Context(), c.Archive) {
		if n++; err != nil || x.Who != "agent" || x.Op != "recall" || x.Session != "s" || x.What != "turn:2" {
			t.Errorf("%+v, %v, want a record of the recall by the agent", x, err)
		}
	}
	if n != 1 {
		t.Errorf("%d records, want 1", n)
	}
	if err := os.RemoveAll(filepath.Join(dir, "_access")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, "_access"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if text, err := r.Recall(t.Context(), "s", "turn:2"); !errors.Is(err, compact.ErrArchiveFailed) || text != "" {
		t.Errorf("%q, %v; want none and ErrArchiveFailed", text, err)
	}
}

// A session whose name in version 1 was a hash without a key, and that was erased
// under that name, does not begin again under its current name.
func TestSessionErasedUnderItsOldNameStaysErased(t *testing.T) {
	for _, policy := range []string{"refuse", "new"} {
		c, err := compact.Preset("graduated")
		if err != nil {
			t.Fatal(err)
		}
		dir, id := t.TempDir(), "jane.doe@example.org"
		c.Model, c.MaxContextTokens, c.Archive, c.Storage.Erased, c.Redaction.PII = "gpt-4", 24_000, mustOpen(t, dir), policy, true
		redactor, err := c.Redaction.Redactor()
		if err != nil {
			t.Fatal(err)
		}
		old, err := record.OpenSession(t.Context(), c.Archive, compact.SessionName(redactor, id).String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := old.Final(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"hello"}`)}); err != nil {
			t.Fatal(err)
		}
		if _, err := old.Erase(t.Context(), redact.Lit("asked for")); err != nil {
			t.Fatal(err)
		}
		_, err = newRig(t, c).Preflight(t.Context(), id, turns(60, 200))
		if refused := errors.Is(err, record.ErrErased); refused != (policy == "refuse") || err != nil && !refused {
			t.Errorf("%s: %v, want ErrErased only with refuse", policy, err)
		}
		again, _ := filepath.Glob(filepath.Join(dir, "redacted-*"))
		next, _ := filepath.Glob(filepath.Join(dir, "redacted-*.after-*"))
		if len(again) != len(next) || len(next) > 0 != (policy == "new") {
			t.Errorf("%s: stored in %q", policy, again)
		}
	}
}

// dying is the archive of a process that dies during an erase, after some removals.
type dying struct {
	*memory.Archive
	left int
}

var errDead = errors.New("the process is dead")

func (a *dying) Remove(ctx context.Context, k storage.Key) error {
	if a.left--; a.left < 0 {
		return errDead
	}
	return a.Archive.Remove(ctx, k)
}

func (a *dying) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.left < 0 {
		return errDead
	}
	return a.Archive.Append(ctx, k, seq, b)
}

// An erase that was interrupted, at whichever file, stops no agent: with "new" it continues in
// another folder, in the same process and in another. With "refuse" nothing is stored again.
func TestInterruptedEraseStopsNoAgent(t *testing.T) {
	ended := false
	for left := 0; !ended; left++ {
		for _, policy := range []string{"new", "refuse"} {
			a := memory.New()
			c := compact.Config{MaxContextTokens: 8_000, Archive: a, Logger: slog.New(slog.DiscardHandler)}
			c.Storage.Erased = policy
			first := newRig(t, c)
			first.preflight(turns(20, 200))
			s, err := record.OpenSession(t.Context(), &dying{a, left}, "s")
			if err != nil {
				t.Fatal(err)
			}
			_, err = s.Erase(t.Context(), redact.Lit("asked for"))
			ended = err == nil
			for name, r := range map[string]*rig{"the same process": first, "another process": newRig(t, c)} {
				res, err := r.Preflight(t.Context(), "s", turns(30, 200))
				if policy == "new" && (err != nil || !res.Triggered && res.Replayed == 0 || len(res.Warnings) > 0) {
					t.Errorf("after %d removals, %s: %v, triggered %v, warnings %q", left, name, err, res.Triggered, res.Warnings)
				}
				if policy == "refuse" && !errors.Is(err, record.ErrErased) {
					t.Errorf("after %d removals, %s stores again: %v", left, name, err)
				}
			}
		}
	}
}
