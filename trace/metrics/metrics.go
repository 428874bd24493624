package metrics

import (
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/agentcompact/compact/trace"
)

// Options configures a [Metrics]. Nil, and zero fields, mean the defaults.
type Options struct {
	// MaxValues is the maximum number of values of a label; further values are
	// counted as "_other". Default 50.
	MaxValues int
}

// Other replaces the values of a label beyond MaxValues.
const Other = "_other"

// maxValue is the maximum length of a label's value, in bytes.
const maxValue = 128

// Metrics are counts of events. They may serve several managers, each through
// its own exporter. All methods may be called concurrently.
type Metrics struct {
	most  int // maximum number of values of a label
	began time.Time

	mu     sync.Mutex
	series [counted]map[string]*Point
	values map[string]map[string]bool // by label
	key    []byte                     // scratch

	pipes map[*exporter]func() []trace.Stats // of pipelines that have not ended
	ended map[string]trace.Stats             // counts of ended pipelines, by exporter

	backlogs map[*exporter]func() (trace.Backlog, bool) // of the archives of managers that have not ended
}

// New returns metrics that have counted nothing.
func New(o *Options) *Metrics {
	m := &Metrics{most: 50, began: time.Now(), values: map[string]map[string]bool{}, pipes: map[*exporter]func() []trace.Stats{}, ended: map[string]trace.Stats{}, backlogs: map[*exporter]func() (trace.Backlog, bool){}}
	if o != nil && o.MaxValues > 0 {
		m.most = o.MaxValues
	}
	for i := range m.series {
		m.series[i] = map[string]*Point{}
	}
	for family, values := range begun {
		if len(families[family].Labels) == 0 {
			m.add(family, 0)
		}
		for _, v := range values {
			m.add(family, 0, v)
		}
	}
	return m
}

// add adds by to a counter; by is never negative.
func (m *Metrics) add(family int, by float64, labels ...string) {
	m.point(family, labels).Value += by
}

// put adds a value to a histogram.
func (m *Metrics) put(family int, v float64, labels ...string) {
	p := m.point(family, labels)
	if p.Buckets == nil {
		p.Buckets = make([]uint64, len(families[family].Bounds)+1)
	}
	i, _ := slices.BinarySearch(families[family].Bounds, v) // index of the first bound that is not below v
	p.Buckets[i]++
	p.Count++
	p.Value += v
}

// point finds or makes the point of a family with these labels.
func (m *Metrics) point(family int, labels []string) *Point {
	m.key = m.key[:0]
	for i, v := range labels {
		m.key = append(append(m.key, m.bounded(families[family].Labels[i], v)...), 0)
	}
	if p := m.series[family][string(m.key)]; p != nil {
		return p
	}
	p := &Point{}
	if len(labels) > 0 {
		p.Values = strings.Split(strings.TrimSuffix(string(m.key), "\x00"), "\x00")
	}
	m.series[family][string(m.key)] = p
	return p
}

// bounded returns the value of a label, cut to maxValue bytes, or Other if the
// label has too many values.
func (m *Metrics) bounded(label, v string) string {
	known := m.values[label]
	if known[v] {
		return v
	}
	v = strings.ReplaceAll(strings.ToValidUTF8(v[:min(len(v), maxValue)], ""), "\x00", "")
	switch {
	case known == nil:
		known = map[string]bool{}
		m.values[label] = known
	case known[v]:
		return v
	case len(known) >= m.most:
		return Other
	}
	known[strings.Clone(v)] = true
	return v
}

// Began returns the time at which the counts began.
func (m *Metrics) Began() time.Time { return m.began }

// Snapshot returns a copy of the current counts. Labels, their values and bounds
// are shared and must not be modified.
func (m *Metrics) Snapshot() []Family {
	m.mu.Lock()
	all := make([]Family, 0, counted)
	for i := range families {
		f := families[i]
		for _, p := range m.series[i] {
			f.Points = append(f.Points, Point{Values: p.Values, Value: p.Value, Count: p.Count, Buckets: slices.Clone(p.Buckets)})
		}
		slices.SortFunc(f.Points, func(a, b Point) int { return slices.Compare(a.Values, b.Values) })
		all = append(all, f)
	}
	ended, pipes, spools := maps.Clone(m.ended), slices.Collect(maps.Values(m.pipes)), slices.Collect(maps.Values(m.backlogs))
	m.mu.Unlock()
	return slices.Concat(all, delivery(ended, pipes), backlogs(spools, time.Now()))
}
