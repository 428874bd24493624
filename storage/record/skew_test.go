package record

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
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

// The turn of a live process is not taken because a clock is wrong: its own, or that of the
// process that waits.
func TestWrongClockEndsNoTurn(t *testing.T) {
	for _, age := range []time.Duration{10 * time.Minute, 25 * time.Hour, 365 * 24 * time.Hour, -10 * time.Minute, -365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			me, other := &turn{me: "b", lease: lease}, holder{by: "a", at: time.Now().Add(-age), lease: lease}
			if me.over(other) {
				t.Errorf("a turn that began %v ago by its clock is over at once", age)
			}
			time.Sleep(lease)
			if !me.over(other) {
				t.Errorf("a turn that began %v ago by its clock is not over after its lease", age)
			}
		})
	}
}

// A process whose clock is wrong announced a file a moment ago. A scrub waits for the file,
// and finds the secret in it.
func TestScrubWaitsForAFileOfAWrongClock(t *testing.T) {
	for _, age := range []time.Duration{10 * time.Minute, 20 * time.Hour, 365 * 24 * time.Hour, -365 * 24 * time.Hour} {
		synctest.Test(t, func(t *testing.T) {
			agent, key, blob := announced(t, age)
			done := make(chan error, 1)
			go func() { done <- scrubLeak(t, agent.a) }()
			time.Sleep(5 * time.Second)
			if err := agent.createFile(t.Context(), key, blob); err != nil {
				t.Fatal(err)
			}
			if err := <-done; err != nil {
				t.Errorf("announced %v ago: %v", age, err)
			}
			if data, err := readWhole(t.Context(), agent.a, key); err != nil || strings.Contains(string(data), leak) {
				t.Errorf("announced %v ago: the file is %q, %v", age, data, err)
			}
		})
	}
}

// An announced file that nobody creates delays a scrub by a minute, whatever the clock of
// its process was, and not at all if the session was used for days since.
func TestAbandonedFileDelaysAScrubByAMinute(t *testing.T) {
	for _, age := range []time.Duration{0, 10 * time.Minute, 365 * 24 * time.Hour, -365 * 24 * time.Hour} {
		for _, used := range []bool{false, true} {
			synctest.Test(t, func(t *testing.T) {
				agent, _, _ := announced(t, age)
				began := time.Now()
				if used {
					if err := agent.record(t.Context(), record{Op: opRelease, At: began.Add(-age + maxSkew + time.Hour)}); err != nil {
						t.Fatal(err)
					}
				}
				if err := scrubLeak(t, agent.a); err != nil {
					t.Errorf("announced %v ago, used since %v: %v", age, used, err)
				}
				if took := time.Since(began); took > 2*commonly || (took < time.Second) != used {
					t.Errorf("announced %v ago, used since %v: the scrub takes %v", age, used, took)
				}
			})
		}
	}
}

// A scrub does not wait longer than its context, and then nothing is rewritten.
func TestScrubWaitsNoLongerThanItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		agent, _, _ := announced(t, 0)
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		s, err := OpenSession(ctx, agent.a, "s")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Scrub(ctx, ScrubOptions{Find: findLeak}); !errors.Is(err, ErrInUse) || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v, want ErrInUse and DeadlineExceeded", err)
		}
	})
}

// A clock that is set back during an erase, or the clock of another process that completes
// the erase, makes no tombstone that contradicts the heads.
func TestClockThatIsSetBackInAnEraseIsNoTampering(t *testing.T) {
	for _, completes := range []bool{false, true} {
		ctx, a := t.Context(), memory.New()
		s, err := OpenSession(ctx, a, "s")
		if err != nil {
			t.Fatal(err)
		}
		s.KeepHeads(NewHeads(a, nil))
		if _, err := s.Final(ctx, []redact.Text{redact.Lit(`{}`)}); err != nil {
			t.Fatal(err)
		}
		e, err := s.condemn(ctx, time.Time{})
		if err != nil {
			t.Fatal(err)
		}
		stone := s.stone("asked for", "alice")
		stone.At = time.Now().Add(10 * time.Minute) // the clock is set back by 10 minutes now
		if !completes {
			_, err = e.erase(ctx, stone)
		} else if err = e.removeAs(ctx, stone, s.graves()); err == nil {
			var other *Session
			if other, err = OpenSession(ctx, a, "s"); err == nil {
				_, err = other.Erase(ctx, redact.Text{})
			}
		}
		if err != nil {
			t.Fatal(err)
		}
		b, err := ReadHeads(ctx, a, HeadsOptions{})
		if err != nil {
			t.Fatal(err)
		}
		gone, err := b.Vanished(ctx, a)
		if err != nil || len(gone) > 0 {
			t.Errorf("another process completes it %v: %+v, %v", completes, gone, err)
		}
		if last, ok, err := Erased(ctx, a, "s"); err != nil || !ok || !last.Done {
			t.Errorf("another process completes it %v: %+v, %v", completes, last, err)
		}
	}
}

const leak = "correct horse"

func findLeak(_ string, line []byte) [][2]int {
	if at := bytes.Index(line, []byte(leak)); at >= 0 {
		return [][2]int{{at, at + len(leak)}}
	}
	return nil
}

func scrubLeak(t *testing.T, a storage.Archive) error {
	s, err := OpenSession(t.Context(), a, "s")
	if err == nil {
		_, err = s.Scrub(t.Context(), ScrubOptions{Find: findLeak})
	}
	return err
}

// announced returns a session with a transcript with a secret, and an announced file with
// the secret that does not exist yet. By the clock of its process it was announced an age
// ago.
func announced(t *testing.T, age time.Duration) (*Session, storage.Key, storage.Blob) {
	t.Helper()
	s, err := OpenSession(t.Context(), memory.New(), "s")
	if err == nil {
		_, err = s.Final(t.Context(), []redact.Text{redact.Lit(`{"role":"user","content":"correct horse"}`)})
	}
	if err != nil {
		t.Fatal(err)
	}
	blob := blobOf(`{"role":"user","content":"correct horse again"}` + "\n")
	r := put(fileHash{transcriptKind.file(1, 1), blob.Size(), blob.SHA256()})
	r.At = time.Now().Add(-age)
	key := child(s.dir, r.Name)
	if err := s.claim(t.Context(), key, r); err != nil {
		t.Fatal(err)
	}
	return s, key, blob
}
