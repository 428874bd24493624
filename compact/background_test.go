package compact

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A wait for tasks covers all running tasks, and no task that begins later, because
// a busy manager always runs one.
func TestWaitIsForTasksThatRunAlready(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var all tasks
		first, second := all.begin(), all.begin()
		hurried, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := all.wait(hurried); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a deadline: %v, want DeadlineExceeded", err)
		}
		waited := make(chan error, 1)
		go func() { waited <- all.wait(t.Context()) }()
		synctest.Wait()
		later := all.begin()
		first()
		synctest.Wait()
		if len(waited) > 0 {
			t.Fatal("the call did not wait for the second task")
		}
		second()
		synctest.Wait()
		if len(waited) == 0 {
			t.Error("the call waits for a task that began later")
		}
		later()
		if err := errors.Join(<-waited, all.wait(t.Context())); err != nil {
			t.Error(err)
		}
	})
}
