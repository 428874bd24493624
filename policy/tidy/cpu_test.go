//go:build unix

package tidy

import (
	"syscall"
	"testing"
	"time"
)

// processor returns the processor time of this process.
func processor(b *testing.B) time.Duration {
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkReduceProcessor measures BenchmarkReduce in processor time, garbage collection
// included. Other load on the machine does not change it.
func BenchmarkReduceProcessor(b *testing.B) {
	all := samples
	for _, s := range samples[:3] { // the text in the JSON of a tool
		text := s.make
		all = append(all[:len(all):len(all)], sample{"json/" + s.name, s.call, func(n int) string { return inJSON(map[string]string{"stdout": text(n)}) }})
	}
	for _, s := range all {
		r := s.result(1 << 20)
		b.Run(s.name, func(b *testing.B) {
			began := processor(b)
			for b.Loop() {
				Reduce(r, Options{})
			}
			b.ReportMetric(float64(processor(b)-began)/float64(b.N)/float64(time.Millisecond), "cpu-ms/MB")
		})
	}
}
