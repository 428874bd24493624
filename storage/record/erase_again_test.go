package record_test

import (
	"context"
	"errors"
	"io"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// afterRemoval is an archive that calls a function after a file was removed.
type afterRemoval struct {
	*memory.Archive
	name string
	do   func()
}

func (a *afterRemoval) Remove(ctx context.Context, k storage.Key) error {
	err := a.Archive.Remove(ctx, k)
	if do := a.do; do != nil && k.Base() == a.name {
		a.do = nil
		do()
	}
	return err
}

// After an erase, an agent can begin the session again as soon as the manifest is gone.
// The erase must leave the new session alone.
func TestEraseDoesNotAffectTheNextSession(t *testing.T) {
	t.Parallel()
	a := &afterRemoval{Archive: memory.New(), name: "manifest.jsonl"}
	s := leaky(t, a)
	a.do = func() { step(t, session(t, a.Archive, "s"), 1) }
	must(t, second(s.Erase(t.Context(), text("asked for"))))
	if a.do != nil {
		t.Fatal("no other session began")
	}
	r, err := record.Verify(t.Context(), a.Archive, "s", record.VerifyOptions{})
	if err != nil || !r.OK() || r.Steps != 1 {
		t.Errorf("the session that began next has %d steps, problems %v (%v)", r.Steps, r.Problems, err)
	}
}

// A lost manifest does not count as an erase, even if an earlier session of the same
// name was erased since this one was opened. No file is removed.
func TestALostManifestAfterAnEraseCostsNoFile(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		s := session(t, a, "s")
		time.Sleep(time.Second)
		step(t, session(t, a, "s"), 1)
		must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
		time.Sleep(time.Second)
		must(t, second(s.Transcript(t.Context(), 1, lines("next", 2))))
		time.Sleep(time.Second)
		must(t, a.Remove(t.Context(), mustKey(t, "s/manifest.jsonl")))
		if _, err := s.Transcript(t.Context(), 1, lines("next", 2)); err == nil {
			t.Error("a manifest that is lost is not noticed")
		}
		if left := inFolder(t, a, "s"); len(left) != 1 {
			t.Errorf("there are %q, want the transcript", left)
		}
	})
}

// slowRemoval is an archive whose removals take a while.
type slowRemoval struct {
	*memory.Archive
	each time.Duration
}

func (a *slowRemoval) Remove(ctx context.Context, k storage.Key) error {
	select {
	case <-time.After(a.each):
	case <-ctx.Done():
		return ctx.Err()
	}
	return a.Archive.Remove(ctx, k)
}

// slowBulk is an archive that removes many files with one call, and takes a while for each of
// them.
type slowBulk struct {
	slowRemoval
	gone map[storage.Key]bool
}

func (a *slowBulk) RemoveAll(ctx context.Context, keys []storage.Key) error {
	for _, k := range keys {
		if a.gone[k] {
			continue
		}
		if err := a.Remove(ctx, k); err != nil && !errors.Is(err, storage.ErrNotExist) {
			return err
		}
		a.gone[k] = true
	}
	return nil
}

// TestSlowRemovalIsRepeatedWhileItGoesOn: one call removes more files than the archive can remove
// while one process may. A removal that makes no progress ends.
func TestSlowRemovalIsRepeatedWhileItGoesOn(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &slowBulk{slowRemoval{memory.New(), 4 * time.Second}, map[storage.Key]bool{}}
		s := leaky(t, a)
		for n := range 3 {
			step(t, s, 3+n)
		}
		begun := time.Now()
		must(t, second(s.Erase(t.Context(), text("asked for"))))
		if left := inFolder(t, a, "s"); len(left) > 0 || time.Since(begun) < 20*time.Second {
			t.Errorf("after %s there are %q, want none after more than one turn", time.Since(begun), left)
		}
		a.each, a.gone = time.Hour, nil
		if _, err := leaky(t, a).Erase(t.Context(), text("asked for")); err == nil || !strings.Contains(err.Error(), "took too long") {
			t.Errorf("a removal without progress ends with %v", err)
		}
	})
}

// TestOneProcessErasesASessionAtATime: the second process waits, even longer than a turn,
// and neither process removes a file of the session that begins right after the first has
// finished.
func TestOneProcessErasesASessionAtATime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &slowRemoval{memory.New(), 6 * time.Second}
		leaky(t, a)
		begun := time.Now()
		errs := []chan error{make(chan error, 1), make(chan error, 1)}
		for i, ended := range errs {
			s := session(t, a, "s")
			go func() {
				time.Sleep(time.Duration(i) * time.Second)
				ended <- second(s.Erase(t.Context(), text("asked for")))
			}()
		}
		if err := <-errs[0]; err != nil || time.Since(begun) < 30*time.Second {
			t.Errorf("the first ends after %s with %v", time.Since(begun), err)
		}
		step(t, session(t, a, "s"), 1)
		if err := <-errs[1]; !errors.Is(err, record.ErrErased) {
			t.Errorf("the second ends with %v, want ErrErased", err)
		}
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		if err != nil || !r.OK() || r.Steps != 1 {
			t.Errorf("the session that began next has %d steps, problems %v (%v)", r.Steps, r.Problems, err)
		}
	})
}

// The tombstone of the end of an erase can be much later than the head of its beginning.
func TestTombstoneOfALongEraseMatchesItsHead(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &slowRemoval{memory.New(), 6 * time.Second}
		s := leaky(t, a)
		s.KeepHeads(record.NewHeads(a, nil))
		begun := time.Now()
		stone, err := s.Erase(t.Context(), text("asked for"))
		if must(t, err); stone.At.Sub(begun) < time.Minute {
			t.Fatalf("it took only %s, want at least %s", stone.At.Sub(begun), time.Minute)
		}
		wantWhole(t, a)
	})
}

// An erase that ends between its head and its tombstone is repeated, by a process whose
// clock is not ahead. A tombstone has to fit its head.
func TestTheHeadOfTheLastEraseCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		full := &failing{Archive: a, fail: func(op string, k storage.Key) error {
			if op == "append" && k.Base() == "_erased.jsonl" {
				return errDisk
			}
			return nil
		}}
		leaky(t, a)
		for _, place := range []storage.Archive{full, a} {
			s := session(t, struct {
				storage.Archive
				storage.Remover
			}{place, a}, "s")
			s.KeepHeads(record.NewHeads(a, nil))
			if _, err := s.Erase(t.Context(), text("asked for")); place == a && err != nil || place != a && !errors.Is(err, errDisk) {
				t.Fatal(err)
			}
		}
		wantWhole(t, a)
	})
}

// The heads were read before an interrupted erase was repeated. Its first head never gets a
// tombstone.
func TestARepeatedEraseIsNoLossForAnEarlierReader(t *testing.T) {
	t.Parallel()
	a := memory.New()
	full := &failing{Archive: a, fail: func(op string, k storage.Key) error {
		if op == "append" && k.Base() == "_erased.jsonl" {
			return errDisk
		}
		return nil
	}}
	step(t, session(t, a, "s"), 1)
	erase := func(place storage.Archive) error {
		s := session(t, struct {
			storage.Archive
			storage.Remover
		}{place, a}, "s")
		s.KeepHeads(record.NewHeads(a, nil))
		return second(s.Erase(t.Context(), text("asked for")))
	}
	if err := erase(full); !errors.Is(err, errDisk) {
		t.Fatal(err)
	}
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	must(t, erase(a))
	lost, err := book.Vanished(t.Context(), a)
	must(t, err)
	for _, r := range lost {
		t.Errorf("a session counts as vanished: %s: %v", r.Dir, r.Problems)
	}
}

// TestAnEraseThatFailsIsNotWaitedFor: another process that repeats the erase need not
// wait until the turn of the failed one is over.
func TestAnEraseThatFailsIsNotWaitedFor(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := &between{Archive: memory.New(), dead: true}
		s := leaky(t, a)
		if err := second(s.Erase(t.Context(), text("asked for"))); !errors.Is(err, errDead) {
			t.Fatal(err)
		}
		a.dead = false
		begun := time.Now()
		must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
		if waited := time.Since(begun); waited > 0 {
			t.Errorf("it waited for %s, want none", waited)
		}
	})
}

// TestAnEraseByAnEarlierVersionIsContinuedAtOnce: its line names no process.
func TestAnEraseByAnEarlierVersionIsContinuedAtOnce(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		s := leaky(t, a)
		must(t, s.BeginErase(t.Context()))
		begun := time.Now()
		must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
		if waited := time.Since(begun); waited > time.Millisecond || len(inFolder(t, a, "s")) > 0 {
			t.Errorf("it waited for %s, want at most %s", waited, time.Millisecond)
		}
	})
}

// Three operators erase a session again and again while agents store steps, and begin
// the session again after each erase. An acknowledged step is there, or its session was
// erased after it.
func TestConcurrentErasesKeepNewSessions(t *testing.T) {
	t.Parallel()
	for range 20 {
		a := memory.New()
		leaky(t, a)
		var erasing sync.WaitGroup
		done := make(chan struct{})
		for range 3 {
			erasing.Go(func() {
				for range 5 {
					s, err := record.OpenSession(t.Context(), a, "s")
					if err == nil {
						_, err = s.Erase(t.Context(), text("asked for"))
					}
					if err != nil && !errors.Is(err, record.ErrErased) && !errors.Is(err, storage.ErrNotExist) {
						t.Error(err)
					}
				}
			})
		}
		go func() { erasing.Wait(); close(done) }()
		for ended := false; !ended; {
			select {
			case <-done:
				ended = true
			default:
			}
			s, err := record.OpenSession(t.Context(), a, "s")
			for n := 1; err == nil && n < 4; n++ {
				err = tryStep(t.Context(), s, n)
			}
			if err != nil && !errors.Is(err, record.ErrErased) && !errors.Is(err, storage.ErrExists) && !errors.Is(err, storage.ErrSeq) {
				t.Error(err)
			}
		}
		// The erases have ended, and the last agent began after them.
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		if err != nil || !r.OK() || r.Steps < 3 {
			t.Fatalf("%d steps, problems %v (%v); want at least 3, no problems and no error", r.Steps, r.Problems, err)
		}
	}
}

// lateCreate is an archive in which the creates of one file wait for each other: the
// next session announces its create, and then the create of the erased session is
// carried out.
type lateCreate struct {
	*memory.Archive
	name              string
	announced, landed chan struct{}
	erased            bool // this is the archive of the erased session's process
	begin             func()
}

func (a *lateCreate) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if k.Base() != a.name {
		return a.Archive.Create(ctx, k, b)
	}
	if !a.erased {
		close(a.announced)
		<-a.landed
		return a.Archive.Create(ctx, k, b)
	}
	a.begin()
	<-a.announced
	err := a.Archive.Create(ctx, k, b)
	close(a.landed)
	return err
}

// TestLateFileIsRemovedFromTheNextSession: the late file has a name that the next session
// has announced for another file, which would be reported as changed forever.
func TestLateFileIsRemovedFromTheNextSession(t *testing.T) {
	t.Parallel()
	for _, same := range []bool{false, true} { // whether the next session stores the same
		a, announced, landed := memory.New(), make(chan struct{}), make(chan struct{})
		next := make(chan error, 1)
		late := &lateCreate{Archive: a, name: "transcript-pre-compact-001.jsonl", announced: announced, landed: landed, erased: true, begin: func() {
			must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
			s := session(t, &lateCreate{Archive: a, name: "transcript-pre-compact-001.jsonl", announced: announced, landed: landed}, "s")
			words := text(`{"role":"user","content":"new"}`)
			if same {
				words = text(`{"role":"user","content":"old"}`)
			}
			go func() { next <- second(s.Transcript(context.Background(), 1, []redact.Text{words})) }()
		}}
		s := session(t, late, "s")
		must(t, s.Events(t.Context(), lines("e", 1)))
		must(t, second(s.Originals(t.Context(), 1, []redact.Text{text(`{"a":1}`)})))
		must(t, second(s.Transcript(t.Context(), 1, []redact.Text{text(`{"role":"user","content":"old"}`)})))
		<-next
		if err := s.Checkpoint(t.Context()); !errors.Is(err, record.ErrErased) {
			t.Errorf("the erased session ends with %v, want ErrErased", err)
		}
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		if err != nil || !r.OK() {
			t.Errorf("same %v: the next session has problems %v (%v)", same, r.Problems, err)
		}
	}
}

// TestAStepOfANewSessionReturnsErrErased: the session was opened before anything was
// stored, then saw the steps of others, and these steps were erased. Without the previous
// step, the agent would fail in each call.
func TestAStepOfANewSessionReturnsErrErased(t *testing.T) {
	t.Parallel()
	a := memory.New()
	s := session(t, a, "s")
	step(t, session(t, a, "s"), 1)
	if head, err := s.Head(t.Context()); head != 1 || err != nil {
		t.Fatal(head, err)
	}
	time.Sleep(2 * time.Millisecond) // tombstones have times in milliseconds
	must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
	must(t, second(session(t, a, "s").Transcript(t.Context(), 1, []redact.Text{text(`{"role":"user","content":"new"}`)})))
	if err := second(s.CommitStep(t.Context(), wholeStep(s, 2, nil))); !errors.Is(err, record.ErrErased) {
		t.Errorf("the step ends with %v, want ErrErased", err)
	}
	if r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{}); err != nil || !r.OK() {
		t.Errorf("the next session has problems %v (%v)", r.Problems, err)
	}
}

// The logs of both sessions have the same length. So the offset of the agent's line
// fits the new log, but its hash does not: the log would read as changed.
func TestAnIdleAgentAddsNothingToTheLogOfTheNextSession(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		idle := session(t, a, "s")
		must(t, idle.Events(t.Context(), lines("a", 2)))
		step(t, idle, 1)
		must(t, second(session(t, a, "s").Erase(t.Context(), text("asked for"))))
		next := session(t, a, "s")
		must(t, next.Events(t.Context(), lines("b", 2)))
		step(t, next, 1)
		time.Sleep(time.Minute)
		if err := idle.Events(t.Context(), lines("a", 1)); !errors.Is(err, record.ErrErased) {
			t.Errorf("the line of the idle agent ends with %v, want ErrErased", err)
		}
		must(t, next.Events(t.Context(), lines("b", 1)))
		if r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{}); err != nil || !r.OK() {
			t.Errorf("the next session has problems %v (%v)", r.Problems, err)
		}
	})
}

// The step exists, but in the next session. The files stored for it belong to the
// erased session.
func TestALostRaceLooksForAnErase(t *testing.T) {
	t.Parallel()
	a := &slowCreate{Archive: memory.New()}
	s := session(t, a, "s")
	step(t, s, 1)
	a.do = func() {
		must(t, second(session(t, a.Archive, "s").Erase(t.Context(), text("asked for"))))
		next := session(t, a.Archive, "s")
		must(t, second(next.CommitStep(t.Context(), wholeStep(next, 1, nil))))
	}
	must(t, second(s.Transcript(t.Context(), 2, []redact.Text{text(`{"role":"user","content":"old"}`)})))
	if err := second(s.CommitStep(t.Context(), wholeStep(s, 1, nil))); !errors.Is(err, record.ErrErased) {
		t.Errorf("the step ends with %v, want ErrErased", err)
	}
	if r, err := record.Verify(t.Context(), a.Archive, "s", record.VerifyOptions{}); err != nil || !r.OK() {
		t.Errorf("the next session has problems %v (%v)", r.Problems, err)
	}
}

// stonesHeld is an archive that fails to write the last tombstone of an erase, and later
// calls a function when the tombstones are read.
type stonesHeld struct {
	*memory.Archive
	written int
	read    func()
}

func (a *stonesHeld) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if k.String() == "_erased.jsonl" {
		if a.written++; a.written == 2 {
			return errDisk
		}
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *stonesHeld) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	if read := a.read; read != nil && k.String() == "_erased.jsonl" {
		a.read = nil
		defer read()
	}
	return a.Archive.Open(ctx, k, off, n)
}

// An erase that was interrupted after the last file removes the name of its session. The
// next session of that name, which begins at this moment, keeps it.
func TestRepeatedEraseKeepsTheNameOfTheNextSession(t *testing.T) {
	t.Parallel()
	for _, next := range []bool{false, true} {
		a := &stonesHeld{Archive: memory.New()}
		headed := func() *record.Session {
			s := session(t, a.Archive, "s")
			s.KeepHeads(record.NewHeads(a.Archive, nil))
			return s
		}
		step(t, headed(), 1)
		if err := second(session(t, a, "s").Erase(t.Context(), text("asked for"))); !errors.Is(err, errDisk) {
			t.Fatalf("the erase ends with %v, want errDisk", err)
		}
		if next {
			a.read = func() { step(t, headed(), 1) }
		}
		_ = second(session(t, a, "s").Erase(t.Context(), text("asked for")))
		if a.read != nil {
			t.Fatal("no other session began")
		}
		if names := inFolder(t, a, "_names"); len(names) > 0 != next {
			t.Errorf("another session began: %t; names %q", next, names)
		}
	}
}
