package main

import (
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage/record"
)

// A bucket has no key of its own, also if none is in the environment.
func TestRekeyOfABucketNamesTheKeyOfTheMachine(t *testing.T) {
	if err := noNewKey(""); !strings.Contains(err.Error(), "compact/keys/machine") {
		t.Error(err)
	}
	if err := noNewKey("a key"); !strings.Contains(err.Error(), "comes from COMPACT_ARCHIVE_KEY") {
		t.Error(err)
	}
}

func TestHoldSaysWhatWasBefore(t *testing.T) {
	held := record.LegalHold{Held: true, Since: time.Date(2026, 11, 22, 15, 4, 5, 0, time.UTC), Who: "ann", Reason: "case 7"}
	for _, c := range []struct {
		before  record.LegalHold
		release bool
		want    string
	}{
		{record.LegalHold{}, false, "is under a legal hold"},
		{held, false, "is still under a legal hold (held since 2026-11-22 15:04 UTC by ann · case 7); one --release ends both"},
		{held, true, "is under no legal hold any more"},
		{record.LegalHold{}, true, "was under no legal hold"},
	} {
		if got := holdOutcome(c.before, c.release); got != c.want {
			t.Errorf("release %v: %q, want %q", c.release, got, c.want)
		}
	}
}
