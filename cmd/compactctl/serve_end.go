package main

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

const (
	silent = 500 * time.Millisecond // time that a shutdown may take without a message
	apart  = time.Second            // minimum time between two separate Ctrl-C: a program may pass on a Ctrl-C that has already reached us
)

// outliveReader lets the server continue after the reader of its log has exited (serve 2>&1
// | tee log): a write to a pipe without a reader would end the process at once, with the
// calls of all agents. stop restores that.
func outliveReader() (stop func()) {
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	return func() { signal.Stop(broken) }
}

// ending starts a goroutine that waits for the end of ctx. If the server has not ended a
// while later, the goroutine prints what the server waits for, and another Ctrl-C ends
// the process at once. The caller calls ended when the server has ended.
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
					fmt.Fprintf(s.err, "stopping: open requests have %v to end, then the archive has the same time; Ctrl-C again stops at once\n", s.drain)
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
