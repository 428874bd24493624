package record_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// gated is an archive whose operations wait at gates.
type gated struct {
	*memory.Archive
	before func(op string, k storage.Key)
}

func (a *gated) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	a.before("append", k)
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *gated) Remove(ctx context.Context, k storage.Key) error {
	a.before("remove", k)
	return a.Archive.Remove(ctx, k)
}

// Two scrubs run at once. The first scrub removes the waiting files of a void attempt
// of the second, while the second stores waiting files again and puts them in place.
func TestConcurrentScrubsAreIndependent(t *testing.T) {
	t.Parallel()
	shared := memory.New()
	leaky(t, shared)
	var asked, dropping, placing sync.Once
	waiting, drops, places := make(chan struct{}), make(chan struct{}), make(chan struct{})
	manifest := 0
	first := &gated{Archive: shared}
	first.before = func(op string, k storage.Key) {
		switch {
		case op == "append" && k.Base() == "manifest.jsonl":
			manifest++
			if manifest == 1 { // the writer's files wait, and are not recorded yet
				asked.Do(func() { close(waiting) })
				<-drops
			}
		case op == "remove" && !strings.HasPrefix(k.Base(), "scrub."): // the second attempt
			placing.Do(func() {
				close(places)
				time.Sleep(20 * time.Millisecond) // while the other scrub removes the files that it has seen
			})
		}
	}
	second := &gated{Archive: shared}
	second.before = func(op string, k storage.Key) {
		if op == "remove" && strings.HasPrefix(k.Base(), "scrub.") {
			dropping.Do(func() {
				close(drops)
				<-places
			})
		}
	}
	one, two := session(t, first, "s"), session(t, second, "s")
	var wg sync.WaitGroup
	wg.Go(func() {
		if _, err := one.Scrub(context.Background(), record.ScrubOptions{Find: finds(leaked)}); err != nil {
			t.Errorf("the first scrub: %v", err)
		}
	})
	<-waiting
	if _, err := two.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked)}); err != nil {
		t.Errorf("the second scrub: %v", err)
	}
	wg.Wait()
	if now := wholeText(t, shared); strings.Contains(now, leaked) || strings.Contains(now, "scrub.") {
		t.Error("the leaked text still exists, or a file waits")
	}
	proven(t, shared)
}
