package pager

import (
	"io"
	"testing"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/tracetest"
)

func TestPagerKeepsThePromisesOfAnExporter(t *testing.T) {
	tracetest.Run(t, func(testing.TB) trace.Exporter { return New(io.Discard) })
}
