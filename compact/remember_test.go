package compact

import (
	"context"
	"testing"
	"testing/synctest"

	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/storage/memory"
)

// Edits that a call appended are in its lane's memory: the next call replays nothing.
func TestEditsOfACallAreRemembered(t *testing.T) {
	m, err := New(t.Context(), Config{Preset: "masking", Model: "gpt-4", MaxContextTokens: 1_000_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	edits := 0
	for n := range 60 {
		if _, err := m.Preflight(t.Context(), "s", reads(n+1)); err != nil {
			t.Fatal(err)
		}
		for _, s := range m.inMemory() {
			for of, l := range s.lanes {
				_, _, own := s.record(of)
				if edits = max(edits, own); l.memo.edits != own || !l.memo.isCurrent(s, of) {
					t.Fatalf("after %d calls %d edits are remembered of %d", n+1, l.memo.edits, own)
				}
			}
		}
	}
	if edits < 40 {
		t.Errorf("%d edits, want at least 40", edits)
	}
}

// A lane can hold a message that another process edited before this one reads the step with the
// edit. From then on, the message counts as edited.
func TestEditsOfOtherProcessesAreRecognized(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4", MaxContextTokens: 1_000_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	for files := range 2 { // the second continues with the remembered state
		history := reads(files + 2)
		if _, err := m.Preflight(t.Context(), "s", history); err != nil {
			t.Fatal(err)
		}
		for _, s := range m.inMemory() {
			for _, l := range s.lanes {
				if _, known := l.memo.now.conv.Origin(2, 0); known != (files == 1) {
					t.Errorf("after %d calls the edit is known: %v", files+1, known)
				}
			}
			s.mu.Lock()
			s.origins[history[2].Fingerprint()] = map[int]policy.Origin{0: {Chars: 5000, Ref: "0123456789ab"}}
			s.mu.Unlock()
		}
	}
}

// If another process appends edits first, a call has decided without those edits. It decides
// again, and has nothing left to change.
func TestAppendAfterOthersDecidesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := memory.New()
		var two [2]*CompactManager
		for i := range two {
			m, err := New(t.Context(), Config{Preset: "masking", Model: "gpt-4", MaxContextTokens: 1_000_000, Archive: a})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = m.Close(context.Background()) }()
			two[i] = m
		}
		changed, masked := 0, 0
		for n := range 30 {
			first, err := two[0].Preflight(t.Context(), "s", reads(n+1))
			if err != nil {
				t.Fatal(err)
			}
			second, err := two[1].Preflight(t.Context(), "s", reads(n+1))
			if err != nil {
				t.Fatal(err)
			}
			if first.MaskedCount > masked {
				changed, masked = changed+1, first.MaskedCount
			}
			if second.Triggered || second.MaskedCount != first.MaskedCount {
				t.Fatalf("call %d repeats changes of the other process: %d masks, there are %d", n, second.MaskedCount, first.MaskedCount)
			}
		}
		if changed < 10 {
			t.Errorf("%d calls changed something, want at least 10", changed)
		}
	})
}
