package compact

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"testing"

	"github.com/agentcompact/compact/storage"
	"github.com/agentcompact/compact/storage/record"
)

// If the archive fails, a session continues in memory and nothing of it is stored. An
// erased or damaged session cannot continue in memory.
func TestSessionContinuesInMemoryOnlyIfTheArchiveFails(t *testing.T) {
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	m := &CompactManager{cfg: Config{Storage: StorageConfig{OnError: "continue"}}}
	failed := func(err error) error { return fmt.Errorf("session: %w", &storage.Error{Op: "open", Err: err}) }
	for _, c := range []struct {
		ctx  context.Context
		err  error
		want bool
	}{
		{t.Context(), failed(fs.ErrPermission), true},
		{t.Context(), failed(context.DeadlineExceeded), true},
		{t.Context(), failed(record.ErrErased), false},
		{t.Context(), failed(storage.ErrDamaged), false},
		{t.Context(), errors.New("not of the place"), false},
		{ended, failed(fs.ErrPermission), false},
	} {
		if got := m.canContinue(c.ctx, c.err); got != c.want {
			t.Errorf("%v: continues %v, want %v", c.err, got, c.want)
		}
	}
	if m.cfg.Storage.OnError = "fail"; m.canContinue(t.Context(), failed(fs.ErrPermission)) {
		t.Error("the session continues although storage.on_error is fail")
	}
}
