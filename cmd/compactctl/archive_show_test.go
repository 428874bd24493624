package main

import "testing"

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
