// Package samples tells a test how many of its samples to use. Samples are random
// histories, recorded sessions, faults and repetitions.
//
// `go test ./...` runs before every commit, so it uses a part of the samples. The hosted
// workflow uses all (COMPACT_SAMPLES=all). With COMPACT_SOAK, each test uses even more, by
// its own rule. The choice is always the same, so a failure can be repeated. The assertions
// about a sample never depend on the number of samples.
package samples

import "os"

// The default parts: one sample of eight, and of sixteen for samples that differ little.
const share, few = 8, 16

// Of returns the number of samples that a test uses out of n: all with COMPACT_SAMPLES=all,
// else an eighth, rounded up.
func Of(n int) int {
	if All() {
		return n
	}
	return (n + share - 1) / share
}

// Few is Of for a test whose samples differ little: it returns one of sixteen.
func Few(n int) int {
	if All() {
		return n
	}
	return (n + few - 1) / few
}

// Every is for a test that uses one sample in n. It returns n with COMPACT_SAMPLES=all,
// else eight times n.
func Every(n int) int {
	if All() {
		return n
	}
	return n * share
}

// All reports whether tests use all their samples.
func All() bool {
	soak := os.Getenv("COMPACT_SOAK")
	return os.Getenv("COMPACT_SAMPLES") == "all" || soak != "" && soak != "0"
}
