// Package indexbench compares the turn index with bbolt, with the same data in
// the same run. It is a module of its own, so that users of compact don't get a
// database as a dependency.
//
//	go test -bench . -benchmem
//
// COMPACT_BENCH_TURNS is the number of turns; the default is 1,000,000.
package indexbench
