package compact_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
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

// The error for a folder that can't be used names the setting.
func TestFolderThatCannotBeMadeNamesItsSetting(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(file, "archive")
	_, err := compact.New(t.Context(), compact.Config{Storage: compact.StorageConfig{Path: path}})
	if !errors.Is(err, compact.ErrArchiveFailed) || !strings.Contains(err.Error(), fmt.Sprintf("storage.path %q", path)) {
		t.Errorf("%v; want ErrArchiveFailed with storage.path and %s", err, path)
	}
}
