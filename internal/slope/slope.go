// Package slope measures how the cost of an operation grows with the length of its
// input, for benchmarks.
package slope

import (
	"fmt"
	"math"
	"runtime"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/cputime"
)

// Lengths are the measured lengths.
var Lengths = []int{1_000, 10_000, 100_000}

// Report measures f for each length. It reports the processor time for each
// length, in milliseconds, and the slope from the first to the last on
// logarithmic scales: 1 is linear, 2 quadratic. prepare makes the input of f
// and is not measured. f is called several times, and the least time counts.
func Report(b *testing.B, prepare func(n int) (f func())) { ReportOver(b, Lengths, prepare) }

// ReportOver is Report for other lengths.
func ReportOver(b *testing.B, lengths []int, prepare func(n int) (f func())) {
	longest := lengths[len(lengths)-1]
	for b.Loop() {
		var first, last time.Duration
		for _, n := range lengths {
			last = least(max(5, longest/10/n), prepare(n))
			if n == lengths[0] {
				first = last
			}
			b.ReportMetric(float64(last.Microseconds())/1000, fmt.Sprintf("ms/%d", n))
		}
		grown := float64(longest) / float64(lengths[0])
		b.ReportMetric(math.Log(float64(last)/float64(first))/math.Log(grown), "slope")
		b.ReportMetric(0, "ns/op")
	}
}

func least(times int, f func()) time.Duration {
	took := time.Duration(math.MaxInt64)
	for range times {
		runtime.GC()
		before := cputime.Used()
		f()
		took = min(took, cputime.Used()-before)
	}
	return took
}
