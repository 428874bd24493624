package panics_test

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/panics"
)

// broken is a handler of logs that panics.
type broken struct{ slog.Handler }

func (broken) Enabled(context.Context, slog.Level) bool  { return true }
func (broken) Handle(context.Context, slog.Record) error { panic("the disk of the log is full") }

// A program whose logger panics does not end because a call panicked.
func TestLoggerThatPanicsIsNoSecondPanic(t *testing.T) {
	err := panics.Error(slog.New(broken{}), nil, "the archive", "index out of range")
	if !errors.Is(err, panics.ErrInternal) || !strings.Contains(err.Error(), "the archive panicked: index out of range") {
		t.Errorf("got %v", err)
	}
}
