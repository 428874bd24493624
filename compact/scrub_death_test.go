package compact_test

import (
	"errors"
	"fmt"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/flaky"
	"github.com/agentcompact/compact/storage/record"
)

// A scrub dies at each of its changes. The agent with the session in memory continues, or
// another process does; both see the earlier view, and lose nothing.
func TestAgentContinuesAfterAnInterruptedScrub(t *testing.T) {
	every := 1
	if !soak() {
		every = 5
	}
	for at := 0; ; at += every {
		died := false
		for _, same := range []bool{true, false} {
			t.Run(fmt.Sprintf("at %d, the same process %t", at, same), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) { died = goesOnAfterDeath(t, at, same) || died })
			})
		}
		if !died || t.Failed() {
			if at < 15 && !t.Failed() {
				t.Errorf("the scrub had only %d changes", at)
			}
			return
		}
	}
}

func goesOnAfterDeath(t *testing.T, at int, same bool) (died bool) {
	r := newRig(t, compact.Config{})
	history := leakyLoop()
	compacted := func(r *rig) string {
		t.Helper()
		for i := range 6 {
			history = append(history, round(20+len(history)+i, 200)...)
		}
		res, err := r.ManualCompact(t.Context(), "s", history, "test")
		if err != nil || res.Step == 0 {
			t.Fatalf("step %d, %v", res.Step, err)
		}
		return bytesOf(res.Messages)
	}
	compacted(r)
	view := compacted(r)
	if err := r.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	log, err := record.OpenSession(t.Context(), flaky.NewMortal(r.archive, at), "s")
	if err != nil {
		t.Fatal(err)
	}
	_, err = compact.Scrub(t.Context(), log, compact.ScrubOptions{Secrets: []string{leakedLater}})
	if died = errors.Is(err, flaky.ErrDied); err != nil && !died {
		t.Fatal(err)
	}
	agent := r
	if !same {
		agent = newRig(t, compact.Config{Archive: r.archive})
		agent.archive = r.archive
	}
	res, err := agent.Preflight(t.Context(), "s", history)
	if err != nil || bytesOf(res.Messages) != view {
		t.Errorf("the view differs, %v, %v", err, res.Warnings)
	}
	view = compacted(agent)
	events := len(lateEvents(agent))
	if _, err := compact.Scrub(t.Context(), r.stored(), compact.ScrubOptions{Secrets: []string{leakedLater}}); err != nil {
		t.Fatal(err)
	}
	if r.holdsText("correcthorse") {
		t.Error("the archive contains the secret")
	}
	r.verified()
	if now := len(lateEvents(agent)); now < events {
		t.Errorf("%d lines of the audit log are left of %d", now, events)
	}
	again := newRig(t, compact.Config{Archive: r.archive})
	res, err = again.Preflight(t.Context(), "s", history)
	if err != nil || bytesOf(res.Messages) != view {
		t.Errorf("the view differs after the second scrub, %v, %v", err, res.Warnings)
	}
	if text, err := agent.Recall(t.Context(), "s", "turn:2"); err != nil || !strings.Contains(text, "the word is ****") {
		t.Errorf("recalled by the process that had the text in memory: %.200q, %v", text, err)
	}
	return died
}

// The first recall of an agent after a dead scrub succeeds, for each file that the scrub
// may have removed.
func TestAgentRecallsAfterAnInterruptedScrub(t *testing.T) {
	for at, died := 0, true; died; at++ {
		for _, search := range []bool{true, false} {
			synctest.Test(t, func(t *testing.T) {
				r := newRig(t, compact.Config{})
				if res, err := r.ManualCompact(t.Context(), "s", leakyLoop(), "test"); err != nil || res.Step == 0 {
					t.Fatalf("step %d, %v", res.Step, err)
				}
				if err := r.Flush(t.Context()); err != nil {
					t.Fatal(err)
				}
				log, err := record.OpenSession(t.Context(), flaky.NewMortal(r.archive, at), "s")
				if err != nil {
					t.Fatal(err)
				}
				_, err = compact.Scrub(t.Context(), log, compact.ScrubOptions{Secrets: []string{leakedLater}})
				if died = errors.Is(err, flaky.ErrDied); err != nil && !died {
					t.Fatal(err)
				}
				if search {
					found, err := r.Search(t.Context(), "s", regexp.MustCompile("the word is"), 0)
					if err != nil || len(found.Matches) == 0 {
						t.Errorf("died at change %d: searched: %v, %v", at, found.Matches, err)
					}
					return
				}
				text, err := r.Recall(t.Context(), "s", "turn:2")
				if err != nil || !strings.Contains(text, "the word is") {
					t.Errorf("died at change %d: recalled: %.80q, %v; want text with %q and no error", at, text, err, "the word is")
				}
			})
		}
	}
}

// lateEvents returns the lines of the audit log.
func lateEvents(r *rig) (lines []string) {
	if err := r.Flush(r.t.Context()); err != nil {
		r.t.Fatal(err)
	}
	for line, err := range r.stored().EventLines(r.t.Context()) {
		if err != nil {
			r.t.Fatal(err)
		}
		lines = append(lines, string(line))
	}
	return lines
}
