package record

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/storage/memory"
)

// The first head of a session that was erased stays the first one, whoever repeats the
// erase of this session or of an earlier one of its name.
func TestRepeatedEraseKeepsTheFirstHead(t *testing.T) {
	a, dir := memory.New(), keyOf("s")
	graves := NewGraves(a)
	for _, c := range []struct {
		life, head string
		refused    string
		want       []string
	}{
		{"one", "a", "", []string{"a"}},
		{"one", "b", "", []string{"a", "b"}},
		{"one", "b", "", []string{"a", "b"}},
		{"one", "", "", []string{"a", "b"}},
		{"two", "c", "a hold", []string{"a", "b"}},
		{"two", "d", "", []string{"d"}},
		{"one", "e", "", []string{"d"}},
		{"two", "f", "", []string{"d", "f"}},
		{"", "g", "", []string{"g"}},
	} {
		stone := Tombstone{Session: tombstoneID(dir), Life: c.life, Head: c.head, Refused: c.refused}
		if err := bury(t.Context(), newChain(a, keyOf(erasedName), false), stone); err != nil {
			t.Fatal(err)
		}
		for _, g := range []*Graves{graves, NewGraves(a)} {
			if got, err := g.Heads(t.Context(), "s"); err != nil || !slices.Equal(got, c.want) {
				t.Errorf("after %s, %s: %q, %v, want %q", c.life, c.head, got, err, c.want)
			}
		}
	}
	if got, err := graves.Heads(t.Context(), "another"); err != nil || got != nil {
		t.Errorf("a session that was never erased: %q, %v", got, err)
	}
}
