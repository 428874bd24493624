package record

import (
	"fmt"
	"runtime"
	"sync/atomic"
	"testing"
)

// If a call panics or ends its goroutine, spread panics in the caller's goroutine after the other
// calls have ended. The caller can recover from this panic.
func TestSpreadPanicsOnTheCallersGoroutine(t *testing.T) {
	for name, fault := range map[string]func(){"<nil>": func() {}, "no disk": func() { panic("no disk") }, errEnded.Error(): runtime.Goexit} {
		var running, most, ended atomic.Int64
		got := func() (p any) {
			defer func() { p = recover() }()
			spread(9, 3, func(i int) {
				most.Store(max(most.Load(), running.Add(1)))
				defer ended.Add(1)
				defer running.Add(-1)
				if i == 4 {
					fault()
				}
			})()
			return nil
		}()
		if fmt.Sprint(got) != name || ended.Load() != 9 || most.Load() > 3 {
			t.Errorf("recovered %v, want %s; %d of 9 calls ended, at most %d at once", got, name, ended.Load(), most.Load())
		}
	}
}
