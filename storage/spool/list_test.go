package spool_test

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/storage/spool"
)

// Half of the session is on the disk and half in the remote archive. A listing of one file
// has this file alone, wherever it is.
func TestListOfOneFileOfASessionInTwoPlaces(t *testing.T) {
	r := newRemote()
	must(t, step(t.Context(), session(t, r, "alice")))
	s := open(t, t.TempDir(), r, &spool.Options{Passive: true})
	must(t, step(t.Context(), session(t, s, "alice")))
	list := func(prefix string) (found []string) {
		for info, err := range s.List(t.Context(), key(t, prefix)) {
			must(t, err)
			found = append(found, info.Key.String())
		}
		return found
	}
	all := list("alice")
	for _, k := range []string{"alice/ledger-001.json", "alice/ledger-002.json", "alice/manifest.jsonl"} {
		if got := list(k); !slices.Equal(got, []string{k}) || !slices.Contains(all, k) {
			t.Errorf("the listing of %s has %q, the listing of its session %q", k, got, all)
		}
	}
	if got := list("alice/ledger-003.json"); len(got) > 0 {
		t.Errorf("the listing of a missing file has %q", got)
	}
}
