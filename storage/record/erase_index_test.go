package record_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage/memory"
)

// fullIndex can't be written.
type fullIndex struct{}

var errFull = errors.New("the disk is full")

func (fullIndex) Forget(context.Context, ...string) error { return errFull }

// An erase removes the files even if the index fails. It can be repeated for the index.
func TestEraseRemovesTheFilesEvenIfTheIndexFails(t *testing.T) {
	a := memory.New()
	s := life(t, a, "x", 1)
	s.KeepIndex(fullIndex{})
	if _, err := s.Erase(t.Context(), redact.Text{}); !errors.Is(err, errFull) {
		t.Error(err)
	}
	if left := contents(t, a, "s"); len(left) != 1 || left["manifest.jsonl"] == "" {
		t.Errorf("left: %v", left)
	}
	s = session(t, a, "s")
	if stone, err := s.Erase(t.Context(), redact.Text{}); err != nil || !stone.Done || len(contents(t, a, "s")) > 0 {
		t.Errorf("again: %+v, %v", stone, err)
	}
}

// lateIndex records the files that a session still had when the index was last told to
// forget it.
type lateIndex struct {
	t    *testing.T
	a    *memory.Archive
	left map[string]string
}

func (x *lateIndex) Forget(context.Context, ...string) error {
	x.left = contents(x.t, x.a, "s")
	return nil
}

// A session can be indexed again during its erase, as long as it has files.
func TestIndexForgetsAnEmptySession(t *testing.T) {
	a := memory.New()
	s := life(t, a, "x", 2)
	x := &lateIndex{t: t, a: a}
	s.KeepIndex(x)
	must(t, second(s.Erase(t.Context(), redact.Text{})))
	if x.left == nil || len(x.left) > 0 {
		t.Errorf("the index forgot the session for the last time before the files %v were removed", x.left)
	}
}
