package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"syscall"
	"testing"

	"github.com/agentcompact/compact/compact"
)

func TestFailingArchiveIsReportedOnceWithAdvice(t *testing.T) {
	full := func(op string) error {
		return &compact.ArchiveError{Op: op, Err: fmt.Errorf("storage: %w", &fs.PathError{Op: "write", Path: op, Err: syscall.ENOSPC})}
	}
	denied := &compact.ArchiveError{Op: "events", Err: syscall.EACCES}
	const nothing = "nothing was changed, and no messages were written: "
	for _, c := range []struct {
		call, end error
		want      []string
	}{
		{full("transcript"), full("events"), []string{"compact: archive failed (transcript): storage: write transcript: no space left on device", nothing + "free space for the archive; the next call retries"}},
		{full("transcript"), nil, []string{"compact: archive failed (transcript): storage: write transcript: no space left on device", nothing + "free space for the archive; the next call retries"}},
		{denied, full("events"), []string{denied.Error(), full("events").Error(), nothing + "check the archive; the next call retries"}},
		{&compact.ArchiveError{Op: "open", Err: context.Canceled}, nil, []string{"compact: archive failed (open): context canceled", "nothing was changed, and no messages were written"}},
		{nil, denied, []string{denied.Error()}},
		{errors.New("other"), denied, []string{"other", denied.Error()}},
	} {
		if got := unstored(c.call, c.end).Error(); got != strings.Join(c.want, "\n") {
			t.Errorf("got\n%s\nwant\n%s", got, strings.Join(c.want, "\n"))
		}
	}
	if err := unstored(nil, nil); err != nil {
		t.Error(err)
	}
}
