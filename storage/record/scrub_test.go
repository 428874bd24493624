package record_test

import (
	"bytes"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

const leaked = "hunter2-of-alice"

// finds returns the search function of a scrub for a secret.
func finds(secret string) func(string, []byte) [][2]int {
	return func(_ string, line []byte) (all [][2]int) {
		for at := 0; ; {
			i := bytes.Index(line[at:], []byte(secret))
			if i < 0 {
				return all
			}
			all = append(all, [2]int{at + i, at + i + len(secret)})
			at += i + len(secret)
		}
	}
}

// leaky returns a session with a secret in every kind of file.
func leaky(t *testing.T, a storage.Archive) *record.Session {
	t.Helper()
	r, err := redact.New(redact.Options{Disabled: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := record.OpenSession(t.Context(), a, "s")
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	check(err)
	lines := func(texts ...string) (out []redact.Text) {
		for _, text := range texts {
			out = append(out, r.Text(text))
		}
		return out
	}
	check(s.Events(t.Context(), lines(`{"name":"one"}`, fmt.Sprintf(`{"name":"two","data":%q}`, leaked))))
	for step := 1; step <= 2; step++ {
		said := fmt.Sprintf(`{"role":"user","content":"it is %s, %d"}`, leaked, step)
		_, err = s.Transcript(t.Context(), step, lines(`{"role":"user","content":"hello"}`, said))
		check(err)
		_, err = s.Summary(t.Context(), step, r.Text(fmt.Sprintf(`{"text":"they said %s"}`, leaked)))
		check(err)
		_, err = s.Commit(t.Context(), step, r.Text(fmt.Sprintf(`{"v":1,"archive":"transcript-pre-compact-%03d.jsonl","evicted":[{"sha256":%q}]}`, step, lineSum(said))))
		check(err)
		check(s.Events(t.Context(), lines(`{"name":"three"}`)))
	}
	check(s.Journal(t.Context(), lines(fmt.Sprintf(`{"role":"user","content":%q}`, leaked))))
	check(s.Checkpoint(t.Context()))
	_, err = s.Final(t.Context(), lines(fmt.Sprintf(`{"role":"user","content":%q}`, leaked)))
	check(err)
	return s
}

// wholeText returns all that an archive holds.
func wholeText(t *testing.T, a storage.Archive) string {
	t.Helper()
	var b strings.Builder
	for info, err := range a.List(t.Context(), storage.Key{}) {
		if err != nil {
			t.Fatal(err)
		}
		r, err := a.Open(t.Context(), info.Key, 0, -1)
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(r)
		if err := errors.Join(err, r.Close()); err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&b, "%s\n%s\n", info.Key, data)
	}
	return b.String()
}

// proven fails if verify finds a problem, and returns its notes.
func proven(t *testing.T, a storage.Archive) []string {
	t.Helper()
	refs := func(l record.Ledger) ([]record.Ref, error) {
		_, after, _ := bytes.Cut(l.Data, []byte(`"sha256":"`))
		name := fmt.Sprintf("transcript-pre-compact-%03d.jsonl", l.Step)
		first := int64(len(`{"role":"user","content":"hello"}`) + 1)
		return []record.Ref{{File: name, Off: first, Len: int64(len(fmt.Sprintf(`{"role":"user","content":"it is %s, 1"}`, leaked))), SHA256: string(after[:64])}}, nil
	}
	report, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{Refs: refs})
	if err != nil {
		t.Fatal(err)
	}
	if !report.OK() {
		t.Errorf("problems: %v, want no problems", report.Problems)
	}
	return report.Notes
}

func TestScrubRemovesASecretFromEveryFile(t *testing.T) {
	a := memory.New()
	s := leaky(t, a)
	proven(t, a)
	was := wholeText(t, a)
	dry, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), DryRun: true})
	if err != nil || len(dry.Files) != 9 || !dry.At.IsZero() || wholeText(t, a) != was {
		t.Fatalf("dry run: %+v, %v", dry, err)
	}
	s.ActAs(redact.Lit("carol"))
	out, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Reason: redact.Lit("ticket 7")})
	if err != nil || len(out.Files) != 9 || out.Who != "carol" || out.Resumed {
		t.Fatalf("scrub: %+v, %v", out, err)
	}
	if now := wholeText(t, a); strings.Contains(now, leaked) || strings.Contains(now, "scrub.") || !strings.Contains(now, `"it is ****************, 1"`) {
		t.Errorf("it is not taken out: %s", now)
	}
	if notes := strings.Join(proven(t, a), "\n"); !strings.Contains(notes, "scrubbed at ") || !strings.Contains(notes, "9 files were rewritten by carol: ticket 7") {
		t.Errorf("notes: %s, want text with %q and text with %q", notes, "scrubbed at ", "9 files were rewritten by carol: ticket 7")
	}
	for l, err := range s.Ledgers(t.Context(), 1) {
		if err != nil || l.Changed != nil {
			t.Errorf("ledger %d: %v, %v; want no error and none", l.Step, err, l.Changed)
		}
	}
	again, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)})
	if err != nil || len(again.Files) != 0 || again.Resumed {
		t.Errorf("again: %+v, %v", again, err)
	}
	more, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds("hello")})
	if err != nil || len(more.Files) != 2 {
		t.Errorf("another secret: %+v, %v", more, err)
	}
	proven(t, a)
}

func TestSessionContinuesAfterAScrub(t *testing.T) {
	a := memory.New()
	s := leaky(t, a)
	other, err := record.OpenSession(t.Context(), a, "s") // a session that does not scrub
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)}); err != nil {
		t.Fatal(err)
	}
	for _, w := range []*record.Session{s, other} {
		if err := w.Events(t.Context(), []redact.Text{redact.Lit(`{"name":"four"}`)}); err != nil {
			t.Fatal(err)
		}
		if err := w.Checkpoint(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	proven(t, a)
}

func TestScrubKeepsHeldAndChangedSessions(t *testing.T) {
	a := memory.New()
	s := leaky(t, a)
	if err := s.Hold(t.Context(), redact.Lit("lawsuit")); err != nil {
		t.Fatal(err)
	}
	was := wholeText(t, a)
	if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)}); !errors.Is(err, record.ErrHeld) || wholeText(t, a) != was {
		t.Errorf("under a hold: %v, want ErrHeld", err)
	}
	if err := s.Release(t.Context(), redact.Lit("over")); err != nil {
		t.Fatal(err)
	}
	was = wholeText(t, a)
	if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(`"content"`)}); !errors.Is(err, record.ErrScrub) || wholeText(t, a) != was {
		t.Errorf("a scrub that would break the JSON: %v", err)
	}
	tamper(t, a, "s/summary-001.json")
	if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)}); !errors.Is(err, storage.ErrChanged) {
		t.Errorf("a changed file: %v, want ErrChanged", err)
	}
}

// A number may be a secret, and must stay a number.
func TestScrubRemovesNumbers(t *testing.T) {
	a := memory.New()
	s, err := record.OpenSession(t.Context(), a, "s")
	if err == nil {
		err = s.Journal(t.Context(), []redact.Text{redact.Lit(`{"role":"tool","pin":4711471,"all":[4711471,-4711471.5]}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds("4711471")}); err != nil {
		t.Fatal(err)
	}
	if now := wholeText(t, a); strings.Contains(now, "4711471") || !strings.Contains(now, `"pin":1111111,"all":[1111111,-1111111.5]`) {
		t.Errorf("left: %s, want text without %q and text with %q", now, "4711471", `"pin":1111111,"all":[1111111,-1111111.5]`)
	}
	proven(t, a)
}

func tamper(t *testing.T, a *memory.Archive, name string) {
	t.Helper()
	k, err := storage.ParseKey(name)
	if err == nil {
		err = a.Remove(t.Context(), k)
	}
	if err == nil {
		err = a.Create(t.Context(), k, storage.Redacted(redact.Lit(`{"text":"they said nothing"}`)))
	}
	if err != nil {
		t.Fatal(err)
	}
}

// dying is an archive whose process dies at its nth change.
type dying struct {
	*memory.Archive
	left   int
	forgot bool // by its index
}

var errCutShort = errors.New("dead")

func (d *dying) step(do func() error) error {
	if d.left--; d.left < 0 {
		return errCutShort
	}
	return do()
}

func (d *dying) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return d.step(func() error { return d.Archive.Create(ctx, k, b) })
}

func (d *dying) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return d.step(func() error { return d.Archive.Append(ctx, k, seq, b) })
}

func (d *dying) Remove(ctx context.Context, k storage.Key) error {
	return d.step(func() error { return d.Archive.Remove(ctx, k) })
}

// Forget implements [record.TextIndex].
func (d *dying) Forget(context.Context, ...string) error {
	return d.step(func() error { d.forgot = true; return nil })
}

func TestInterruptedScrubIsCompleted(t *testing.T) {
	for at := 0; ; at++ {
		a := memory.New()
		leaky(t, a)
		d := &dying{a, at, false}
		s, err := record.OpenSession(t.Context(), d, "s")
		if err != nil {
			t.Fatal(err)
		}
		s.KeepIndex(d)
		_, dead := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: time.Millisecond})
		if dead != nil && !errors.Is(dead, errCutShort) {
			t.Fatal(dead)
		}
		s, err = record.OpenSession(t.Context(), a, "s")
		if err != nil {
			t.Fatal(err)
		}
		d.left = 100
		s.KeepIndex(d)
		if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)}); err != nil {
			t.Fatalf("died at change %d: %v", at, err)
		}
		if !d.forgot {
			t.Errorf("died at change %d: the index has it", at)
		}
		if now := wholeText(t, a); strings.Contains(now, leaked) || strings.Contains(now, "/scrub.") {
			t.Errorf("died at change %d: it still exists", at)
		}
		proven(t, a)
		if dead == nil {
			if at < 20 {
				t.Errorf("only %d changes, want at least 20", at)
			}
			return
		}
	}
}

func lineSum(line string) string { return fmt.Sprintf("%x", sha256.Sum256([]byte(line))) }
