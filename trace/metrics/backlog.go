package metrics

import (
	"maps"
	"time"

	"github.com/agentcompact/compact/trace"
)

// WatchBacklog registers the backlog of an archive.
func (e *exporter) WatchBacklog(read func() (trace.Backlog, bool)) {
	e.to.mu.Lock()
	defer e.to.mu.Unlock()
	e.to.backlogs[e] = read
}

// backlogs returns the state of spools. Managers that share a folder report it once. It has
// no points without a spool.
func backlogs(reads []func() (trace.Backlog, bool), now time.Time) []Family {
	folders := map[string]trace.Backlog{}
	for _, read := range reads {
		b, ok := read()
		if !ok {
			continue
		}
		if known, is := folders[b.Dir]; is && !known.Failing.IsZero() && (b.Failing.IsZero() || known.Failing.Before(b.Failing)) {
			b.Failing = known.Failing
		}
		folders[b.Dir] = b
	}
	out := []Family{
		{Name: "compact.spool.operations", Unit: "{operation}", Help: "Writes and removals that wait on the disk for the archive's bucket.", Kind: Gauge},
		{Name: "compact.spool.sessions", Unit: "{session}", Help: "Sessions with writes and removals that wait on the disk.", Kind: Gauge},
		{Name: "compact.spool.conflicts", Unit: "{session}", Help: "Sessions that are not sent until a person decides, because the bucket has other data.", Kind: Gauge},
		{Name: "compact.spool.failing", Unit: "s", Help: "Seconds since the bucket began to refuse data or not to answer; 0 = it takes everything.", Kind: Gauge},
	}
	if len(folders) == 0 {
		return out
	}
	var sum [4]float64
	for b := range maps.Values(folders) {
		sum[0] += float64(b.Operations)
		sum[1] += float64(b.Sessions)
		sum[2] += float64(b.Conflicts)
		if !b.Failing.IsZero() {
			sum[3] = max(sum[3], now.Sub(b.Failing).Seconds())
		}
	}
	for i := range out {
		out[i].Points = []Point{{Value: sum[i]}}
	}
	return out
}
