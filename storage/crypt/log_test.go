package crypt_test

import (
	"errors"
	"testing"

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

// TestLogWithAHoleIsNotAppendedTo: a removed piece is detected.
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
		t.Errorf("%q, %v", got, err)
	}
}
