package main

import (
	"io"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

func TestPagerKeepsThePromisesOfAnExporter(t *testing.T) {
	tracetest.TestExporter(t, func(testing.TB) trace.Exporter { return NewPager(io.Discard) })
}

func TestPagerTellsWhatIsOfHighSeverity(t *testing.T) {
	t.Setenv(compact.ArchiveKeyVariable, strings.Repeat("ab", 32))
	var out strings.Builder
	if err := run(t.Context(), &out); err != nil {
		t.Fatal(err)
	}
	if got := out.String(); got != "session support-17: compact.redaction_disabled\n" {
		t.Errorf("got %q", got)
	}
}
