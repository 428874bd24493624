package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"time"
)

const (
	silent = 500 * time.Millisecond // that an end may take with nothing said
	apart  = time.Second            // between two Ctrl-C that are two; programs pass one of a terminal on that has reached us
)

// ending says what a server waits for that ctx has told to stop, unless it has ended
// by then, and lets another Ctrl-C end it at once. What it returns is to be called when it
// has ended.
func (s *serving) ending(ctx context.Context) (ended func()) {
	done := make(chan struct{})
	go func() {
		select {
		case <-ctx.Done():
		case <-done:
			return
		}
		again := make(chan os.Signal, 1)
		said, deaf := time.After(silent), time.After(apart)
		for {
			select {
			case <-said:
				if !s.quiet {
					fmt.Fprintf(s.err, "stopping: requests that are under way have %v, then the archive as long; Ctrl-C again ends it at once\n", s.drain)
				}
			case <-deaf:
				signal.Notify(again, os.Interrupt)
				defer signal.Stop(again)
			case <-again:
				os.Exit(exitInterrupted)
			case <-done:
				return
			}
		}
	}()
	return func() { close(done) }
}
