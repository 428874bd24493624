package record

import (
	"errors"
	"testing"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
)

// The clock of the process that erased a session can be ten minutes slow. An agent that
// opened the session before still notices the erase, whether it had stored something or
// not: otherwise it would store the erased text again.
func TestSlowClockHidesNoErase(t *testing.T) {
	ctx, lines := t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"hello"}`)}
	store := func(s *Session) error {
		_, err := s.Transcript(ctx, 1, lines)
		return err
	}
	for name, began := range map[string]bool{"a session with files": true, "a session without files": false} {
		a := memory.New()
		s, err := OpenSession(ctx, a, "s")
		if err == nil && began {
			err = store(s)
		}
		if err != nil {
			t.Fatal(err)
		}
		s.opened = time.Now().Add(-doubtful - time.Second)
		other, err := OpenSession(ctx, a, "s")
		if err == nil && !began {
			err = store(other)
		}
		if err != nil {
			t.Fatal(err)
		}
		known, _ := other.manifest.known()
		stone := Tombstone{At: time.Now().Add(-10 * time.Minute), Session: tombstoneID(s.dir), Head: known.head, Life: known.first, Done: true}
		if err := bury(ctx, s.graves(), stone); err != nil {
			t.Fatal(err)
		}
		for info, err := range a.List(ctx, s.dir) {
			if err = errors.Join(err, a.Remove(ctx, info.Key)); err != nil {
				t.Fatal(err)
			}
		}
		if err := store(s); !errors.Is(err, ErrErased) {
			t.Errorf("%s: %v, want ErrErased", name, err)
		}
		for info := range a.List(ctx, s.dir) {
			t.Errorf("%s: %s is left", name, info.Key)
		}
	}
}

// An erase of an earlier session of the same name does not count, even if the clock of its
// process was ahead.
func TestFastClockErasesNoLaterSession(t *testing.T) {
	ctx := t.Context()
	s, err := OpenSession(ctx, memory.New(), "s")
	if err == nil {
		_, err = s.Transcript(ctx, 1, []redact.Text{redact.Lit(`{}`)})
	}
	if err == nil {
		err = bury(ctx, s.graves(), Tombstone{At: time.Now().Add(10 * time.Minute), Session: tombstoneID(s.dir), Head: hashOf([]byte("x")), Life: hashOf([]byte("y")), Done: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	if err := s.a.(storage.Remover).Remove(ctx, s.manifest.key); err != nil {
		t.Fatal(err)
	}
	if gone, _, err := s.gone(ctx); gone || err != nil {
		t.Errorf("the tombstone of another life counts (%v)", err)
	}
}

// The turn of a live process is not taken because its clock is slow.
func TestSlowClockEndsNoTurn(t *testing.T) {
	for age, want := range map[time.Duration]bool{10 * time.Minute: false, 5 * time.Hour: false, maxSkew + lease + time.Second: true, -10 * time.Minute: false} {
		me := &turn{me: "b", lease: lease}
		if got := me.over(holder{by: "a", at: time.Now().Add(-age), lease: lease}); got != want {
			t.Errorf("a turn that began %v ago by its clock is over: %v", age, got)
		}
	}
}
