package compact

import (
	"context"
	"io"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/seal"
)

// A key that can't be saved is reported once.
func TestALostKeyIsReportedOnce(t *testing.T) {
	k := &keyring{Ring: seal.NewRing(seal.InMemory, seal.NewKey())}
	k.giveUp(seal.ErrFolder)
	if said := k.takeSaid(); len(said) != 1 || !strings.Contains(said[0], seal.ErrFolder.Error()) || !strings.Contains(said[0], ArchiveKeyVariable) || !k.settled.Load() {
		t.Errorf("%q, want one warning that names the folder and the variable", said)
	}
	if said := k.takeSaid(); said != nil {
		t.Errorf("reported again: %q, want none", said)
	}
}

// foreignKeyList is an archive whose list of keys is encrypted for others.
type foreignKeyList struct{ *memory.Archive }

func (foreignKeyList) Open(context.Context, storage.Key, int64, int64) (io.ReadCloser, error) {
	return nil, storage.ErrNoIdentity
}

// A process that can't read the keys of an encrypted archive uses the key of the machine.
// All processes of a machine get the same key, and a reader makes none.
func TestAProcessWithoutAnIdentityUsesTheKeyOfTheMachine(t *testing.T) {
	plain, folder := memory.New(), t.TempDir()
	ring := func(folder string) *keyring {
		fresh := seal.NewKey()
		return &keyring{Ring: seal.NewRing(folder, fresh), fresh: fresh, folder: folder}
	}
	if _, err := ring(t.TempDir()).make(t.Context(), plain); err != nil { // the archive has a key of another machine
		t.Fatal(err)
	}
	a := foreignKeyList{plain}
	reader, first, second := ring(folder), ring(folder), ring(folder)
	if err := reader.look(t.Context(), a); err != nil || reader.settled.Load() {
		t.Errorf("a reader: %v, settled %v", err, reader.settled.Load())
	}
	own := first.Current().ID()
	if changed, err := first.make(t.Context(), a); changed || err != nil || first.Current().ID() != own {
		t.Errorf("the first process: %v, %v; want false and no error", changed, err)
	}
	if changed, err := second.make(t.Context(), a); !changed || err != nil || second.Current().ID() != own {
		t.Errorf("the second process: %v, %v; want true and no error", changed, err)
	}
	if err := reader.look(t.Context(), a); err != nil || reader.Current().ID() != own {
		t.Errorf("a reader does not find the key: %v", err)
	}
}

// The first process gives an archive its own key, so the names that it has made so far are
// right. For every other process the key of the archive is a change: the names that it has
// made with its own random key are wrong, and the call must not store them.
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
			t.Errorf("%s: the key changes again: %v, %v; want false and no error", name, changed, err)
		}
		if err := reader.look(t.Context(), a); err != nil || reader.Current().ID() != own {
			t.Errorf("%s: a reader does not find the key: %v", name, err)
		}
	}
}
