package record_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// oneByOne is an archive in which each change waits until the test releases it.
type oneByOne struct {
	*memory.Archive
	arrived chan struct{} // a change waits, or (closed) no more changes will come
	next    chan struct{}
}

func (g *oneByOne) step() {
	g.arrived <- struct{}{}
	<-g.next
}

func (g *oneByOne) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	g.step()
	return g.Archive.Create(ctx, k, b)
}

func (g *oneByOne) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	g.step()
	return g.Archive.Append(ctx, k, seq, b)
}

func (g *oneByOne) Remove(ctx context.Context, k storage.Key) error {
	g.step()
	return g.Archive.Remove(ctx, k)
}

// paused is a scrub or an erase that makes each change only when the test allows it.
type paused struct {
	g      *oneByOne
	err    error
	more   bool
	passed int
}

func pausedBefore(t *testing.T, a *memory.Archive, do func(*record.Session) error) *paused {
	t.Helper()
	p := &paused{g: &oneByOne{a, make(chan struct{}), make(chan struct{})}}
	s := session(t, p.g, "s")
	go func() {
		defer close(p.g.arrived)
		p.err = do(s)
	}()
	_, p.more = <-p.g.arrived
	return p
}

// advance releases n changes, and returns when the next one waits.
func (p *paused) advance(n int) {
	for ; n > 0 && p.more; n-- {
		p.passed++
		p.g.next <- struct{}{}
		_, p.more = <-p.g.arrived
	}
}

// turns is an archive that calls a function before each operation, one operation at a
// time.
type turns struct {
	*memory.Archive
	mu     sync.Mutex
	before func()
}

func (a *turns) turn() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.before()
}

func (a *turns) Open(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
	a.turn()
	return a.Archive.Open(ctx, k, off, n)
}

func (a *turns) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	a.turn()
	return a.Archive.List(ctx, prefix)
}

// besideAScrub calls the function read while a scrub makes some of its changes at one
// point, and the other changes at a later point or after read has ended. It tries some
// of these combinations, and all with COMPACT_SOAK=1.
func besideAScrub(t *testing.T, read func(t *testing.T, name string, a storage.Archive)) {
	t.Helper()
	scrub := func(lease time.Duration) func(*record.Session) error {
		return func(s *record.Session) error {
			return second(s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: lease}))
		}
	}
	beside(t, map[int]func(*record.Session) error{1: scrub(0), 4: scrub(0), 1 << 30: scrub(time.Millisecond)}, read)
}

// beside calls the function read repeatedly. During each call, the functions in do
// make some of their changes. The other changes follow after a number of operations;
// that number is the key in do.
func beside(t *testing.T, do map[int]func(*record.Session) error, read func(t *testing.T, name string, a storage.Archive)) {
	t.Helper()
	stride, skip := 12, 3
	if os.Getenv("COMPACT_SOAK") != "" {
		stride, skip = 1, 1
	}
	for at, more := 1, true; more; at += skip {
		more = false
		for first := 1 + at/skip%stride; ; first += stride {
			var all int
			for later, do := range do {
				below := memory.New()
				leaky(t, below)
				p := pausedBefore(t, below, do)
				ops := 0
				read(t, fmt.Sprintf("%d changes before operation %d, the others %d later", first, at, later), &turns{Archive: below, before: func() {
					switch ops++; ops {
					case at:
						p.advance(first)
						more = true
					case at + later:
						p.advance(1 << 30)
					}
				}})
				p.advance(1 << 30)
				must(t, p.err)
				all = p.passed
			}
			if first >= all {
				break
			}
		}
	}
}

func TestVerifyAcceptsASessionAtEachStepOfAScrub(t *testing.T) {
	besideAScrub(t, func(t *testing.T, name string, a storage.Archive) {
		if r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{}); err != nil || !r.OK() {
			t.Errorf("%s: %v %v, want no problems and no error", name, r.Problems, err)
		}
	})
}

// A concurrent scrub does not excuse a file that was never stored.
func TestVerifyFindsDamageDuringAScrub(t *testing.T) {
	besideAScrub(t, func(t *testing.T, name string, a storage.Archive) {
		k := mustKey(t, "s/turns-007.idx") // no scrub reads one
		must(t, a.(*turns).Archive.Create(t.Context(), k, storage.Redacted(text("{}"))))
		r, err := record.Verify(t.Context(), a, "s", record.VerifyOptions{})
		if err != nil || len(r.Problems) == 0 || r.Problems[0].File != k.Base() {
			t.Errorf("%s: %v %v, want the added file as the first problem", name, r.Problems, err)
		}
	})
}

// imported returns an archive with the files of an export.
func imported(t *testing.T, export []byte) *memory.Archive {
	t.Helper()
	a := memory.New()
	for name, body := range readExport(t, export) {
		must(t, a.Create(t.Context(), mustKey(t, "s/"+name), storage.Redacted(text("%s", body))))
	}
	return a
}

// An export is whole, or returns an error.
func TestExportIsWholeOrFailsAtEachStepOfAScrub(t *testing.T) {
	told, whole := 0, 0
	besideAScrub(t, func(t *testing.T, name string, a storage.Archive) {
		var out bytes.Buffer
		if err := session(t, a, "s").Export(t.Context(), &out, record.ExportJSONL, record.ExportOptions{}); err != nil {
			if told++; !errors.Is(err, record.ErrScrubbed) {
				t.Errorf("%s: %v, want ErrScrubbed", name, err)
			}
			return
		}
		whole++
		if r, err := record.Verify(t.Context(), imported(t, out.Bytes()), "s", record.VerifyOptions{}); err != nil || !r.OK() {
			t.Errorf("%s: %v %v, want no problems and no error", name, r.Problems, err)
		}
	})
	if told == 0 || whole == 0 {
		t.Errorf("%d exports are whole, %d report that they are not", whole, told)
	}
}

// Files that were copied before the scrub are removed from the copy, and copied again.
func TestCopyIsWholeAtEachStepOfAScrub(t *testing.T) {
	besideAScrub(t, func(t *testing.T, name string, a storage.Archive) {
		copied := memory.New()
		if _, err := record.Copy(t.Context(), copied, a, record.CopyOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if r, err := record.Verify(t.Context(), copied, "s", record.VerifyOptions{}); err != nil || !r.OK() {
			t.Errorf("%s: %v %v, want no problems and no error", name, r.Problems, err)
		}
	})
}

// kept is an archive that removes nothing.
type kept struct{ storage.Archive }

// A copy whose files can't be removed gets no files from after the scrub, and returns
// an error.
func TestCopyStartedAtEachStepOfAScrub(t *testing.T) {
	told := 0
	besideAScrub(t, func(t *testing.T, name string, a storage.Archive) {
		copied := memory.New()
		_, err := record.Copy(t.Context(), kept{copied}, a, record.CopyOptions{})
		if err != nil {
			if told++; !errors.Is(err, storage.ErrExists) || !strings.Contains(err.Error(), "scrubbed during the copy") {
				t.Errorf("%s: %v, want ErrExists and an error with %q", name, err, "scrubbed during the copy")
			}
		}
		r, verr := record.Verify(t.Context(), copied, "s", record.VerifyOptions{})
		if verr != nil && (err == nil || !errors.Is(verr, storage.ErrNotExist)) {
			t.Errorf("%s: %v, want no error, or ErrNotExist after a failed copy", name, verr)
		}
		for _, p := range r.Problems {
			if err == nil || p.Kind != record.Removed {
				t.Errorf("%s: %v, want only removed files after a failed copy", name, p)
			}
		}
	})
	if told == 0 {
		t.Error("no copy is reported")
	}
}

// An older copy loses no file, even if other operations overtake the next copy.
func TestOlderCopyLosesNoFileAtEachStepOfAScrub(t *testing.T) {
	told := 0
	besideAScrub(t, func(t *testing.T, name string, a storage.Archive) {
		copied := memory.New()
		must(t, second(record.Copy(t.Context(), copied, a.(*turns).Archive, record.CopyOptions{})))
		for _, later := range []string{"s/ledger-002.json", "s/summary-002.json"} {
			must(t, copied.Remove(t.Context(), mustKey(t, later)))
		}
		before := map[string]string{}
		for _, name := range names(t, session(t, copied, "s")) {
			before[name] = content(t, session(t, copied, "s"), name)
		}
		if _, err := record.Copy(t.Context(), copied, a, record.CopyOptions{}); err != nil {
			if told++; !errors.Is(err, storage.ErrExists) {
				t.Errorf("%s: %v, want ErrExists", name, err)
			}
		}
		for file, was := range before {
			if now := everythingIn(copied, mustKey(t, "s/"+file)); !strings.HasPrefix(now, was) {
				t.Errorf("%s: %s was %q, and is %q", name, file, was, now)
			}
		}
	})
	if told == 0 {
		t.Error("no copy is reported")
	}
}

// A reader of steps and files never sees a scrub as a change or a loss. It gets
// ErrScrubbed or ErrUnplaced if it could not read a file that it knows.
func TestStepsAtEachStepOfAScrub(t *testing.T) {
	told, whole := 0, 0
	besideAScrub(t, func(t *testing.T, name string, a storage.Archive) {
		s := session(t, a, "s")
		steps, err := 0, error(nil)
		for l, lerr := range s.Ledgers(t.Context(), 1) {
			if err = lerr; l.Changed != nil {
				err = l.Changed
			}
			if err != nil {
				break
			}
			steps++
		}
		for _, file := range []string{"transcript-pre-compact-001.jsonl", "transcript-pre-compact-002.jsonl"} {
			if err == nil {
				err = second(s.LineSums(t.Context(), file))
			}
		}
		switch {
		case err == nil && steps == 2:
			whole++
		case errors.Is(err, record.ErrScrubbed), errors.Is(err, record.ErrUnplaced):
			told++
		default:
			t.Errorf("%s: %d steps, %v", name, steps, err)
		}
	})
	if told == 0 || whole == 0 {
		t.Errorf("%d reads were complete, %d got an error that says to open the session again", whole, told)
	}
}

// A session that was opened during an interrupted scrub sees no change if another process
// completes the scrub in the middle of a read.
func TestReadsWhileAnInterruptedScrubIsCompleted(t *testing.T) {
	told, whole := 0, 0
	for at, dies := 0, true; dies; at++ {
		for op, more := 1, true; more && dies; op++ {
			below := memory.New()
			leaky(t, below)
			s, err := record.OpenSession(t.Context(), &dying{below, at, false}, "s")
			must(t, err)
			dies = second(s.Scrub(t.Context(), record.ScrubOptions{Find: finds(leaked), Lease: time.Millisecond})) != nil
			ops, a := 0, &turns{Archive: below, before: func() {}}
			reader := session(t, a, "s")
			a.before = func() {
				if ops++; ops == op {
					must(t, second(session(t, below, "s").EndScrub(t.Context())))
				}
			}
			err = second(reader.LineSums(t.Context(), "transcript-pre-compact-001.jsonl"))
			more = ops >= op
			switch {
			case err == nil:
				whole++
			case errors.Is(err, record.ErrScrubbed), errors.Is(err, record.ErrUnplaced):
				told++
			default:
				t.Errorf("died at change %d, completed before operation %d: %v", at, op, err)
			}
		}
	}
	if told == 0 || whole == 0 {
		t.Errorf("%d reads were complete, %d got an error that says to open the session again", whole, told)
	}
}

// During an erase, verify, export and copy see either the whole session or no session.
func TestReadersAtEachStepOfAnErase(t *testing.T) {
	erase := func(s *record.Session) error { return second(s.Erase(t.Context(), text("asked for"))) }
	for what, read := range map[string]func(a storage.Archive) (storage.Archive, error){
		"verify": func(a storage.Archive) (storage.Archive, error) { return a, nil },
		"export": func(a storage.Archive) (storage.Archive, error) {
			s, err := record.OpenSession(t.Context(), a, "s")
			must(t, err)
			var out bytes.Buffer
			if err := s.Export(t.Context(), &out, record.ExportJSONL, record.ExportOptions{}); err != nil {
				return nil, err
			}
			return imported(t, out.Bytes()), nil
		},
		"copy": func(a storage.Archive) (storage.Archive, error) {
			copied := memory.New()
			return copied, second(record.Copy(t.Context(), copied, a, record.CopyOptions{}))
		},
	} {
		if what == "copy" && os.Getenv("COMPACT_SOAK") == "" {
			continue // a copy waits for an erase, and an erase here for the copy
		}
		t.Run(what, func(t *testing.T) {
			runs, whole := 0, 0
			beside(t, map[int]func(*record.Session) error{1: erase, 4: erase}, func(t *testing.T, name string, a storage.Archive) {
				runs++
				var r record.Report
				it, err := read(a)
				if err == nil {
					r, err = record.Verify(t.Context(), it, "s", record.VerifyOptions{})
				}
				switch {
				case err == nil && r.OK():
					whole++
				case err == nil || !errors.Is(err, storage.ErrNotExist) && !errors.Is(err, record.ErrErased):
					t.Errorf("%s: %v %v, want ErrNotExist or ErrErased", name, r.Problems, err)
				}
			})
			if whole == 0 || whole == runs {
				t.Errorf("%d of %d times it is whole", whole, runs)
			}
		})
	}
}
