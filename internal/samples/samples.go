// Package samples says how much of its samples a test takes: random histories, recorded
// sessions, faults, repetitions.
//
// `go test ./...` runs before every commit, so it takes some of them. The hosted workflow
// takes all (COMPACT_SAMPLES=all). With COMPACT_SOAK, each test takes even more, as many as
// it states. The choice is always the same, so a failure can be repeated. The assertions
// about a sample never depend on the number of samples.
package samples

import "os"

// share is the part that is taken by default: one of so many.
const share = 4

// Of returns how many of n samples a test takes: n where all are taken, else a quarter, rounded
// up, so that there is at least one if there are any.
func Of(n int) int {
	if All() {
		return n
	}
	return (n + share - 1) / share
}

// Every returns the distance between the samples that a test takes which takes each n-th:
// n where all are taken, else four times as much.
func Every(n int) int {
	if All() {
		return n
	}
	return n * share
}

// All reports whether tests take all their samples.
func All() bool {
	soak := os.Getenv("COMPACT_SOAK")
	return os.Getenv("COMPACT_SAMPLES") == "all" || soak != "" && soak != "0"
}
