// Package samples says how much of its samples a test takes: random histories, recorded
// sessions, faults, repetitions.
//
// `go test ./...` is what somebody waits for before a commit, and takes some of them. The
// hosted workflow takes all (COMPACT_SAMPLES=all), and COMPACT_SOAK takes more than these,
// which each test says for itself. Which ones are taken is always the same, so that a
// failure can be repeated; what is asserted of a sample never depends on how many there are.
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
