package compact

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// faraway is an archive whose appends take a tenth of a second, like in a
// bucket, and fail for one session.
type faraway struct {
	*memory.Archive
	slow bool
}

func (a *faraway) Append(ctx context.Context, k storage.Key, at int64, b storage.Blob) error {
	if a.slow {
		time.Sleep(100 * time.Millisecond)
		if strings.HasPrefix(k.String(), "s7/") {
			return fmt.Errorf("no room for %s", k)
		}
	}
	return a.Archive.Append(ctx, k, at, b)
}

// When a manager is closed, the remaining lines of many sessions are written
// concurrently: one after the other, hundreds would not be finished before the
// process is killed.
func TestCloseWritesWhatManySessionsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &faraway{Archive: memory.New()}
		m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 8_000, Archive: a})
		if err != nil {
			t.Fatal(err)
		}
		const sessions = 64
		for i := range sessions {
			if _, err := m.Preflight(t.Context(), fmt.Sprint("s", i), reads(2)); err != nil {
				t.Fatal(err)
			}
		}
		a.slow = true
		began := time.Now()
		err = m.Close(t.Context())
		if err == nil || strings.Count(err.Error(), "archive failed") != 1 || !strings.Contains(err.Error(), "no room for s7/") {
			t.Errorf("a log that can't be written: %v", err)
		}
		if took := time.Since(began); took < 400*time.Millisecond || took > sessions*100*time.Millisecond/4 {
			t.Errorf("%d sessions took %v", sessions, took)
		}
	})
}
