package spool_test

import (
	"context"
	"iter"
	"strings"
	"testing"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
	"github.com/agentcompact/compact/storage/spool"
)

// listed is an archive that calls a function once, before the log of tombstones is
// listed.
type listed struct {
	*remote
	before func()
}

func (l *listed) List(ctx context.Context, prefix storage.Key) iter.Seq2[storage.Info, error] {
	if before := l.before; before != nil && prefix.String() == "_erased.jsonl" {
		l.before = nil
		before()
	}
	return l.remote.List(ctx, prefix)
}

// If a new session has the name of an erased one, its name stays, even if it is written
// while the names of erased sessions are removed.
func TestNameOfASessionThatBeganAfterAnEraseStays(t *testing.T) {
	r := newRemote()
	must(t, step(t.Context(), headed(t, r, "alice")))
	must(t, second(headed(t, r, "alice").Erase(t.Context(), redact.Text{})))
	far := &listed{remote: r}
	s := open(t, t.TempDir(), far, &spool.Options{Passive: true})
	must(t, step(t.Context(), headed(t, s, "bob")))
	far.before = func() { must(t, step(t.Context(), headed(t, s, "alice"))) }
	_ = s.Flush(t.Context()) // data that was written in the meantime waits
	must(t, s.Flush(t.Context()))
	if got := strings.Count(strings.Join(keys(t, r), " "), "_names/"); got != 2 {
		t.Errorf("%d names in %q, want 2", got, keys(t, r))
	}
	book, err := record.ReadHeads(t.Context(), r, record.HeadsOptions{})
	must(t, err)
	gone, err := book.Vanished(t.Context(), r)
	must(t, err)
	for _, g := range gone {
		t.Errorf("%s: %q", g.Dir, g.Problems)
	}
	sound(t, r, "alice", 1)
}
