package record_test

import (
	"errors"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// Fresh reports an erase to a session that was opened before it, even if nothing was
// stored by then, and not to a session that is opened later.
func TestFreshTellsOfAnErase(t *testing.T) {
	a := memory.New()
	early, asked := session(t, a, "s"), session(t, a, "s")
	must(t, asked.Fresh(t.Context()))
	writer := session(t, a, "s")
	step(t, writer, 1)
	between := session(t, a, "s")
	must(t, errors.Join(asked.Fresh(t.Context()), between.Fresh(t.Context())))
	eraseAs(t, a, "s")
	for name, s := range map[string]*record.Session{"before it was stored": early, "before it was stored, and asked then": asked, "before the erase": between, "its writer": writer} {
		if err := s.Fresh(t.Context()); !errors.Is(err, record.ErrErased) {
			t.Errorf("who opened it %s hears %v", name, err)
		}
	}
	time.Sleep(time.Millisecond) // tombstones keep milliseconds
	must(t, session(t, a, "s").Fresh(t.Context()))
}
