package compact

import (
	"context"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// goingOn returns a manager whose calls continue if its archive refuses writes.
func goingOn(t *testing.T, preset string, a storage.Archive) (*CompactManager, *tracetest.Recorder) {
	t.Helper()
	seen := &tracetest.Recorder{}
	c := Config{Preset: preset, Model: "gpt-4o", MaxContextTokens: 16_000, Archive: a, Exporters: []trace.Exporter{seen}}
	c.Storage.OnError = "continue"
	m, err := New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close(context.Background()) }) // the archive may refuse even this
	return m, seen
}

func wordy(rounds int) []message.Message {
	history := []message.Message{message.System("You fix bugs."), message.User("Make the tests pass.")}
	for i := range rounds {
		id := fmt.Sprintf("call_%d", i)
		history = append(history, message.Assistant("", message.Call(id, "read_file", `{"path":"a.go"}`)),
			message.ToolResult(id, fmt.Sprint(i)+strings.Repeat(" some words", 100)))
	}
	return history
}

// If a step or an append cannot be stored, its edits become a step in memory with a
// number of its own, and later calls apply them from there.
func TestUnarchivedStepStaysInMemory(t *testing.T) {
	for _, c := range []struct {
		name, preset, word string
		rounds             int
		event              string
	}{
		{"edits", "masking", "edits.jsonl", 24, trace.NameMaskedObservations},
		{"a step", "graduated", "ledger-", 90, trace.NameMaskedObservations},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, seen := goingOn(t, c.preset, &broken{Archive: memory.New(), word: c.word})
			history := wordy(c.rounds)
			first, err := m.Preflight(t.Context(), "s", history)
			if err != nil || !first.Triggered || first.MaskedCount == 0 || !strings.Contains(strings.Join(first.Warnings, " "), "nothing was archived") {
				t.Fatalf("triggered %v, %d masked, warnings %q, %v; want true and no error", first.Triggered, first.MaskedCount, first.Warnings, err)
			}
			again, err := m.Preflight(t.Context(), "s", history)
			if err != nil || again.Triggered || again.Replayed == 0 || len(again.Messages) != len(first.Messages) {
				t.Errorf("the second call: triggered %v, %d edits made again, %v", again.Triggered, again.Replayed, err)
			}
			found, err := m.Search(t.Context(), "s", regexp.MustCompile("some words"), 0)
			if err != nil || len(found.Matches) > 0 { // no reference leads to the text of such a step
				t.Errorf("a search finds %d lines, %v; want none and no error", len(found.Matches), err)
			}
			if err := m.Flush(t.Context()); err != nil && !errors.Is(err, ErrArchiveFailed) {
				t.Fatal(err)
			}
			if call := seen.Named(trace.NameBeforeModelCall)[0]; call.Severity != trace.SeverityWarning || !strings.Contains(call.Data.String(), "; the archive failed") {
				t.Errorf("severity %q: %s, want %q", call.Severity, call.Data, trace.SeverityWarning)
			}
			told := seen.Named(c.event)
			if len(told) == 0 || !strings.Contains(told[0].Data.String(), `"step":1`) {
				t.Errorf("reported: %v", told)
			}
		})
	}
}

// A call with edits for a step in memory waits while other calls are about to commit a
// step, at most until its deadline.
func TestUnappendedEditsWaitForOtherSteps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m, _ := goingOn(t, "masking", &broken{Archive: memory.New(), word: "edits.jsonl"})
		if _, err := m.Preflight(t.Context(), "s", wordy(1)); err != nil {
			t.Fatal(err)
		}
		s := m.sessions["s"]
		if err := s.committing.Lock(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer s.committing.Unlock()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := m.Preflight(ctx, "s", wordy(24)); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with the lock held the call ends with %v, want DeadlineExceeded", err)
		}
	})
}

// If the caller has canceled its call, an error of the archive does not count as a
// failure of the archive.
func TestCanceledCallDoesNotCountAsAnArchiveFailure(t *testing.T) {
	m, _ := goingOn(t, "graduated", memory.New())
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	c := newCall(m, "s", nil, request{})
	if err := c.archiveFailed(ctx, "commit", errors.New("no space left")); !errors.Is(err, context.Canceled) || errors.Is(err, ErrArchiveFailed) || len(c.res.Warnings) > 0 {
		t.Errorf("%v, warnings %q, want Canceled", err, c.res.Warnings)
	}
}

// If a request asks for a larger reserve for the answer than the configured one, only the
// difference can shrink.
func TestConfiguredReserveForTheAnswerDoesNotShrink(t *testing.T) {
	c := &Config{MaxOutputTokens: 20_000, Policy: policy.Config{HardCapBuffer: 1_500, TriggerPct: 0.85, TargetPct: 0.6}}
	for asked, want := range map[int]int{0: 78_500, 30_000: 68_500} {
		s, err := spared(c, 100_000, asked)
		if err != nil || s.budget.Cap != want || s.lifted.Cap != 78_500 {
			t.Errorf("asked for %d: budget %d, %d at most, %v", asked, s.budget.Cap, s.lifted.Cap, err)
		}
	}
}

// A prompt that was expected to have no cached tokens is not a cache miss.
func TestUncachedPromptIsNoCacheMiss(t *testing.T) {
	for expect, want := range map[int]bool{0: false, 1: true} {
		if got := (&account{seen: observedUsage{known: true, expect: expect}}).cacheMissed(); got != want {
			t.Errorf("%d tokens were to be read: missed %v, want %v", expect, got, want)
		}
	}
}

// A second event of one call reports the same savings of the session as the
// first.
func TestSavingsOfACallCountOnce(t *testing.T) {
	s := &session{saved: 1_000}
	c := &call{res: &Result{TokensIn: 100, After: Layers{Total: 40}}}
	if a, b := s.savedWith(c), s.savedWith(c); a != 1_060 || b != 1_060 {
		t.Errorf("%d, and then %d; want 1060 and 1060", a, b)
	}
	if c.res.After.Total = 30; s.savedWith(c) != 1_070 {
		t.Errorf("after a new decision: %d", s.saved)
	}
}

// A preset without steps marks its changes in the manifest after a minute, or as soon as
// the archive accepts writes again. From then on, verify reports the removal of these
// changes.
func TestEditsAreProvenAfterAMinute(t *testing.T) {
	large := append(wordy(1), message.Assistant("", message.Call("call_x", "read_file", `{"path":"b.log"}`)),
		message.ToolResult("call_x", strings.Repeat("some words of a line\nother words of another line\n", 700)))
	for name, c := range map[string]struct {
		preset  string
		history []message.Message
		down    time.Duration
	}{
		"masked":          {"masking", wordy(24), 0},
		"after a failure": {"masking", wordy(24), 3 * flushAfter},
		"on arrival":      {"economy", large, 0},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) { provenAfter(t, c.preset, c.history, c.down) })
		})
	}
}

func provenAfter(t *testing.T, preset string, history []message.Message, down time.Duration) {
	a := &broken{Archive: memory.New()}
	m, _ := goingOn(t, preset, a)
	if res, err := m.Preflight(t.Context(), "s", history); err != nil || !res.Triggered || res.Step > 0 {
		t.Fatalf("triggered %v (%s), step %d, %v; want true, none and no error", res.Triggered, res.Reason, res.Step, err)
	}
	if down > 0 {
		a.mu.Lock()
		a.word = "manifest"
		a.mu.Unlock()
		time.Sleep(down)
		if a.repair(); a.asked < 2 || a.asked > 6 {
			t.Errorf("%d attempts while the archive failed, want at least 2 and at most 6", a.asked)
		}
	}
	time.Sleep(flushAfter + time.Second)
	synctest.Wait()
	if r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{}); err != nil || !r.OK() {
		t.Fatalf("%+v, %v, want no problems", r, err)
	}
	k, err := storage.ParseKey("s/edits.jsonl")
	if err == nil {
		err = a.Archive.(storage.Remover).Remove(t.Context(), k)
	}
	if err != nil {
		t.Fatal(err)
	}
	if r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{}); err != nil || r.OK() {
		t.Errorf("without edits.jsonl the session verifies: %+v, %v", r, err)
	}
}
