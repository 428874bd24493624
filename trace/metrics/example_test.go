package metrics_test

import (
	"fmt"

	"github.com/agentcompact/compact/trace/metrics"
)

// A Metrics counts the events that its exporter receives, and is a handler for
// Prometheus.
func Example() {
	m := metrics.New(nil)
	_ = m.Exporter() // put it into Config.Exporters
	for _, f := range m.Snapshot()[:3] {
		fmt.Println(f.Name, f.Unit)
	}
	// Output:
	// compact.calls {call}
	// compact.decisions {call}
	// compact.compactions {compaction}
}
