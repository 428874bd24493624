package metrics

import (
	"maps"
	"slices"

	"github.com/agentcompact/compact/trace"
)

// delivery returns the counts of events by exporter, which pipelines keep
// themselves. It adds up exporters of the same name. ended holds the counts of
// pipelines that have ended; delivery adds to it.
func delivery(ended map[string]trace.Stats, pipes []func() []trace.Stats) []Family {
	for _, stats := range pipes {
		sum(ended, stats())
	}
	out := []Family{
		{Name: "compact.events.emitted", Unit: "{event}", Help: "Events for an exporter's receiver: delivered, lost and waiting ones together."},
		{Name: "compact.events.delivered", Unit: "{event}", Help: "Events that reached the receiver."},
		{Name: "compact.events.lost", Unit: "{event}", Help: "Events that will never reach the receiver."},
		{Name: "compact.events.waiting", Unit: "{event}", Help: "Events in the queue or in transit.", Kind: Gauge},
	}
	for _, name := range slices.Sorted(maps.Keys(ended)) {
		s := ended[name]
		for i, v := range []float64{float64(s.Emitted), float64(s.Exported), float64(s.Lost()), float64(s.Waiting)} {
			out[i].Labels = []string{"exporter"}
			out[i].Points = append(out[i].Points, Point{Values: []string{name}, Value: v})
		}
	}
	return out
}

// sum adds counts to the counts with the same exporter name.
func sum(to map[string]trace.Stats, more []trace.Stats) {
	for _, s := range more {
		all := to[s.Exporter]
		all.Emitted += s.Emitted
		all.Exported += s.Exported
		all.Failed += s.Failed
		all.Dropped += s.Dropped
		all.Waiting += s.Waiting
		to[s.Exporter] = all
	}
}
