package main

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestProgressAppearsOnlyForLongRuns(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := &progress{w: &b, on: true}
		p.start("quick")
		time.Sleep(progressAfter - time.Millisecond)
		p.stop()
		if b.Len() > 0 {
			t.Errorf("a moment's work showed %q", b.String())
		}
		p.start("slow")
		p.at(1, 4)
		time.Sleep(2 * progressAfter)
		p.stop()
		p.stop() // a second stop has no effect
		if got := b.String(); !strings.Contains(got, "slow 25 %") || !strings.HasSuffix(got, "\r\x1b[K") {
			t.Errorf("showed %q", got)
		}
	})
}

// TestProgressIsALineAMinuteInALog: a log or a pipe gets no spinner.
func TestProgressIsALineAMinuteInALog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := &progress{w: &b, on: true, lines: true}
		p.start("slow")
		p.at(1, 4)
		time.Sleep(2*lineEvery + time.Second)
		p.stop()
		time.Sleep(lineEvery)
		line := "compactctl: still slow 25 %"
		if got := b.String(); got != line+", 3m0s left\n"+line+", 6m0s left\n" {
			t.Errorf("wrote %q", got)
		}
	})
}

func TestDisabledProgressShowsNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var b strings.Builder
		p := &progress{w: &b}
		p.start("slow")
		time.Sleep(time.Hour)
		p.stop()
		if b.Len() > 0 {
			t.Errorf("showed %q", b.String())
		}
	})
}

func TestTimeLeftIsShownOnceKnown(t *testing.T) {
	for _, tc := range []struct {
		took        time.Duration
		done, total int64
		want        string
	}{
		{time.Second, 1, 2, ""}, {time.Minute, 0, 9, ""}, {time.Minute, 9, 9, ""},
		{10 * time.Second, 25, 100, ", 30s left"}, {3 * time.Minute, 3, 4, ", 1m0s left"},
	} {
		if got := timeLeft(tc.took, tc.done, tc.total); got != tc.want {
			t.Errorf("timeLeft(%v, %d, %d) = %q, want %q", tc.took, tc.done, tc.total, got, tc.want)
		}
	}
}
