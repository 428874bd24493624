package record

import (
	"errors"
	"sync"
)

// errEnded is the panic value for a call of an archive that ended its goroutine.
var errEnded = errors.New("storage: the archive ended the goroutine that called it")

// spread calls f with each number below n, each in its own goroutine, and runs at most
// atOnce calls at the same time. The function that it returns waits for all calls. If one
// of them panicked, that function panics in the caller's goroutine, where the caller can
// recover, because an archive that fails must not end the program. A call that ended its
// goroutine ([runtime.Goexit]) has not done its work, so it counts as a panic.
func spread(n, atOnce int, f func(i int)) (wait func()) {
	panics := make([]any, n)
	turn := make(chan struct{}, max(atOnce, 1))
	var all sync.WaitGroup
	for i := range n {
		turn <- struct{}{}
		all.Go(func() {
			panics[i] = errEnded
			defer func() {
				if p := recover(); p != nil {
					panics[i] = p
				}
				<-turn
			}()
			f(i)
			panics[i] = nil
		})
	}
	return func() {
		all.Wait()
		for _, p := range panics {
			if p != nil {
				panic(p)
			}
		}
	}
}
