package compact

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"regexp"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

// backwards is a clock that is set back by a minute before each look at it.
type backwards struct {
	mu sync.Mutex
	at time.Time
}

func (c *backwards) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(-time.Minute)
	return c.at
}

// A clock that runs backwards during a call gives no negative figure, and no event that
// ends before it begins.
func TestClockThatRunsBackwardsGivesNoNegativeTimes(t *testing.T) {
	negative := regexp.MustCompile(`"[a-z_]+":-[0-9.]+`)
	for _, preset := range []string{"graduated", "economy", "masking"} {
		seen := &tracetest.Recorder{}
		c := Config{Preset: preset, Model: "gpt-4", MaxContextTokens: 24_000, Archive: memory.New(), Exporters: []trace.Exporter{seen}}
		c.Now = (&backwards{at: time.Unix(1_800_000_000, 0)}).now
		c.Trace.PerSession = true
		m, err := New(t.Context(), c)
		if err != nil {
			t.Fatal(err)
		}
		for _, rounds := range []int{20, 40} {
			res, err := m.Preflight(t.Context(), "s", reads(rounds))
			if err != nil {
				t.Fatal(err)
			}
			m.Observe(res, Usage{PromptTokens: res.After.Total})
			raw, _ := json.Marshal(res)
			if found := negative.FindAll(raw, -1); len(found) > 0 {
				t.Errorf("%s: the result has %q", preset, found)
			}
		}
		if err := m.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, e := range seen.Events() {
			if e.End.Before(e.Start) || e.Trace != nil && !e.Trace.End.IsZero() && e.Trace.End.Before(e.Trace.Start) {
				t.Errorf("%s: %s ends %v before it begins", preset, e.Name, e.Start.Sub(e.End))
			}
			if found := negative.FindString(e.Data.String()); found != "" {
				t.Errorf("%s: %s has %s, want none", preset, e.Name, found)
			}
		}
	}
}

// A clock that is set back by hours delays nothing by hours: lines that wait, the next
// try after a failed write, the next look for steps of other processes, and the next
// try to open an archive.
func TestClockThatIsSetBackDelaysNothing(t *testing.T) {
	t.Run("lines", func(t *testing.T) {
		for _, fails := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				a := &broken{Archive: memory.New(), word: "events"}
				m, _ := logging(t, a, 1<<20)
				var back atomic.Int64
				m.now = func() time.Time { return time.Now().Round(0).Add(-time.Duration(back.Load())) }
				s, err := m.session(t.Context(), "s")
				if err != nil {
					t.Fatal(err)
				}
				defer m.release(s)
				if !fails {
					a.repair()
				}
				s.audit.add(redact.Lit(`{"n":1}`))
				time.Sleep(flushAfter + time.Second) // the first write fails, or succeeds
				synctest.Wait()
				a.repair()
				s.audit.add(redact.Lit(`{"n":2}`))
				back.Store(int64(5 * time.Hour))
				time.Sleep(2 * flushAfter)
				synctest.Wait()
				if n := len(linesOf(t, a, "s")); n != 2 {
					t.Errorf("after a first write that fails (%v), %d of 2 lines are written, want 2", fails, n)
				}
			})
		}
	})
	t.Run("steps", func(t *testing.T) {
		at := time.Now()
		if s := (&session{checked: at}); !s.startIfDue(at.Add(-5 * time.Hour)) {
			t.Error("no steps are requested until the clock has caught up")
		}
	})
	t.Run("opening", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			var back atomic.Int64
			e := &env{now: func() time.Time { return time.Now().Round(0).Add(-time.Duration(back.Load())) }, logger: slog.New(slog.NewTextHandler(io.Discard, nil))}
			e.redactor, _ = redact.New(redact.Options{})
			var side work
			a := newLate(e, &side, "the bucket", errors.New("away"), func(context.Context) (storage.Archive, error) { return memory.New(), nil })
			_, _ = a.get()
			synctest.Wait()
			if a.missing() == nil {
				t.Error("the archive is opened without a rest")
			}
			back.Store(int64(5 * time.Hour))
			_, _ = a.get()
			synctest.Wait()
			if err := a.missing(); err != nil {
				t.Errorf("the archive is not opened until the clock has caught up: %v", err)
			}
		})
	})
}
