package indexbench

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"

	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/storage/turnindex"
)

func TestBothGiveTheSameAnswers(t *testing.T) {
	d := build(t, 5000)
	for n := uint32(1); n <= 5000; n += 7 {
		ours, err := d.table.Lookup(t.Context(), turnindex.Turn(n).Query())
		if err != nil {
			t.Fatal(err)
		}
		theirs, err := d.get(turnindex.Turn(n))
		if err != nil {
			t.Fatal(err)
		}
		if len(ours) != 2 || !slices.Equal(ours, theirs) {
			t.Fatalf("turn %d: %v and %v", n, ours, theirs)
		}
	}
}

// measure runs the function do, and reports processor time in addition to
// elapsed time.
func measure(b *testing.B, do func() error) {
	b.Helper()
	b.ReportAllocs()
	started := cpuTime()
	for b.Loop() {
		if err := do(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(cpuTime()-started)/float64(b.N), "cpu-ns/op")
}

func BenchmarkIndex(b *testing.B) {
	d := build(b, turns())
	runtime.GC() // the input of the build is garbage
	rng := rand.New(rand.NewPCG(1, 2))
	turn := func() turnindex.Key { return turnindex.Turn(1 + rng.Uint32N(uint32(d.turns))) }
	b.Run("lookup/turnindex", func(b *testing.B) {
		measure(b, func() error { return two(d.table.Lookup(b.Context(), turn().Query())) })
	})
	b.Run("lookup/bbolt", func(b *testing.B) {
		measure(b, func() error { return two(d.get(turn())) })
	})
	b.Run("recall/turn", func(b *testing.B) {
		recall(b, d, func() string { return turn().String() + ":observation" })
	})
	b.Run("recall/ref", func(b *testing.B) {
		recall(b, d, func() string { return d.refs[rng.IntN(len(d.refs))] })
	})
}

// two is the number of records of every turn: an action and an observation.
func two(got []turnindex.Record, err error) error {
	if err == nil && len(got) != 2 {
		err = fmt.Errorf("%d records", len(got))
	}
	return err
}

// recall is the whole recall: the page, the line, and its text. The preset
// loads no vocabulary.
func recall(b *testing.B, d *data, ref func() string) {
	m, err := compact.New(b.Context(), compact.Config{Preset: "gateway", Archive: d.archive})
	if err != nil {
		b.Fatal(err)
	}
	defer m.Close(b.Context())
	measure(b, func() error {
		_, err := m.Recall(b.Context(), "s", ref())
		return err
	})
}
