package compact_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/memory"
	"github.com/agentcompact/compact/trace"
)

// A leaked goroutine fails the test.
func TestNewUnderAnEndedContextLeavesNothingBehind(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		m, err := compact.New(ctx, compact.Config{Archive: memory.New(), Exporters: []trace.Exporter{nullExporter{}}})
		if m != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("manager %v, error %v; want none and Canceled", m, err)
		}
	})
}

// nullExporter is an exporter that takes nothing.
type nullExporter struct{}

func (nullExporter) Export(context.Context, []trace.Event) error { return nil }

func (nullExporter) Shutdown(context.Context) error { return nil }
