package compact

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// A killed process loses at most a minute of a silent session: its lines are written
// without another call.
func TestLinesOfASilentSessionAreWrittenAfterAMinute(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sessions = 50
		a := &appending{Archive: memory.New()}
		m, _ := logging(t, a, maxWaiting)
		for n := range sessions {
			talk(t, m, fmt.Sprint("s", n), 2)
			time.Sleep(time.Second)
		}
		written := func() (n int) {
			for i := range sessions {
				if len(linesOf(t, a, fmt.Sprint("s", i))) > 0 {
					n++
				}
			}
			return n
		}
		if n := written(); n != 0 {
			t.Fatalf("%d logs are written at once, want 0", n)
		}
		time.Sleep(flushAfter - sessions*time.Second)
		for n := range sessions {
			synctest.Wait()
			if got := written(); got != n+1 {
				t.Fatalf("%d logs are written when %d sessions have been silent for a minute", got, n+1)
			}
			time.Sleep(time.Second)
		}
		if m.backlog.total.Load() != 0 || len(m.backlog.waiting.logs) != 0 {
			t.Errorf("%d bytes and %d logs wait, want 0 and 0", m.backlog.total.Load(), len(m.backlog.waiting.logs))
		}
	})
}

// Many sessions that fall silent together are written by a few writers, one after the
// other, until none waits.
func TestManySilentSessionsAreWrittenByAFewWriters(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const sessions, each = 300, 200 * time.Millisecond
		a := &appending{Archive: memory.New()}
		m, _ := logging(t, a, maxWaiting)
		for n := range sessions {
			talk(t, m, fmt.Sprint("s", n), 1)
		}
		a.mu.Lock()
		a.takes = each
		a.mu.Unlock()
		time.Sleep(flushAfter + sessions/flushers*4*each) // a log needs more than one write
		synctest.Wait()
		if n := len(m.backlog.waiting.logs); n != 0 {
			t.Errorf("%d logs still wait, want 0", n)
		}
		if a.most != flushers {
			t.Errorf("%d logs were written at once, at most %d are allowed", a.most, flushers)
		}
	})
}

// A log that is due while calls keep all writers busy is written when one is free.
func TestASilentSessionWaitsForAWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &appending{Archive: memory.New()}
		m, _ := logging(t, a, maxWaiting)
		talk(t, m, "silent", 1)
		time.Sleep(flushAfter - time.Second)
		a.mu.Lock()
		a.takes = 5 * time.Second
		a.mu.Unlock()
		m.backlog.flushAt = 1 // so that each call has its lines written
		for n := range 2 * flushers {
			talk(t, m, fmt.Sprint("s", n), 1)
		}
		synctest.Wait()
		if a.most != flushers {
			t.Fatalf("%d of %d writers are busy", a.most, flushers)
		}
		time.Sleep(2 * time.Second)
		if len(linesOf(t, a, "silent")) > 0 {
			t.Fatal("the log of the silent session was not made to wait")
		}
		time.Sleep(30 * time.Second)
		synctest.Wait()
		if len(linesOf(t, a, "silent")) == 0 {
			t.Error("the log of the silent session still waits")
		}
	})
}

// Lines that could not be written are retried without a call, with pauses, until it
// works.
func TestLinesOfASilentSessionOutliveABrokenArchive(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &broken{Archive: memory.New(), word: "events"}
		m, _ := logging(t, a, maxWaiting)
		talk(t, m, "s", 3)
		time.Sleep(time.Hour)
		synctest.Wait()
		if a.asked < 30 || a.asked > 150 {
			t.Errorf("the archive was asked %d times in an hour, want at least 30 and at most 150", a.asked)
		}
		a.repair()
		time.Sleep(longestRest + firstRest)
		synctest.Wait()
		if got := strings.Count(strings.Join(linesOf(t, a, "s"), "\n"), `"before_model_call"`); got != 3 {
			t.Errorf("the lines of %d calls of 3 are written, want 3", got)
		}
	})
}

// A log whose lines are written is released, and returns with the next line.
func TestFlushedLogLeavesTheQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		m, _ := logging(t, a, maxWaiting)
		for range 3 {
			talk(t, m, "s", 1)
			if n := len(m.backlog.waiting.logs); n != 1 {
				t.Fatalf("%d logs wait, want 1", n)
			}
			if err := m.Flush(t.Context()); err != nil {
				t.Fatal(err)
			}
			time.Sleep(2 * flushAfter)
			synctest.Wait()
			if n := len(m.backlog.waiting.logs); n != 0 {
				t.Fatalf("%d logs wait, and all is written, want 0", n)
			}
		}
	})
}

// After Close nothing is written, and no timer runs.
func TestCloseStopsTheClockOfTheLogs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &broken{Archive: memory.New(), word: "events"}
		m, _ := logging(t, a, maxWaiting)
		talk(t, m, "s", 1)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := m.Close(ctx); err == nil {
			t.Fatal("nothing was lost")
		}
		asked := a.asked
		time.Sleep(time.Hour)
		if a.asked != asked {
			t.Errorf("a closed manager wrote %d times", a.asked-asked)
		}
		if m.backlog.waiting.timer.Stop() {
			t.Error("a timer is still active")
		}
	})
}

// appending is an archive whose logs are slow; it counts concurrent writers.
type appending struct {
	storage.Archive
	takes time.Duration

	mu        sync.Mutex
	now, most int
}

func (a *appending) count(n int) time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.now += n
	a.most = max(a.most, a.now)
	return a.takes
}

func (a *appending) Append(ctx context.Context, k storage.Key, seq int64, data storage.Blob) error {
	if strings.Contains(k.String(), "events") {
		takes := a.count(1)
		defer a.count(-1)
		time.Sleep(takes)
	}
	return a.Archive.Append(ctx, k, seq, data)
}
