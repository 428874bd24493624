package storagetest

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/agentcompact/compact/storage"
)

func createCases() []testCase {
	return []testCase{
		{"CreateKeepsEveryByte", "After nil, k holds exactly the bytes of b.", createKeeps},
		{"CreateRefusesWhatExists", "If k exists, it stays unchanged and the error is ErrExists.", createRefuses},
		{"CreateHasOneWinner", "Of any number of Creates of one key at once exactly one returns nil.", createRace},
		{"CreateIsSeenWhole", "Open and List see k complete or not at all.", createWhole},
		{"CreateFailsWhole", "After any other error k holds all of b or nothing.", createCancelled},
		{"CreateMakesFolders", "Folders are created as needed.", createDeep},
		{"CreateAllIsCreateForEach", "CreateAll returns for each key, in order, the error that Create would have returned.", createAll},
	}
}

func createKeeps(ctx context.Context, p *place) error {
	for i, size := range []int{0, 1, 70_000, 1 << 20} {
		k, b := key(fmt.Sprintf("s/file-%d", i)), blob(i+1, size)
		if err := p.a.Create(ctx, k, b); err != nil {
			return err
		}
		if err := p.holds(ctx, k, bytesOf(b)); err != nil {
			return err
		}
	}
	return nil
}

func createRefuses(ctx context.Context, p *place) error {
	for i, a := range p.both() {
		k := key(fmt.Sprintf("s/ledger-%d", i))
		first := blob(1, 100)
		if err := p.a.Create(ctx, k, first); err != nil {
			return err
		}
		for _, b := range []storage.Blob{blob(2, 100), first, blob(0, 0)} {
			if err := a.Create(ctx, k, b); !errors.Is(err, storage.ErrExists) {
				return fmt.Errorf("second Create: %v, want ErrExists", err)
			}
		}
		if err := p.holds(ctx, k, bytesOf(first)); err != nil {
			return err
		}
	}
	return nil
}

func createAll(ctx context.Context, p *place) error {
	bulk, ok := p.a.(storage.BulkCreator)
	if !ok {
		return nil // optional for an archive
	}
	taken := blob(9, 60)
	if err := p.b.Create(ctx, key("s/taken"), taken); err != nil {
		return err
	}
	names := []string{"s/one", "s/taken", "t/two", "s/three", "u/v/four"}
	keys, blobs := make([]storage.Key, len(names)), make([]storage.Blob, len(names))
	for i, name := range names {
		keys[i], blobs[i] = key(name), blob(i+1, 30_000*i)
	}
	errs := bulk.CreateAll(ctx, keys, blobs)
	if len(errs) != len(keys) {
		return fmt.Errorf("%d errors of %d keys", len(errs), len(keys))
	}
	for i, k := range keys {
		want := bytesOf(blobs[i])
		if names[i] == "s/taken" {
			if want = bytesOf(taken); !errors.Is(errs[i], storage.ErrExists) {
				return fmt.Errorf("%s: %v, want ErrExists", k, errs[i])
			}
		} else if errs[i] != nil {
			return errs[i]
		}
		if err := p.holds(ctx, k, want); err != nil {
			return err
		}
	}
	ended, cancel := context.WithCancel(ctx)
	cancel()
	for i, err := range bulk.CreateAll(ended, []storage.Key{key("s/late"), key("s/later")}, blobs[:2]) {
		if !errors.Is(err, context.Canceled) {
			return fmt.Errorf("key %d, after the context has ended: %v", i, err)
		}
	}
	if errs := bulk.CreateAll(ctx, nil, nil); len(errs) > 0 {
		return fmt.Errorf("no keys: %v", errs)
	}
	return nil
}

// racers is the number of concurrent attempts.
const racers = 24

func createRace(ctx context.Context, p *place) error {
	for round := range 5 {
		k := key(fmt.Sprintf("s/race-%d", round))
		won, err := race(p, storage.ErrExists, func(a storage.Archive, i int) error {
			return a.Create(ctx, k, blob(i, 5000))
		})
		if err != nil {
			return err
		}
		if err := p.holds(ctx, k, bytesOf(blob(won, 5000))); err != nil {
			return err
		}
	}
	return nil
}

// race calls the function do from many goroutines at once, and returns the index of
// the call that got nil. All others must get the error lost.
func race(p *place, lost error, do func(a storage.Archive, i int) error) (int, error) {
	errs := make([]error, racers)
	start := make(chan struct{})
	var wg sync.WaitGroup
	for i := range racers {
		wg.Go(func() {
			<-start
			errs[i] = do(p.both()[i%2], i)
		})
	}
	close(start)
	wg.Wait()
	won := -1
	for i, err := range errs {
		switch {
		case err == nil && won >= 0:
			return 0, fmt.Errorf("two of %d won", racers)
		case err == nil:
			won = i
		case !errors.Is(err, lost):
			return 0, fmt.Errorf("a loser got: %w", err)
		}
	}
	if won < 0 {
		return 0, fmt.Errorf("none of %d won", racers)
	}
	return won, nil
}

func createWhole(ctx context.Context, p *place) error {
	k, b := key("s/large"), blob(7, 2<<20)
	want := bytesOf(b)
	done := make(chan error, 1)
	go func() { done <- p.a.Create(ctx, k, b) }()
	for created := false; !created; {
		select {
		case err := <-done:
			if err != nil {
				return err
			}
			created = true
		default:
		}
		if err := p.absentOrWhole(ctx, k, want); err != nil {
			return err
		}
	}
	return p.holds(ctx, k, want)
}

// absentOrWhole checks with List and Open that a key is missing or complete.
func (p *place) absentOrWhole(ctx context.Context, k storage.Key, want string) error {
	for info, err := range p.b.List(ctx, k) {
		if err != nil {
			return err
		}
		if info.Size != int64(len(want)) {
			return fmt.Errorf("the listing shows %d of %d bytes", info.Size, len(want))
		}
	}
	got, err := p.read(ctx, p.b, k)
	if errors.Is(err, storage.ErrNotExist) {
		return nil
	}
	if err == nil && got != want {
		err = fmt.Errorf("a reader shows %s of %d bytes", short(got), len(want))
	}
	return err
}

func createCancelled(ctx context.Context, p *place) error {
	for i := range 12 {
		k, b := key(fmt.Sprintf("s/cut-%d", i)), blob(i, 1<<19)
		short, cancel := context.WithTimeout(ctx, time.Duration(i)*300*time.Microsecond)
		err := p.a.Create(short, k, b)
		cancel()
		if err == nil {
			if err := p.holds(ctx, k, bytesOf(b)); err != nil {
				return err
			}
			continue
		}
		if !errors.Is(err, context.DeadlineExceeded) {
			return fmt.Errorf("the error does not wrap the context's: %w", err)
		}
		if err := p.absentOrWhole(ctx, k, bytesOf(b)); err != nil {
			return err
		}
	}
	return nil
}

func createDeep(ctx context.Context, p *place) error {
	k, b := key("a/b/c/d.json"), blob(3, 30)
	if err := p.a.Create(ctx, k, b); err != nil {
		return err
	}
	return p.holds(ctx, k, bytesOf(b))
}
