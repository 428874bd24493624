package serve

import (
	"bytes"
	"cmp"
	"fmt"
	"maps"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"time"
)

// expose writes the handler's own counters in Prometheus' text form. About a
// request it shows only the provider and the status: no session, no path, no key.
// The counters of conversations come from events, see [Config.Metrics].
func (h *Handler) expose() []byte {
	c := h.counters
	c.mu.Lock()
	defer c.mu.Unlock()
	e := &exposition{}
	e.head("compact_requests_total", "counter", "Requests by provider and status; 0 = not answered.")
	for _, k := range slices.SortedFunc(maps.Keys(c.requests), func(a, b [2]string) int { return cmp.Or(cmp.Compare(a[0], b[0]), cmp.Compare(a[1], b[1])) }) {
		e.line("compact_requests_total", fmt.Sprintf(`{provider=%q,status=%q}`, k[0], k[1]), c.requests[k])
	}
	e.single("compact_requests_in_flight", "gauge", "Requests in flight.", c.flight)
	e.labeled("compact_refused_total", "status", "Requests that the proxy refused, by status.", c.refusals)
	e.labeled("compact_broken_total", "why", "Requests without a complete answer.", c.broken)
	e.labeled("compact_failures_total", "op", "Failures in the proxy, by operation; the request was sent unchanged, unless strict.", c.failures)
	e.single("compact_passed_total", "counter", "Conversations that are not compacted on purpose.", c.passed)
	e.histogram("compact_ready_seconds", "Seconds from the headers of a request until it was sent, including the client's time for the body.", c.added)
	e.process(h.began)
	return e.Bytes()
}

// process adds the state of the process, under the names that Prometheus' own
// libraries use.
func (e *exposition) process(began time.Time) {
	e.head("process_start_time_seconds", "gauge", "Start time of the proxy, in seconds since 1970.")
	fmt.Fprintf(e, "process_start_time_seconds %d\n", began.Unix())
	e.single("go_goroutines", "gauge", "Number of goroutines.", runtime.NumGoroutine())
	sample := []metrics.Sample{{Name: "/memory/classes/total:bytes"}, {Name: "/memory/classes/heap/released:bytes"}}
	metrics.Read(sample)
	e.single("go_memory_bytes", "gauge", "Memory of the process, in bytes.", int(sample[0].Value.Uint64()-sample[1].Value.Uint64()))
}

// exposition is a text in the format of Prometheus.
type exposition struct{ bytes.Buffer }

func (e *exposition) head(name, kind, help string) {
	fmt.Fprintf(e, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, kind)
}

func (e *exposition) line(name, labels string, v int) { fmt.Fprintf(e, "%s%s %d\n", name, labels, v) }

func (e *exposition) single(name, kind, help string, v int) {
	e.head(name, kind, help)
	e.line(name, "", v)
}

func (e *exposition) labeled(name, label, help string, values map[string]int) {
	e.head(name, "counter", help)
	for _, k := range slices.Sorted(maps.Keys(values)) {
		e.line(name, fmt.Sprintf("{%s=%q}", label, k), values[k])
	}
}

func (e *exposition) histogram(name, help string, h histogram) {
	e.head(name, "histogram", help)
	n := 0
	for i, bound := range h.bounds {
		n += h.counts[i]
		e.line(name+"_bucket", fmt.Sprintf("{le=%q}", strconv.FormatFloat(bound, 'g', -1, 64)), n)
	}
	n += h.counts[len(h.bounds)]
	e.line(name+"_bucket", `{le="+Inf"}`, n)
	fmt.Fprintf(e, "%s_sum %g\n", name, h.sum)
	e.line(name+"_count", "", n)
}
