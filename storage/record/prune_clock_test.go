package record_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// behind is an archive whose clock is ahead of that of this machine.
type behind struct {
	*memory.Archive
	by time.Duration
}

func (b behind) List(ctx context.Context, k storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		for info, err := range b.Archive.List(ctx, k) {
			info.Modified = info.Modified.Add(b.by)
			if !yield(info, err) {
				return
			}
		}
	}
}

func pruned(t *testing.T, a storage.Archive, o record.PruneOptions) (map[string]record.PruneOutcome, error) {
	t.Helper()
	out := map[string]record.PruneOutcome{}
	for r, err := range record.Prune(t.Context(), a, o) {
		if err != nil {
			return out, err
		}
		out[r.Session.ID] = r.Outcome
	}
	return out, nil
}

// A clock that jumped ahead by a year makes no session older than the others: only the
// sessions that are old by the newest write are erased.
func TestPruneCountsFromTheNewestWrite(t *testing.T) {
	const day = 24 * time.Hour
	for name, c := range map[string]struct {
		ahead time.Duration
		trust bool
		want  map[string]record.PruneOutcome
	}{
		"right":           {0, false, map[string]record.PruneOutcome{"old": record.Pruned}},
		"hours ahead":     {20 * time.Hour, false, map[string]record.PruneOutcome{"old": record.Pruned}},
		"a year ahead":    {365 * day, false, map[string]record.PruneOutcome{"old": record.Pruned, "young": record.KeptClock, "held": record.KeptClock, "new": record.KeptClock}},
		"idle for a year": {365 * day, true, map[string]record.PruneOutcome{"old": record.Pruned, "young": record.Pruned, "held": record.KeptHeld, "new": record.Pruned}},
	} {
		synctest.Test(t, func(t *testing.T) {
			a := memory.New()
			step(t, session(t, a, "old"), 1)
			time.Sleep(80 * day)
			step(t, session(t, a, "young"), 1)
			held := session(t, a, "held")
			step(t, held, 1)
			must(t, held.Hold(t.Context(), text("a case")))
			time.Sleep(20 * day)
			step(t, session(t, a, "new"), 1)
			time.Sleep(c.ahead)
			o := record.PruneOptions{Age: 90 * day, TrustClock: c.trust}
			for _, dry := range []bool{true, false} {
				want := map[string]record.PruneOutcome{}
				for id, outcome := range c.want {
					if want[id] = outcome; dry && outcome == record.Pruned {
						want[id] = record.WouldPrune
					}
				}
				o.DryRun = dry
				got, err := pruned(t, a, o)
				must(t, err)
				if diff := cmp.Diff(want, got); diff != "" {
					t.Errorf("%s, dry run %v (-want +got):\n%s", name, dry, diff)
				}
			}
		})
	}
}

// A clock that is behind the archive by more than a day is an error, and nothing is
// erased. A difference of minutes between two hosts is none.
func TestPruneRefusesAClockBehindTheArchive(t *testing.T) {
	for by, refused := range map[time.Duration]bool{10 * time.Minute: false, 23 * time.Hour: false, 25 * time.Hour: true, 365 * 24 * time.Hour: true} {
		synctest.Test(t, func(t *testing.T) {
			a := behind{memory.New(), by}
			step(t, session(t, a, "s"), 1)
			_, err := pruned(t, a, record.PruneOptions{Age: time.Minute})
			if errors.Is(err, record.ErrClock) != refused || !refused && err != nil {
				t.Errorf("%v behind: %v", by, err)
			}
			if _, err := pruned(t, a, record.PruneOptions{Age: time.Minute, TrustClock: true}); err != nil {
				t.Errorf("%v behind, trusted: %v", by, err)
			}
			if head, err := session(t, a, "s").Head(t.Context()); head != 1 || err != nil {
				t.Errorf("%v behind: the session has %d steps, %v; want 1 and no error", by, head, err)
			}
		})
	}
}
