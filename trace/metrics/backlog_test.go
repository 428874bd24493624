package metrics_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/trace"
	"github.com/agentcompact/compact/trace/metrics"
)

// Spools are added up, a folder that managers share is counted once, and the longest
// failure counts. Managers without a spool, and managers that have ended, have no backlog.
func TestTheBacklogOfSpoolsIsAGauge(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := metrics.New(nil)
		spools := func() map[string]string {
			got := map[string]string{}
			for name, v := range lines(m) {
				if strings.HasPrefix(name, "compact_spool_") {
					got[strings.TrimPrefix(name, "compact_spool_")] = v
				}
			}
			return got
		}
		watch := func(b trace.Backlog, ok bool) *trace.Pipeline {
			e := m.Exporter()
			e.(trace.BacklogWatcher).WatchBacklog(func() (trace.Backlog, bool) { return b, ok })
			return trace.NewPipeline([]trace.Exporter{e}, nil)
		}
		now := time.Now()
		pipes := []*trace.Pipeline{watch(trace.Backlog{Operations: 100}, false)}
		if got := spools(); len(got) > 0 {
			t.Errorf("without a spool: %v", got)
		}
		pipes = append(pipes,
			watch(trace.Backlog{Dir: "a", Operations: 7, Sessions: 2, Failing: now.Add(-90 * time.Second)}, true),
			watch(trace.Backlog{Dir: "a", Operations: 7, Sessions: 2}, true),
			watch(trace.Backlog{Dir: "a", Operations: 7, Sessions: 2, Failing: now.Add(-30 * time.Second)}, true),
			watch(trace.Backlog{Dir: "b", Operations: 1, Sessions: 1, Conflicts: 1}, true))
		want := map[string]string{"operations": "8", "sessions": "3", "conflicts": "1", "failing_seconds": "90"}
		for range 20 { // the order of the managers is random
			for name, v := range spools() {
				if want[name] != v {
					t.Fatalf("%s is %s, want %s", name, v, want[name])
				}
			}
		}
		if got := spools(); len(got) != len(want) {
			t.Errorf("%v", got)
		}
		for _, p := range pipes {
			if err := p.Close(context.Background()); err != nil {
				t.Error(err)
			}
		}
		synctest.Wait()
		if got := spools(); len(got) > 0 {
			t.Errorf("after the end of all managers: %v", got)
		}
	})
}
