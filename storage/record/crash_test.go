package record_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// mortal is an archive whose process dies at a certain write. The test decides which
// part of that write is stored.
type mortal struct {
	storage.Archive
	before func(call int) // called before each write, counted from 1
	dies   int            // the write at which it dies; 0 is never
	part   func(n int64) int64

	mu    sync.Mutex // the files of a step are stored concurrently
	calls int
	log   []string
}

var errDead = errors.New("the process is dead")

func (a *mortal) next(op string, k storage.Key) (dying bool, err error) {
	a.mu.Lock()
	if a.dies > 0 && a.calls >= a.dies {
		a.mu.Unlock()
		return false, errDead
	}
	a.calls++
	call := a.calls
	a.log = append(a.log, op+" "+k.Base())
	a.mu.Unlock()
	if a.before != nil {
		a.before(call)
	}
	return call == a.dies, nil
}

func (a *mortal) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	dying, err := a.next("create", k)
	if err != nil {
		return err
	}
	if dying && a.part(b.Size()) < b.Size() {
		return errDead // a file is whole or not there
	}
	err = a.Archive.Create(ctx, k, b)
	if dying {
		return errDead
	}
	return err
}

func (a *mortal) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	dying, err := a.next("append", k)
	if err != nil {
		return err
	}
	if !dying {
		return a.Archive.Append(ctx, k, seq, b)
	}
	data, err := io.ReadAll(io.LimitReader(b.Reader(), a.part(b.Size())))
	if err != nil {
		return err
	}
	return errors.Join(errDead, a.Archive.Append(ctx, k, seq, storage.Redacted(text("%s", data))))
}

// survives checks that acknowledged data is there after a death, and that the next
// process can continue.
func survives(t *testing.T, a storage.Archive, acked int) {
	t.Helper()
	wantOK(t, a, "s")
	s := session(t, a, "s")
	head, err := s.Head(t.Context())
	must(t, err)
	if head < acked {
		t.Errorf("step %d was acknowledged, but the last step in the archive is %d", acked, head)
	}
	step(t, s, head+1)
	wantOK(t, a, "s")
}

func TestDeathAtEveryWriteLosesNothingAcknowledged(t *testing.T) {
	parts := map[string]func(n int64) int64{
		"nothing":  func(int64) int64 { return 0 },
		"a byte":   func(n int64) int64 { return min(n, 1) },
		"half":     func(n int64) int64 { return n / 2 },
		"all but":  func(n int64) int64 { return max(n-1, 0) },
		"all of":   func(n int64) int64 { return n },
		"one line": func(n int64) int64 { return min(n, 173) },
	}
	for name, part := range parts {
		deaths := 0
		for dies := 1; ; dies++ {
			below := memory.New()
			a := &mortal{Archive: below, dies: dies, part: part}
			acked := 0
			s, err := record.OpenSession(t.Context(), a, "s")
			for n := 1; err == nil && n <= 3; n++ {
				if err = tryStep(t.Context(), s, n); err == nil {
					acked = n
				}
			}
			if err == nil {
				_, err = s.Final(t.Context(), lines("f", 2))
			}
			if err == nil && a.calls < dies {
				break
			}
			deaths++
			if !exists(t, below) {
				continue // the process died before it wrote anything
			}
			t.Run(fmt.Sprintf("%s the write %d (%s)", name, dies, a.log[len(a.log)-1]), func(t *testing.T) { survives(t, below, acked) })
		}
		if deaths < 15 {
			t.Errorf("only %d writes were tried, want at least 15", deaths)
		}
	}
}

func exists(t *testing.T, a storage.Archive) bool {
	t.Helper()
	for _, err := range a.List(t.Context(), storage.Key{}) {
		must(t, err)
		return true
	}
	return false
}

// TestAnotherProcessAtEveryWrite: another process makes a whole step before one write
// of the first process. The test does this for each write, and then before all writes.
func TestAnotherProcessAtEveryWrite(t *testing.T) {
	for at := 0; at <= 30; at++ {
		below := memory.New()
		other := session(t, below, "s")
		acked := 0
		take := func() {
			head, err := other.Head(t.Context())
			must(t, err)
			step(t, other, head+1)
			acked++
		}
		a := &mortal{Archive: below}
		inside := false
		a.before = func(call int) {
			if (call == at || at == 0 && acked < 20) && !inside {
				inside = true
				take()
				inside = false
			}
		}
		s := session(t, a, "s")
		for tries := 0; acked < 23 && tries < 40; tries++ {
			head, err := s.Head(t.Context())
			must(t, err)
			err = tryStep(t.Context(), s, head+1)
			if err == nil {
				acked++
			} else if !errors.Is(err, storage.ErrExists) {
				t.Fatalf("at %d: %v, want ErrExists", at, err)
			}
			if at > 0 && a.calls >= at && err == nil {
				break
			}
		}
		r := wantOK(t, below, "s")
		if r.Steps != acked {
			t.Errorf("at %d: %d steps were acknowledged, %d are in the archive", at, acked, r.Steps)
		}
		if t.Failed() {
			t.FailNow()
		}
	}
}

func TestLedgerIsTheLastFileOfItsStepAndNothingIsUnannounced(t *testing.T) {
	a := &mortal{Archive: memory.New()}
	s := session(t, a, "s")
	step(t, s, 1)
	want := []string{
		"append manifest.jsonl", "create transcript-pre-compact-001.jsonl",
		"append manifest.jsonl", "create summary-001.json",
		"append events.jsonl",
		"append manifest.jsonl", "create ledger-001.json",
		"append manifest.jsonl",
	}
	if diff := cmp.Diff(want, a.log); diff != "" {
		t.Errorf("writes (-want +got):\n%s", diff)
	}
}

// forgetful is an archive that acknowledges some writes without storing them.
type forgetful struct {
	storage.Archive
	forgets func(op string, k storage.Key, n int) bool

	mu sync.Mutex
	n  int
}

func (a *forgetful) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if a.forgot("create", k) {
		return nil
	}
	return a.Archive.Create(ctx, k, b)
}

func (a *forgetful) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	if a.forgot("append", k) {
		return nil
	}
	return a.Archive.Append(ctx, k, seq, b)
}

func (a *forgetful) forgot(op string, k storage.Key) bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.n++
	return a.forgets(op, k, a.n)
}

// TestEachMissingWriteIsDetected: Verify finds every write that a faulty archive or
// session can lose, such as a transcript or a line of the manifest.
func TestEachMissingWriteIsDetected(t *testing.T) {
	for forgotten := 1; ; forgotten++ {
		what := ""
		a := &forgetful{Archive: memory.New(), forgets: func(op string, k storage.Key, n int) bool {
			if n == forgotten {
				what = op + " " + k.Base()
			}
			return n == forgotten
		}}
		s := session(t, a, "s")
		var err error
		for n := 1; n <= 2 && err == nil; n++ {
			err = tryStep(t.Context(), s, n)
		}
		if err == nil {
			err = s.Checkpoint(t.Context())
		}
		if err != nil {
			continue // the writer of the next step has seen it
		}
		if what == "" { // there is no such write
			if forgotten < 12 {
				t.Errorf("two steps write %d times", forgotten-1)
			}
			return
		}
		r := verify(t, a, "s", record.VerifyOptions{Head: s.ManifestHead()})
		if r.OK() {
			t.Errorf("write %d (%s) is missing, and the test does not detect it", forgotten, what)
		}
	}
}

func TestLongLineIsDamageAndNotTheEndOfMemory(t *testing.T) {
	a := memory.New()
	k := mustKey(t, "s/events.jsonl")
	piece := text("%s", strings.Repeat("x", 1<<20))
	must(t, a.Create(t.Context(), k, storage.Redacted(slices.Repeat([]redact.Text{piece}, 65)...)))
	if err := session(t, a, "s").Events(t.Context(), []redact.Text{text(`{}`)}); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
	for line, err := range session(t, a, "s").EventLines(t.Context()) {
		if !errors.Is(err, storage.ErrDamaged) {
			t.Errorf("%d bytes, %v, want ErrDamaged", len(line), err)
		}
	}
	if r := verify(t, a, "s", record.VerifyOptions{}); r.OK() || r.Problems[0].Kind != record.Unreadable {
		t.Errorf("verify: %v", r.Problems)
	}
}

func TestLogThatBecameShorterIsDamage(t *testing.T) {
	a := memory.New()
	s, k := session(t, a, "s"), mustKey(t, "s/events.jsonl")
	must(t, s.Events(t.Context(), lines("e", 2)))
	whole := content(t, s, "events.jsonl")
	must(t, a.Remove(t.Context(), k))
	must(t, a.Create(t.Context(), k, storage.Redacted(text("%s", whole[:len(whole)-1]))))
	if err := s.Events(t.Context(), lines("e", 1)); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("got %v, want ErrDamaged", err)
	}
	if got := content(t, s, "events.jsonl"); got != whole[:len(whole)-1] {
		t.Errorf("it was written to all the same: %q", got)
	}
}
