package trace

import (
	"testing"
	"testing/synctest"
	"time"
)

// Events that were dropped while they lingered are not exported: wait returns only when
// there are events, or false when the queue is closed.
func TestDroppedEventsDoNotEndTheWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		q := newQueue(8, 1<<20, 4)
		q.push([]Event{{Name: "compact.decision"}})
		ended := make(chan bool, 1)
		go func() { ended <- q.wait(t.Context(), time.Second) }()
		synctest.Wait() // the event lingers
		if n := q.abandon(); n != 1 {
			t.Fatalf("%d events were dropped, want 1", n)
		}
		time.Sleep(2 * time.Second)
		synctest.Wait()
		select {
		case <-ended:
			t.Fatal("the wait ended without an event")
		default:
		}
		q.close()
		if <-ended {
			t.Error("wait returned true for a closed, empty queue")
		}
	})
}
