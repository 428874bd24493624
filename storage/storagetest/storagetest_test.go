package storagetest_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/storagetest"
)

// faults breaks one promise each. The suite must name it.
var faults = []struct {
	promise string // the case that must fail
	plant   func(a *broken)
}{
	{"CreateKeepsEveryByte", func(a *broken) {
		a.create = func(ctx context.Context, k storage.Key, b storage.Blob) error {
			return a.Archive.Create(ctx, k, storage.Redacted(text(strings.TrimSuffix(content(b), "\n"))))
		}
	}},
	{"CreateRefusesWhatExists", func(a *broken) {
		a.create = func(_ context.Context, k storage.Key, b storage.Blob) error { return a.write(k, content(b)) }
	}},
	{"CreateRefusesWhatExists", func(a *broken) { // as some servers do where the content is the same
		a.create = func(ctx context.Context, k storage.Key, b storage.Blob) error {
			if a.read(k) == content(b) && b.Size() > 0 {
				return nil
			}
			return a.Archive.Create(ctx, k, b)
		}
	}},
	{"CreateHasOneWinner", func(a *broken) { // checks first and then writes
		var looked sync.WaitGroup
		looked.Add(2)
		var first atomic.Int32
		a.create = func(ctx context.Context, k storage.Key, b storage.Blob) error {
			if k.Base() != "race-0" || a.read(k) != "" {
				return a.Archive.Create(ctx, k, b)
			}
			if first.Add(1) <= 2 { // two have checked before one writes
				looked.Done()
				looked.Wait()
			}
			return a.write(k, content(b))
		}
	}},
	{"CreateIsSeenWhole", func(a *broken) { // writes in place
		a.create = func(ctx context.Context, k storage.Key, b storage.Blob) error {
			data := content(b)
			half := text(data[:len(data)/2])
			if err := a.Archive.Create(ctx, k, storage.Redacted(half)); err != nil {
				return err
			}
			for range 100 { // long enough to be noticed
				a.read(k)
			}
			return a.Archive.Append(ctx, k, int64(half.Len()), storage.Redacted(text(data[len(data)/2:])))
		}
	}},
	{"CreateFailsWhole", func(a *broken) {
		a.create = func(ctx context.Context, k storage.Key, b storage.Blob) error {
			if err := ctx.Err(); err != nil && strings.HasPrefix(k.Base(), "cut-") {
				_ = a.write(k, "half")
			}
			return a.Archive.Create(ctx, k, b)
		}
	}},
	{"CreateMakesFolders", func(a *broken) {
		a.create = func(ctx context.Context, k storage.Key, b storage.Blob) error {
			if strings.Count(k.String(), "/") > 1 {
				return &storage.Error{Op: "create", Key: k, Err: storage.ErrNotExist}
			}
			return a.Archive.Create(ctx, k, b)
		}
	}},
	{"AppendAddsToTheEnd", func(a *broken) {
		a.append = func(_ context.Context, k storage.Key, seq int64, b storage.Blob) error {
			if int64(len(a.read(k))) != seq {
				return &storage.Error{Op: "append", Key: k, Err: storage.ErrSeq}
			}
			return a.write(k, content(b)+a.read(k))
		}
	}},
	{"AppendChecksTheLength", func(a *broken) {
		a.append = func(_ context.Context, k storage.Key, _ int64, b storage.Blob) error {
			return a.write(k, a.read(k)+content(b))
		}
	}},
	{"AppendChecksTheLength", func(a *broken) { // creates the file before it checks
		a.append = func(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
			_ = a.Archive.Append(ctx, k, 0, storage.Blob{})
			return a.Archive.Append(ctx, k, seq, b)
		}
	}},
	{"AppendHasOneWinner", func(a *broken) { // the loser gets a success
		a.append = func(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
			err := a.Archive.Append(ctx, k, seq, b)
			if errors.Is(err, storage.ErrSeq) && k.Base() == "manifest.jsonl" {
				return nil
			}
			return err
		}
	}},
	{"AppendLosesNothing", func(a *broken) {
		n := 0
		a.append = func(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
			if n++; n%20 == 0 && int64(len(a.read(k))) == seq {
				return nil
			}
			return a.Archive.Append(ctx, k, seq, b)
		}
	}},
	{"OpenReadsARange", func(a *broken) {
		a.open = func(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
			if n > 1 {
				n--
			}
			return a.Archive.Open(ctx, k, off, n)
		}
	}},
	{"OpenWantsSomething", func(a *broken) {
		a.open = func(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
			r, err := a.Archive.Open(ctx, k, off, n)
			if errors.Is(err, storage.ErrNotExist) {
				return io.NopCloser(strings.NewReader("")), nil
			}
			return r, err
		}
	}},
	{"OpenBehindTheEnd", func(a *broken) {
		a.open = func(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
			if off > 0 && off >= int64(len(a.read(k))) {
				return nil, &storage.Error{Op: "open", Key: k, Err: io.EOF}
			}
			return a.Archive.Open(ctx, k, off, n)
		}
	}},
	{"OpenBehindTheEnd", func(a *broken) {
		a.open = func(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
			return a.Archive.Open(ctx, k, max(off, 0), n)
		}
	}},
	{"OpenWhileAppending", func(a *broken) { // reads lazily, and from the end
		a.open = func(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
			r, err := a.Archive.Open(ctx, k, off, n)
			if err != nil || k.Base() != "events.jsonl" {
				return r, err
			}
			return io.NopCloser(readerFunc(func(p []byte) (int, error) { return copy(p, "!"), io.EOF })), r.Close()
		}
	}},
	{"ListYieldsBelowPrefix", func(a *broken) { // compares the texts of keys, as a bucket does
		a.list = func(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
			return func(yield func(storage.Info, error) bool) {
				for info, err := range a.Archive.List(ctx, storage.Key{}) {
					if strings.HasPrefix(info.Key.String(), prefix.String()) && !yield(info, err) {
						return
					}
				}
			}
		}
	}},
	{"ListYieldsBelowPrefix", func(a *broken) { // no order
		a.list = func(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
			return func(yield func(storage.Info, error) bool) {
				var all []storage.Info
				for info, err := range a.Archive.List(ctx, prefix) {
					if err != nil {
						yield(info, err)
						return
					}
					all = append(all, info)
				}
				for _, info := range slices.Backward(all) {
					if !yield(info, nil) {
						return
					}
				}
			}
		}
	}},
	{"ListOfNothing", func(a *broken) {
		a.list = func(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
			return func(yield func(storage.Info, error) bool) {
				n := 0
				for info, err := range a.Archive.List(ctx, prefix) {
					if n++; !yield(info, err) {
						return
					}
				}
				if n == 0 {
					yield(storage.Info{}, &storage.Error{Op: "list", Key: prefix, Err: storage.ErrNotExist})
				}
			}
		}
	}},
	{"ListTellsSizes", func(a *broken) {
		a.list = func(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
			return func(yield func(storage.Info, error) bool) {
				for info, err := range a.Archive.List(ctx, prefix) {
					info.Size = min(info.Size, 1000)
					if !yield(info, err) {
						return
					}
				}
			}
		}
	}},
	{"ListTellsWhen", func(a *broken) { a.list = a.changed(func(i *storage.Info) { i.Modified = time.Unix(0, 0) }) }},
	{"ListTellsWhen", func(a *broken) { // counts down
		n := time.Duration(0)
		a.list = a.changed(func(i *storage.Info) { n++; i.Modified = i.Modified.Add(-n * time.Second) })
	}},
	{"ListYieldsThemAll", func(a *broken) { // the first page
		a.list = func(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
			return func(yield func(storage.Info, error) bool) {
				n := 0
				for info, err := range a.Archive.List(ctx, prefix) {
					if n++; n > 1000 || !yield(info, err) {
						return
					}
				}
			}
		}
	}},
	{"CreateKeepsEveryByte", func(a *broken) {
		a.create = func(context.Context, storage.Key, storage.Blob) error { panic("no disk") }
	}},
	{"ErrorsAreTyped", func(a *broken) {
		a.create = func(ctx context.Context, k storage.Key, b storage.Blob) error {
			err := a.Archive.Create(ctx, k, b)
			if errors.Is(err, storage.ErrExists) {
				return storage.ErrExists
			}
			return err
		}
	}},
	{"ContextIsObeyed", func(a *broken) {
		a.append = func(_ context.Context, k storage.Key, seq int64, b storage.Blob) error {
			return a.Archive.Append(context.Background(), k, seq, b)
		}
	}},
	{"ContextIsObeyed", func(a *broken) {
		a.list = func(_ context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
			return a.Archive.List(context.Background(), prefix)
		}
	}},
	{"ZeroKeyIsRefused", func(a *broken) {
		a.create = func(ctx context.Context, k storage.Key, b storage.Blob) error {
			if k.IsZero() {
				return nil
			}
			return a.Archive.Create(ctx, k, b)
		}
	}},
	{"ZeroKeyIsRefused", func(a *broken) { // with a different error
		a.open = func(ctx context.Context, k storage.Key, off, n int64) (io.ReadCloser, error) {
			if k.IsZero() {
				return nil, errDeaf
			}
			return a.Archive.Open(ctx, k, off, n)
		}
	}},
	{"ZeroKeyIsRefused", func(a *broken) { a.kept = func(ctx context.Context, _ storage.Key) error { return ctx.Err() } }},
	{"ContextIsObeyed", func(a *broken) { // with the bare error of the context
		a.create = func(ctx context.Context, k storage.Key, b storage.Blob) error {
			if err := ctx.Err(); err != nil {
				return err
			}
			return a.Archive.Create(ctx, k, b)
		}
	}},
	{"ContextIsObeyed", func(a *broken) {
		a.kept = func(_ context.Context, k storage.Key) error {
			return storage.Begin(context.Background(), "look for a lock", k)
		}
	}},
	{"NothingIsKeptThatIsNotThere", func(a *broken) {
		a.kept = func(ctx context.Context, k storage.Key) error {
			if err := storage.Begin(ctx, "look for a lock", k); err != nil {
				return err
			}
			return storage.Wrap("look for a lock", k, storage.ErrLocked)
		}
	}},
	{"RemoveRemoves", func(a *broken) { a.remove = func(ctx context.Context, _ storage.Key) error { return ctx.Err() } }},
	{"RemoveRemoves", func(a *broken) {
		a.remove = func(ctx context.Context, k storage.Key) error {
			if a.read(k) == "" {
				return &storage.Error{Op: "remove", Key: k, Err: storage.ErrNotExist}
			}
			return a.Archive.Remove(ctx, k)
		}
	}},
	{"LocationsDiffer", func(a *broken) { a.where = func(k storage.Key) string { return k.Base() } }},
}

func TestSuiteCatchesEachBrokenPromise(t *testing.T) {
	for i, fault := range faults {
		got := storagetest.Check(t, func(testing.TB) (storage.Archive, storage.Archive) {
			a := &broken{Archive: memory.New()}
			fault.plant(a)
			return a, a
		}, fault.promise)
		if len(got) == 0 {
			t.Errorf("fault %d against %s was not caught", i+1, fault.promise)
		}
	}
}

func TestEveryCaseHasAFaultThatItCatches(t *testing.T) {
	have := map[string]bool{"ListStops": true} // no planted fault: an iterator that breaks this promise panics by itself
	for _, f := range faults {
		have[f.promise] = true
	}
	nothing := func(testing.TB) (storage.Archive, storage.Archive) {
		a := deafArchive{}
		return a, a
	}
	for _, f := range storagetest.Check(t, nothing) {
		if !have[f.Case] {
			t.Errorf("%s has no planted fault", f.Case)
		}
		if f.Promise == "" {
			t.Errorf("%s names no promise", f.Case)
		}
	}
}

// deafArchive is an archive that can do nothing, so that every case fails.
type deafArchive struct{}

var errDeaf = errors.New("deaf")

func (deafArchive) Create(context.Context, storage.Key, storage.Blob) error        { return errDeaf }
func (deafArchive) Append(context.Context, storage.Key, int64, storage.Blob) error { return errDeaf }
func (deafArchive) Open(context.Context, storage.Key, int64, int64) (io.ReadCloser, error) {
	return nil, errDeaf
}
func (deafArchive) Remove(context.Context, storage.Key) error { return errDeaf }
func (deafArchive) Kept(context.Context, storage.Key) error   { return errDeaf }
func (deafArchive) Location(storage.Key) string               { return "" }
func (deafArchive) List(context.Context, storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) { yield(storage.Info{}, errDeaf) }
}

// An archive without write times conforms, too.
func TestSuiteAcceptsAPlaceWithoutTimes(t *testing.T) {
	got := storagetest.Check(t, func(testing.TB) (storage.Archive, storage.Archive) {
		a := &broken{Archive: memory.New()}
		a.list = a.changed(func(i *storage.Info) { i.Modified = time.Time{} })
		return a, a
	}, "ListTellsWhen")
	for _, f := range got {
		t.Errorf("%s: %v", f.Case, f.Err)
	}
}

// changed returns a List that changes its entries.
func (a *broken) changed(change func(i *storage.Info)) func(context.Context, storage.Key) iter.Seq2[storage.Info, error] {
	return func(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
		return func(yield func(storage.Info, error) bool) {
			for info, err := range a.Archive.List(ctx, prefix) {
				if err == nil {
					change(&info)
				}
				if !yield(info, err) {
					return
				}
			}
		}
	}
}
