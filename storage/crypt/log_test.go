package crypt_test

import (
	"context"
	"errors"
	"iter"
	"testing"
	"time"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
)

// TestAppendToALogThatWasErasedLeavesNothing: a writer that remembers the end of a removed
// log is refused, and no piece of a log stays.
func TestAppendToALogThatWasErasedLeavesNothing(t *testing.T) {
	p, inner := newPair(t), memory.New()
	a, other := crypt.New(inner, keys(t, p.identity, p)), crypt.New(inner, keys(t, p.identity, p))
	log := key(t, "s/log.jsonl")
	must(t, a.Append(t.Context(), log, 0, storage.Redacted(text(t, "one\n"))))
	must(t, other.Remove(t.Context(), log))
	if err := a.Append(t.Context(), log, 4, storage.Redacted(text(t, "two\n"))); !errors.Is(err, storage.ErrSeq) {
		t.Errorf("err = %v, want ErrSeq", err)
	}
	for info := range inner.List(t.Context(), storage.Key{}) {
		t.Errorf("%s is left", info.Key)
	}
	must(t, a.Append(t.Context(), log, 0, storage.Redacted(text(t, "again\n"))))
}

// erasingArchive is an archive that another process erases while an object is created.
type erasingArchive struct {
	*memory.Archive
	now bool
}

func (a *erasingArchive) Create(ctx context.Context, k storage.Key, b storage.Blob) error {
	if a.now {
		for info, err := range a.List(ctx, storage.Key{}) {
			if err != nil {
				return err
			}
			if err := a.Remove(ctx, info.Key); err != nil {
				return err
			}
		}
	}
	return a.Archive.Create(ctx, k, b)
}

// An erase can take place between the check of a log and the creation of its next piece, which
// would then be all that is left of the log.
func TestAppendToALogThatIsErasedMeanwhileLeavesNothing(t *testing.T) {
	p := newPair(t)
	inner := &erasingArchive{Archive: memory.New()}
	a, log := crypt.New(inner, keys(t, p.identity, p)), key(t, "s/log.jsonl")
	must(t, a.Append(t.Context(), log, 0, storage.Redacted(text(t, "one\n"))))
	inner.now = true
	if err := a.Append(t.Context(), log, 4, storage.Redacted(text(t, "two\n"))); !errors.Is(err, storage.ErrSeq) {
		t.Errorf("got %v, want ErrSeq", err)
	}
	for info, err := range inner.List(t.Context(), storage.Key{}) {
		t.Errorf("this file is left: %v, %v", info.Key, err)
	}
}

// A removed piece of a log is detected.
func TestLogWithAHoleIsNotAppendedTo(t *testing.T) {
	p, inner := newPair(t), memory.New()
	a := crypt.New(inner, keys(t, p.identity, p))
	log := key(t, "s/log.jsonl")
	for _, at := range []int64{0, 4, 8} {
		must(t, a.Append(t.Context(), log, at, storage.Redacted(text(t, "one\n"))))
	}
	must(t, inner.Remove(t.Context(), key(t, "s/log.jsonl/00000000000000000004.age")))
	again := crypt.New(inner, keys(t, p.identity, p))
	if err := again.Append(t.Context(), log, 8, storage.Redacted(text(t, "two\n"))); !errors.Is(err, storage.ErrDamaged) {
		t.Errorf("err = %v, want ErrDamaged", err)
	}
}

// A log that another process recreated with the same length in other pieces accepts the next
// append after one failed append.
func TestAppendContinuesALogInOtherPieces(t *testing.T) {
	p, inner := newPair(t), memory.New()
	a, other := crypt.New(inner, keys(t, p.identity, p)), crypt.New(inner, keys(t, p.identity, p))
	log := key(t, "s/log.jsonl")
	must(t, a.Append(t.Context(), log, 0, storage.Redacted(text(t, "one\n"))))
	must(t, other.Remove(t.Context(), log))
	must(t, other.Append(t.Context(), log, 0, storage.Redacted(text(t, "1\n"))))
	must(t, other.Append(t.Context(), log, 2, storage.Redacted(text(t, "2\n"))))
	next := storage.Redacted(text(t, "two\n"))
	if err := a.Append(t.Context(), log, 4, next); err != nil && !errors.Is(err, storage.ErrSeq) {
		t.Fatal(err)
	}
	if err := a.Append(t.Context(), log, 4, next); err != nil {
		t.Errorf("again: %v", err)
	}
	if got, err := read(t.Context(), other, log, 0, -1); err != nil || got != "1\n2\ntwo\n" {
		t.Errorf("%q, %v; want %q and no error", got, err, "1\n2\ntwo\n")
	}
}

// dated is an archive whose files were written as the map says.
type dated struct {
	*memory.Archive
	at map[string]time.Time
}

func (a *dated) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	return func(yield func(storage.Info, error) bool) {
		for info, err := range a.Archive.List(ctx, prefix) {
			info.Modified = a.at[info.Key.String()]
			if !yield(info, err) {
				return
			}
		}
	}
}

// The time of the last write to a log is that of its newest piece. A prune uses this time.
func TestALogIsAsNewAsItsNewestPiece(t *testing.T) {
	old, fresh := time.Unix(1_700_000_000, 0), time.Unix(1_700_000_500, 0)
	p := newPair(t)
	inner := &dated{memory.New(), map[string]time.Time{
		"s/log.jsonl/00000000000000000000.age": old, "s/log.jsonl/00000000000000000004.age": fresh, "s/log.jsonl/00000000000000000008.age": old,
	}}
	a := crypt.New(inner, keys(t, p.identity, p))
	for _, at := range []int64{0, 4, 8} {
		must(t, a.Append(t.Context(), key(t, "s/log.jsonl"), at, storage.Redacted(text(t, "one\n"))))
	}
	for info, err := range a.List(t.Context(), storage.Key{}) {
		if must(t, err); !info.Modified.Equal(fresh) || info.Size != 12 {
			t.Errorf("%s: %d bytes of %s, want 12 of %s", info.Key, info.Size, info.Modified, fresh)
		}
	}
}

// A file must not be stored under the name of a piece of a log: the log would contain it.
func TestAFileIsNoPieceOfALog(t *testing.T) {
	inner, p := memory.New(), newPair(t)
	a := crypt.New(inner, keys(t, p.identity, p))
	log := key(t, "s/log.jsonl")
	must(t, a.Append(t.Context(), log, 0, storage.Redacted(text(t, "one\n"))))
	piece, wrong := key(t, "s/log.jsonl/00000000000000000004"), new(storage.KeyError)
	if err := a.Create(t.Context(), piece, storage.Redacted(text(t, "two\n"))); !errors.As(err, &wrong) {
		t.Errorf("it is stored: %v", err)
	}
	if _, err := read(t.Context(), a, key(t, "s/log.jsonl/00000000000000000000"), 0, -1); !errors.Is(err, storage.ErrNotExist) {
		t.Errorf("a piece is read as a file: %v, want ErrNotExist", err)
	}
	if got, err := read(t.Context(), a, log, 0, -1); err != nil || got != "one\n" {
		t.Errorf("the log is %q, %v; want %q and no error", got, err, "one\n")
	}
	must(t, a.Create(t.Context(), key(t, "s/log.jsonl/0000000000000000004"), storage.Redacted(text(t, "a shorter number"))))
}
