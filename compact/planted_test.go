package compact_test

import (
	"context"
	"errors"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage"
)

// With an approximate count, the size after a compaction is its upper bound.
func TestHysteresisUsesTheUpperBound(t *testing.T) {
	r := newRig(t, compact.Config{Model: "claude-sonnet-4", MaxContextTokens: 20_000})
	history := turns(30, 400)
	first := r.preflight(history)
	if !first.Triggered || first.UpperBound <= first.Target || first.After.Total > first.Target {
		t.Fatalf("triggered %v, %d tokens, at most %d, the target is %d", first.Triggered, first.After.Total, first.UpperBound, first.Target)
	}
	want := min(first.Budget, first.UpperBound+17_000-first.Target)
	if got := r.preflight(history).Trigger; got != want {
		t.Errorf("the next is due at %d, want %d", got, want)
	}
}

type leakyArchive struct{ storage.Archive }

const leak = "ghp_" + "x8Kq2LmZ0pWv7Rt3" + "Yb9Nc5Hd1Fg4Js6Aa0Qe"

func (leakyArchive) Create(context.Context, storage.Key, storage.Blob) error {
	return errors.New("refused for " + leak)
}
