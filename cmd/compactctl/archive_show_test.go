package main

import (
	"slices"
	"strings"
	"testing"
	"time"
)

func TestShowHasAColumnOfAgentsForSeveralAgents(t *testing.T) {
	at := time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC)
	steps := []stepRow{
		{Step: 1, Agent: "main", Kind: "preflight", Model: "gpt-4o", Note: "by hand", At: at, Messages: 11},
		{Step: 2, Kind: "preflight", Model: "gpt-4o", At: at, Messages: 4},
	}
	for n, want := range []string{"", "step  committed             kind         before     after  messages  model\n   1  2026-11-22 15:04 UTC  preflight         0         0        11  gpt-4o · main · by hand\n",
		"step  agent  committed             kind         before     after  messages  model\n   1  main   2026-11-22 15:04 UTC  preflight         0         0        11  gpt-4o · by hand\n   2         2026-11-22 15:04 UTC  preflight         0         0         4  gpt-4o\n"} {
		var b strings.Builder
		(&app{}).printSteps(&b, steps[:n])
		if got := strings.TrimPrefix(b.String(), "\n"); got != want {
			t.Errorf("got\n%swant\n%s", got, want)
		}
	}
}

func TestShowNamesAFileWithAnotherNumberThanItsStep(t *testing.T) {
	for archive, want := range map[string]string{
		"transcript-pre-compact-007.jsonl":   "",
		"transcript-pre-compact-007.2.jsonl": "",
		"originals-007.jsonl":                "",
		"":                                   "",
		"transcript-pre-compact-006.jsonl":   "transcript-pre-compact-006.jsonl",
		"transcript-pre-compact-006.3.jsonl": "transcript-pre-compact-006.3.jsonl",
		"originals-070.jsonl":                "originals-070.jsonl",
	} {
		if got := (&stepRow{Step: 7, Archive: archive}).elsewhere(); got != want {
			t.Errorf("%q of step 7 is shown as %q, want %q", archive, got, want)
		}
	}
}

func TestNewestTranscriptBelongsToTheLastStep(t *testing.T) {
	names := []string{"originals-002.jsonl", "transcript-pre-compact-001.jsonl", "transcript-pre-compact-001.2.jsonl", "transcript-pre-compact-002.jsonl",
		"transcript-pre-compact-002.9.jsonl", "transcript-pre-compact-002.10.jsonl", "transcript-pre-compact-999.2.jsonl", "transcript-pre-compact-1000.jsonl"}
	for i := range names {
		if got := slices.MaxFunc(names[:i+1], byNumber); got != names[i] {
			t.Errorf("the newest of %q is %s", names[:i+1], got)
		}
	}
}
