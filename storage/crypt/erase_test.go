package crypt_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/agentcompact/compact/redact"
	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/crypt"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// dying is an archive that removes a limited number of files.
type dying struct {
	*memory.Archive
	left int
}

var errDead = errors.New("the process is dead")

func (d *dying) Remove(ctx context.Context, k storage.Key) error {
	if d.left == 0 {
		return errDead
	}
	d.left--
	return d.Archive.Remove(ctx, k)
}

// An erase dies after any number of removals. The next one completes it, even if only some
// pieces of the manifest are left.
func TestEraseIsCompletedAfterAnyRemoval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the next erase waits for the dead process
		for n := 0; erasedAfter(t, n); n++ {
		}
	})
}

// erasedAfter reports whether an erase died after n removals.
func erasedAfter(t *testing.T, n int) bool {
	p, d := newPair(t), &dying{Archive: memory.New(), left: n}
	open := func() *record.Session {
		s, err := record.OpenSession(t.Context(), crypt.New(d, keys(t, p.identity, p)), "s")
		must(t, err)
		return s
	}
	s := open()
	_, err := s.Final(t.Context(), []redact.Text{text(t, `{"role":"user","content":"hi"}`)})
	must(t, err)
	must(t, s.Hold(t.Context(), text(t, "a case")))
	must(t, s.Release(t.Context(), text(t, "closed")))
	_, died := open().Erase(t.Context(), text(t, "asked for"))
	d.left = -1
	_, err = open().Erase(t.Context(), text(t, "again"))
	if died == nil && !errors.Is(err, storage.ErrNotExist) || died != nil && err != nil {
		t.Errorf("after %d removals (%v): %v", n, died, err)
	}
	prefix, err := record.Prefix("s")
	must(t, err)
	for info := range d.List(t.Context(), prefix) {
		t.Errorf("after %d removals %s is left", n, info.Key)
	}
	return died != nil
}
