package compact_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// halting is an archive that refuses edits, and whose first ledger is slow.
type halting struct {
	*memory.Archive
	once sync.Once
	free chan struct{}
}

func (a *halting) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if k.Base() == "edits.jsonl" {
		return &storage.Error{Op: "append", Key: k, Err: errors.New("no space")}
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *halting) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if strings.HasPrefix(k.Base(), "ledger-") {
		a.once.Do(func() { <-a.free })
	}
	return a.Archive.Create(ctx, k, b)
}

// A step that no archive stores (storage.on_error: continue) does not displace a step
// that another agent is about to commit: both steps are known afterwards.
func TestVolatileStepTakesNoNumberOfACommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &halting{Archive: memory.New(), free: make(chan struct{})}
		c := everyCallConfig("gateway", a)
		c.Storage.OnError = "continue"
		m := costRig(t, c)
		history := costHistory(20)
		other := costHistory(22)
		var first, second *compact.Result
		var wg sync.WaitGroup
		wg.Go(func() { first, _ = m.ManualCompact(t.Context(), "s", history, "", compact.WithAgent("a")) })
		synctest.Wait() // the ledger of the first is being created
		wg.Go(func() { second, _ = m.Preflight(t.Context(), "s", other, compact.WithAgent("b")) })
		synctest.Wait()
		close(a.free)
		wg.Wait()
		if first.Step != 1 || !second.Triggered {
			t.Errorf("the first makes step %d, the second compacts: %v", first.Step, second.Triggered)
		}
		for agent, was := range map[string]*compact.Result{"a": first, "b": second} {
			h := history
			if agent == "b" {
				h = other
			}
			again, err := m.Preflight(t.Context(), "s", h, compact.WithAgent(agent))
			if err != nil || again.Triggered || again.Replayed == 0 || bytesOf(again.Messages) != bytesOf(was.Messages) {
				t.Errorf("agent %s: %d edits made again, triggered %v, %v", agent, again.Replayed, again.Triggered, err)
			}
		}
	})
}
