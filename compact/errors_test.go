package compact_test

import (
	"errors"
	"testing"

	"github.com/agentcompact/compact/compact"
)

func TestArchiveErrorIsOneLine(t *testing.T) {
	first, second := errors.New("the index can't be stored"), errors.New("no space left on device")
	err := &compact.ArchiveError{Op: "events", Session: "s", Err: errors.Join(first, second)}
	if got, want := err.Error(), "compact: archive failed (events): the index can't be stored; no space left on device"; got != want {
		t.Errorf("got  %q\nwant %q", got, want)
	}
	if !errors.Is(err, second) || !errors.Is(err, compact.ErrArchiveFailed) {
		t.Error("the error does not wrap its causes")
	}
}
