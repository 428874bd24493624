package policy_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/agentcompact/compact/policy"
)

// BenchmarkMask and BenchmarkPartition measure single passes: the time per
// message does not depend on the number of messages.
func BenchmarkMask(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		v := benchView(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if p, err := (policy.Mask{WindowTurns: 10, KeepFirst: 2}).Propose(context.Background(), v); err != nil || len(p.Groups) != 1 {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/message")
		})
	}
}

func BenchmarkPartition(b *testing.B) {
	for _, n := range []int{100, 1_000, 10_000, 100_000} {
		v := benchView(n)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				if p := v.Partition(policy.Keep{Turns: 6, Pairs: 4}); len(p.Remainder) == 0 {
					b.Fatal("the remainder is empty")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/message")
		})
	}
}

func benchView(n int) *policy.View {
	msgs := loop(n/2, 30)
	v := policy.NewView(msgs, pins, words{})
	v.Budget, v.Keep = budget(1000), policy.Keep{Turns: 6, Pairs: 4}
	return v
}
