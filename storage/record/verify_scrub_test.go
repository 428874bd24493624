package record_test

import (
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

// A scrub that was interrupted at any point does not count as damage, and verify
// reports how the scrub will end. A changed file of the scrub is damage.
func TestVerifyAcceptsAnInterruptedScrub(t *testing.T) {
	told, broken := 0, 0
	for at := 0; ; at++ {
		a := memory.New()
		leaky(t, a)
		s, err := record.OpenSession(t.Context(), &dying{a, at, false}, "s")
		must(t, err)
		_, dead := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: time.Millisecond})
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		must(t, err)
		if !r.OK() {
			t.Errorf("died at change %d: %v, want no problems", at, r.Problems)
		}
		if dead == nil {
			break
		}
		if !errors.Is(dead, errCutShort) {
			t.Fatal(dead)
		}
		if !strings.Contains(strings.Join(r.Notes, "\n"), "while it replaced files") {
			continue
		}
		told++
		changeWaiting(t, a)
		r, err = record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		if must(t, err); !r.OK() {
			broken++ // otherwise all files are in place, and the waiting ones are useless
		}
	}
	if told < 5 || broken < 3 {
		t.Errorf("the interrupted scrub is reported %d times, and a changed file %d times; want at least 5 and at least 3", told, broken)
	}
}

// A file that was changed before an interrupted scrub replaced it is damage, even though the
// file that will replace it waits.
func TestVerifyReportsAChangedFileThatAScrubReplaces(t *testing.T) {
	for at := 0; ; at++ {
		a := memory.New()
		leaky(t, a)
		s := session(t, &dying{a, at, false}, "s")
		if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: time.Millisecond}); err == nil {
			t.Fatal("the scrub was never cut short before it replaced a file")
		}
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		if must(t, err); !strings.Contains(strings.Join(r.Notes, "\n"), "while it replaced files") {
			continue
		}
		k := key(t, "s/transcript-pre-compact-001.jsonl")
		data := everythingIn(a, k)
		must(t, a.Remove(t.Context(), k))
		must(t, a.Create(t.Context(), k, storage.Redacted(text("x%s", data[1:]))))
		r, err = record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		if must(t, err); !strings.Contains(fmt.Sprint(r.Problems), "transcript-pre-compact-001.jsonl: changed") {
			t.Errorf("the changed transcript is not reported: %q", r.Problems)
		}
		return
	}
}

// changeWaiting changes each file that waits.
func changeWaiting(t *testing.T, a *memory.Archive) {
	t.Helper()
	var all []storage.Key
	for info, err := range a.List(t.Context(), storage.Key{}) {
		if must(t, err); strings.HasPrefix(info.Key.Base(), "scrub.") {
			all = append(all, info.Key)
		}
	}
	for _, k := range all {
		f, err := a.Open(t.Context(), k, 0, -1)
		must(t, err)
		data, err := io.ReadAll(f)
		must(t, err)
		must(t, a.Remove(t.Context(), k))
		must(t, a.Create(t.Context(), k, storage.Redacted(redact.Lit("x"), text("%s", data[1:]))))
	}
}

// A waiting file that was changed is evidence. The process that completes the scrub
// reports it, and keeps the file that it was to replace.
func TestAChangedFileOfAScrubReplacesNoFile(t *testing.T) {
	t.Parallel()
	for at := 0; ; at++ {
		a := memory.New()
		leaky(t, a)
		s, err := record.OpenSession(t.Context(), &dying{a, at, false}, "s")
		must(t, err)
		if _, err := s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: time.Millisecond}); err == nil {
			t.Fatal("the scrub was never cut short before it replaced a file")
		}
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		if must(t, err); !strings.Contains(strings.Join(r.Notes, "\n"), "while it replaced files") {
			continue
		}
		changeWaiting(t, a)
		before := content(t, session(t, a, "s"), "events.jsonl")
		if ended, err := session(t, a, "s").EndScrub(t.Context()); ended || !errors.Is(err, storage.ErrChanged) {
			t.Errorf("ended %v, %v, want ErrChanged", ended, err)
		}
		if got := content(t, session(t, a, "s"), "events.jsonl"); got != before {
			t.Errorf("a changed file took the place of another one: %.80q", got)
		}
		return
	}
}
