package storagetest_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"

	"github.com/agentcompact/compact/internal/ctxlock"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/storagetest"
)

// locking is an archive whose Create hangs with a lock that Append needs.
type locking struct {
	*memory.Archive
	lock   func(ctx context.Context) error
	unlock func()

	armed       bool
	there, done chan struct{}
}

func (l *locking) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	return l.write(ctx, k, func() error { return l.Archive.Create(ctx, k, b) })
}

func (l *locking) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	return l.write(ctx, k, func() error { return l.Archive.Append(ctx, k, seq, b) })
}

func (l *locking) write(ctx context.Context, k storage.Key, do func() error) error {
	if err := l.lock(ctx); err != nil {
		return storage.Wrap("write", k, err)
	}
	defer l.unlock()
	if l.armed {
		l.armed = false
		close(l.there)
		<-l.done
	}
	return do()
}

func openLocking(lock func(context.Context) error, unlock func()) (storage.Archive, func() (<-chan struct{}, func())) {
	l := &locking{Archive: memory.New(), lock: lock, unlock: unlock, armed: true, there: make(chan struct{}), done: make(chan struct{})}
	return l, func() (<-chan struct{}, func()) { return l.there, func() { close(l.done) } }
}

func TestLockThatKnowsNoContextIsABrokenPromise(t *testing.T) {
	storagetest.Impatient()
	broken := func(testing.TB) (storage.Archive, func() (<-chan struct{}, func())) {
		var mu sync.Mutex
		return openLocking(func(context.Context) error { mu.Lock(); return nil }, mu.Unlock)
	}
	sound := func(testing.TB) (storage.Archive, func() (<-chan struct{}, func())) {
		var mu ctxlock.Mutex
		return openLocking(mu.Lock, mu.Unlock)
	}
	silent := func(testing.TB) (storage.Archive, func() (<-chan struct{}, func())) {
		var mu ctxlock.Mutex
		return openLocking(func(ctx context.Context) error {
			if mu.Lock(ctx) != nil {
				return errors.New("busy")
			}
			return nil
		}, mu.Unlock)
	}
	for name, c := range map[string]struct {
		open storagetest.HangingOpener
		want []string
	}{"sync.Mutex": {broken, []string{"CreateHangs", "AppendHangs"}}, "ctxlock.Mutex": {sound, nil}, "another error": {silent, []string{"CreateHangs", "AppendHangs"}}} {
		t.Run(name, func(t *testing.T) {
			var got []string
			for _, f := range storagetest.CheckHanging(t, c.open) {
				got = append(got, f.Case)
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("broken are %q, want %q", got, c.want)
			}
		})
	}
}
