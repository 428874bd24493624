package summarize_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/strategy"
)

// stallingSummarizer is a summarizer that never answers its first calls.
type stallingSummarizer struct {
	calls, stalls atomic.Int64
}

func (s *stallingSummarizer) Summarize(ctx context.Context, _ strategy.Request) (strategy.Draft, error) {
	if s.calls.Add(1) <= s.stalls.Load() {
		<-ctx.Done()
		return strategy.Draft{}, ctx.Err()
	}
	return strategy.Draft{Text: "## Goals and success criteria\n- move the orders table to the new schema [s1]"}, nil
}

// Each attempt gets a share of the time, so that stalled calls leave time for another
// attempt.
func TestStalledCallsLeaveTimeForTheLastAttempt(t *testing.T) {
	for _, stalls := range []int64{0, 1, 2, 3} {
		synctest.Test(t, func(t *testing.T) {
			s := &stallingSummarizer{}
			s.stalls.Store(stalls)
			began := time.Now()
			w := summarize.Writer{Summarizer: s, Timeout: time.Minute, Retries: 2}
			_, err := w.Write(t.Context(), summarize.Input{Messages: long(3000, 0.5), Count: count4})
			took := time.Since(began)
			if stalls < 3 && err != nil || stalls == 3 && !errors.Is(err, strategy.ErrTransient) && !errors.Is(err, summarize.ErrDeadline) {
				t.Errorf("%d stalled calls: %v", stalls, err)
			}
			if share := time.Minute / 3; took > time.Minute || took < time.Duration(min(stalls, 2))*share {
				t.Errorf("%d stalled calls took %s", stalls, took)
			}
		})
	}
}
