package record_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/storage/record"
)

// meanwhile is an archive that calls a function once, after the first line of heads.
type meanwhile struct {
	*memory.Archive
	do func()
}

func (a *meanwhile) Append(ctx context.Context, k storage.Key, seq int64, b storage.Blob) error {
	err := a.Archive.Append(ctx, k, seq, b)
	if do := a.do; do != nil && k.Dir() == "_heads" {
		a.do = nil
		do()
	}
	return err
}

// For a folder with a hashed name, the archive stores the session's id. A process that
// stores the id during an erase removes it again, because the erase must remove it.
func TestNameOfAConcurrentlyErasedSessionIsRemoved(t *testing.T) {
	a := &meanwhile{Archive: memory.New()}
	s := session(t, a, "alice")
	s.KeepHeads(record.NewHeads(a, nil))
	a.do = func() {
		other := session(t, a.Archive, "alice")
		other.KeepHeads(record.NewHeads(a.Archive, nil))
		must(t, second(other.Erase(t.Context(), text("asked for"))))
	}
	step(t, s, 1)
	for k, data := range everything(t, a.Archive) {
		if strings.Contains(k+data, "alice") {
			t.Errorf("%s still names it: %s", k, data)
		}
	}
	book, err := record.ReadHeads(t.Context(), a, record.HeadsOptions{})
	must(t, err)
	if gone, err := book.Vanished(t.Context(), a); err != nil || len(gone) > 0 {
		t.Errorf("%+v, %v, want no vanished session and no error", gone, err)
	}
}

// atManifest is an archive that stops before it removes a manifest.
type atManifest struct {
	*memory.Archive
	reached, goOn chan struct{}
}

func (a *atManifest) Remove(ctx context.Context, k storage.Key) error {
	if k.Base() == "manifest.jsonl" {
		close(a.reached)
		<-a.goOn
	}
	return a.Archive.Remove(ctx, k)
}

// An erase removes the name, and then the manifest. A process that stores the name between the
// two removes it again.
func TestNameStoredAtTheEndOfAnEraseIsRemoved(t *testing.T) {
	a := &meanwhile{Archive: memory.New()}
	s := session(t, a, "alice")
	s.KeepHeads(record.NewHeads(a, nil))
	slow := &atManifest{a.Archive, make(chan struct{}), make(chan struct{})}
	ended := make(chan error, 1)
	a.do = func() {
		other := session(t, slow, "alice")
		go func() { ended <- second(other.Erase(context.Background(), text("asked for"))) }()
		<-slow.reached
	}
	step(t, s, 1)
	close(slow.goOn)
	must(t, <-ended)
	for k, data := range everything(t, a.Archive) {
		if strings.Contains(k+data, "alice") {
			t.Errorf("%s still names it: %s", k, data)
		}
	}
}
