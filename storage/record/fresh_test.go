package record_test

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// Fresh reports an erase to a session that was opened before the erase, and not to a
// session that was opened later. This holds even if nothing was stored, and even if
// open and erase happened in one millisecond, the resolution of a tombstone's time.
func TestFreshReportsAnErase(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		time.Sleep(300 * time.Microsecond)
		early, asked := session(t, a, "s"), session(t, a, "s")
		must(t, asked.Fresh(t.Context()))
		writer := session(t, a, "s")
		step(t, writer, 1)
		between := session(t, a, "s")
		must(t, errors.Join(asked.Fresh(t.Context()), between.Fresh(t.Context())))
		time.Sleep(300 * time.Microsecond)
		eraseAs(t, a, "s")
		for name, s := range map[string]*record.Session{"before it was stored": early, "before it was stored, and asked then": asked, "before the erase": between, "by its writer": writer} {
			if err := s.Fresh(t.Context()); !errors.Is(err, record.ErrErased) {
				t.Errorf("a session opened %s reports %v, want ErrErased", name, err)
			}
		}
		time.Sleep(time.Millisecond)
		must(t, session(t, a, "s").Fresh(t.Context()))
	})
}

// Fresh reports an erase that began and ended while the session was being opened.
func TestFreshReportsAnEraseDuringTheOpening(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &slowOpen{Archive: memory.New(), name: "manifest"}
		a.do = func() {
			step(t, session(t, a.Archive, "s"), 1)
			eraseAs(t, a.Archive, "s")
			time.Sleep(5 * time.Millisecond)
		}
		s := session(t, a, "s")
		if err := s.Fresh(t.Context()); !errors.Is(err, record.ErrErased) || a.do != nil {
			t.Errorf("it reports %v, want ErrErased", err)
		}
	})
}
