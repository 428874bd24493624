package compact

import (
	"testing"

	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/seal"
)

// The first process gives an archive its own key, so what it has named so far is right. For
// every other process the key of the archive is a change: what it has named with its own
// random key is wrong, and the call must not store it.
func TestAKeyOfAnotherProcessIsAChange(t *testing.T) {
	for name, bucket := range map[string]bool{"an archive with a key of its own": false, "a bucket, with the key of the machine": true} {
		a, folder := memory.New(), t.TempDir()
		ring := func() *keyring {
			fresh := seal.NewKey()
			return &keyring{Ring: seal.NewRing(folder, fresh), fresh: fresh, folder: folder, bucket: bucket}
		}
		first, second, reader := ring(), ring(), ring()
		if err := reader.look(t.Context(), a); err != nil || reader.settled.Load() {
			t.Errorf("%s: a reader has made a key: %v", name, err)
		}
		own := first.Current().ID()
		if changed, err := first.make(t.Context(), a); changed || err != nil || first.Current().ID() != own || !first.settled.Load() {
			t.Errorf("%s: its own key is a change: %v, %v", name, changed, err)
		}
		if changed, err := second.make(t.Context(), a); !changed || err != nil || second.Current().ID() != own {
			t.Errorf("%s: the other's key is no change: %v, %v", name, changed, err)
		}
		if changed, err := second.make(t.Context(), a); changed || err != nil {
			t.Errorf("%s: the key changes again: %v, %v", name, changed, err)
		}
		if err := reader.look(t.Context(), a); err != nil || reader.Current().ID() != own {
			t.Errorf("%s: a reader does not find the key: %v", name, err)
		}
	}
}
