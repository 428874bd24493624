package compact

import (
	"context"
	"testing"

	"github.com/agentcompact/compact/storage/memory"
)

// A second reading keeps the results of the first: a summary needs all of them.
func TestReadingKeepsEarlierResults(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 1_000_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	if _, err := m.Preflight(t.Context(), "s", reads(2)); err != nil {
		t.Fatal(err)
	}
	for _, s := range m.inMemory() {
		for _, l := range s.lanes {
			first := &reading{asked: []string{"0123456789ab"}, done: make(chan struct{}), found: map[string]string{"0123456789ab": "an original"}, bytes: 11}
			close(first.done)
			l.reading = first
			c := &call{m: m, s: s, lane: l}
			c.read(t.Context(), first.unasked([]string{"0123456789ab", "ba9876543210"}))
			if l.reading == first {
				t.Fatal("nothing is read")
			}
			<-l.reading.done
			all := map[string]string{}
			if l.reading.into(all); all["0123456789ab"] != "an original" || len(l.reading.unasked([]string{"0123456789ab", "ba9876543210"})) > 0 {
				t.Errorf("known after the second reading: %v, asked for %v", all, l.reading.asked)
			}
		}
	}
}
