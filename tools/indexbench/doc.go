// Package indexbench measures the turn index beside bbolt, with the same data
// in the same run. It is a module of its own, so that nobody who uses compact
// gets a database.
//
//	go test -bench . -benchmem
//
// COMPACT_BENCH_TURNS is how many turns there are, 1,000,000 if not set.
package indexbench
