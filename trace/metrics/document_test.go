package metrics_test

import (
	"context"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/metrics"
)

var update = flag.Bool("update", false, "write the table of docs/OBSERVABILITY.md")

// table returns the table for the documentation: all metrics, in the terms of
// Prometheus.
func table() string {
	m := metrics.New(nil)
	p := trace.NewPipeline([]trace.Exporter{m.Exporter()}, nil)
	var b strings.Builder
	b.WriteString("| metric | labels | |\n|---|---|---|\n")
	for _, f := range m.Snapshot() {
		name, help := f.Prometheus(), f.Help
		if f.Kind != metrics.Counter {
			help += " A " + f.Kind.String() + "."
		}
		var labels []string
		for _, l := range f.Labels {
			labels = append(labels, "`"+strings.ReplaceAll(l, ".", "_")+"`")
		}
		fmt.Fprintf(&b, "| `%s` | %s | %s |\n", name, strings.Join(labels, " "), help)
	}
	_ = p.Close(context.Background())
	return b.String()
}

func TestEachMetricIsDocumented(t *testing.T) {
	const file, from, to = "../../docs/OBSERVABILITY.md", "<!-- metrics -->\n", "<!-- /metrics -->"
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), from)
	have, tail, ok2 := strings.Cut(rest, to)
	if !ok || !ok2 {
		t.Fatal("the document lacks the marks of the table")
	}
	switch want := table(); {
	case have == want:
	case *update:
		if err := os.WriteFile(file, []byte(head+from+want+to+tail), 0o644); err != nil {
			t.Fatal(err)
		}
	default:
		t.Errorf("the table differs from the code; go test ./trace/metrics -run Documented -update\n%s", want)
	}
}
