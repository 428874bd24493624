package compact_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

// noTombstones is an archive whose tombstones can't be read while down is set; with all set,
// nothing can be read.
type noTombstones struct {
	*memory.Archive
	down atomic.Bool
	all  bool
}

var errStoneless = errors.New("connection reset by peer")

func (a *noTombstones) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if a.down.Load() && (a.all || prefix.String() == "_erased.jsonl") {
		return func(yield func(storage.Info, error) bool) {
			yield(storage.Info{}, &storage.Error{Op: "list", Key: prefix, Err: errStoneless})
		}
	}
	return a.Archive.List(ctx, prefix)
}

func livesIn(t *testing.T, a storage.Archive) string {
	t.Helper()
	lives, err := compact.Lives(t.Context(), a, "s")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Join(lives, " ")
}

// A process that temporarily can't read an archive's tombstones does not continue an erased
// session in a folder of its own, and stores no data of the session if the archive refuses
// that folder.
func TestUnreadableTombstonesDoNotReviveASession(t *testing.T) {
	for _, policy := range []string{"new", "refuse"} {
		for _, onError := range []string{"fail", "continue"} {
			for _, all := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, %s, all %t", policy, onError, all), func(t *testing.T) {
					synctest.Test(t, func(t *testing.T) { testUnreadableTombstones(t, policy, onError, all) })
				})
			}
		}
	}
}

func testUnreadableTombstones(t *testing.T, policy, onError string, all bool) {
	a := &noTombstones{Archive: memory.New(), all: all}
	config := compact.Config{Archive: a}
	config.Storage.Erased, config.Storage.OnError = policy, onError
	history := loop(12, 200)
	other := newRig(t, config)
	if _, err := other.ManualCompact(t.Context(), "s", history, "test"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	erase(t, a, "s")
	time.Sleep(time.Minute) // the session was erased before this process opens it
	r := newRig(t, config)
	a.down.Store(true)
	_, err := r.ManualCompact(t.Context(), "s", history, "test")
	if onError == "continue" && err != nil || onError == "fail" && !errors.Is(err, errStoneless) {
		t.Errorf("while the state is unknown: %v", err)
	}
	a.down.Store(false)
	for i := range 4 { // with continue, the archive is checked during the calls
		time.Sleep(time.Minute)
		history = append(history, round(40+i, 200)...)
		_, err = r.ManualCompact(t.Context(), "s", history, "test")
	}
	if refused := errors.Is(err, record.ErrErased); refused != (policy == "refuse" && onError == "fail") || err != nil && !refused {
		t.Errorf("after the tombstones can be read again: %v", err)
	}
	if err := r.Flush(t.Context()); err != nil {
		t.Error(err)
	}
	if goesOn := livesIn(t, a); strings.HasPrefix(goesOn, "s.after-") != (policy == "new") || policy == "refuse" && goesOn != "" {
		t.Errorf("the session continues in %q", goesOn)
	}
}

// An agent with a spool continues with a new session while its bucket is unreachable.
func TestSpoolContinuesWithoutTombstones(t *testing.T) {
	a := &noTombstones{Archive: memory.New(), all: true}
	a.down.Store(true)
	here, err := spool.Open(t.TempDir(), a, &spool.Options{Passive: true, Blind: true})
	if err != nil {
		t.Fatal(err)
	}
	r := newRig(t, compact.Config{Archive: here})
	if res, err := r.ManualCompact(t.Context(), "s", loop(12, 200), "test"); err != nil || res.Step != 1 {
		t.Errorf("step %d, %v; want 1 and no error", res.Step, err)
	}
}

// A process that can only write continues after others erased sessions, although it can never
// read the tombstones.
func TestProcessWithoutAnIdentityContinuesWithTombstones(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		writer, reader := ageKeys(t)
		inner := memory.New()
		other := newRig(t, compact.Config{Archive: crypt.New(inner, reader)})
		if _, err := other.ManualCompact(t.Context(), "another", loop(12, 200), "test"); err != nil {
			t.Fatal(err)
		}
		if err := other.Close(t.Context()); err != nil {
			t.Fatal(err)
		}
		r := newRig(t, compact.Config{Archive: crypt.New(inner, writer())})
		if _, err := r.Preflight(t.Context(), "quiet", loop(1, 200)); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * time.Minute) // the audit log of quiet is stored, and quiet has no manifest
		erase(t, crypt.New(inner, reader), "another")
		if res, err := r.ManualCompact(t.Context(), "s", loop(12, 200), "test"); err != nil || res.Step != 1 {
			t.Errorf("step %d, %v; want 1 and no error", res.Step, err)
		}
		if err := r.Close(t.Context()); err != nil {
			t.Error(err)
		}
		report, err := record.Verify(t.Context(), crypt.New(inner, reader), "quiet", record.VerifyOptions{})
		if err != nil || !report.OK() || report.Head == "" {
			t.Errorf("%v, %+v, want no error, no problems and a head", err, report)
		}
	})
}
