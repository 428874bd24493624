package bpe

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/samples"
)

// naiveMerger merges a piece as in the definition: byte by byte, the lowest pair first,
// with look-ups by text.
type naiveMerger struct{ ranks map[string]rank }

func newNaive(v *vocabulary) naiveMerger {
	n := naiveMerger{make(map[string]rank, v.size)}
	texts := make([]string, v.size)
	for r := range rank(v.size) {
		if r < singles {
			texts[r] = string(v.bytes[r : r+1])
		} else {
			left, right := v.halves(r)
			texts[r] = texts[left] + texts[right]
		}
		n.ranks[texts[r]] = r
	}
	return n
}

func (n naiveMerger) merge(piece string) []rank {
	var parts []string
	for i := range len(piece) {
		parts = append(parts, piece[i:i+1])
	}
	for {
		best, at := none, 0
		for i := range len(parts) - 1 {
			if r, ok := n.ranks[parts[i]+parts[i+1]]; ok && r < best {
				best, at = r, i
			}
		}
		if best == none {
			break
		}
		parts[at] += parts[at+1]
		parts = slices.Delete(parts, at+1, at+2)
	}
	tokens := make([]rank, len(parts))
	for i, p := range parts {
		tokens[i] = n.ranks[p]
	}
	return tokens
}

// pieces yields random texts of valid UTF-8 to count as one piece.
func pieces(count, length int) []string {
	rng := rand.New(rand.NewPCG(11, 12))
	var out []string
	for range count {
		if p := Valid(randomText(rng, 3, length)); p != "" {
			out = append(out, p)
		}
	}
	return out
}

func TestMergeMakesTheTokensOfTheDefinition(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		v := s.enc.load()
		reference := newNaive(v)
		for _, piece := range pieces(scaled(100, samples.Of(1_000), 20_000), 40) {
			p := newParts(window * 2)
			if used := p.fill(v, []byte(piece)); used != len(piece) {
				t.Fatalf("%d of %d bytes were taken", used, len(piece))
			}
			p.merge(v)
			if want := reference.merge(piece); !slices.Equal(p.token[:p.n], want) {
				t.Fatalf("%q is merged to %v, want %v", piece, p.token[:p.n], want)
			}
		}
	})
}

// TestLongPiecesAreMergedAlikeInWindowsOfAnySize uses windows so small that seam
// checks fail and pieces are merged again with larger windows.
func TestLongPiecesAreMergedAlikeInWindowsOfAnySize(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		v := s.enc.load()
		reference := newNaive(v)
		again := 0
		for _, piece := range pieces(scaled(20, samples.Of(120), 1_000), 300) {
			want := len(reference.merge(piece))
			for _, size := range []int{block, 2 * block, 4 * block, window} {
				if _, ok := v.sweep(newParts(size), []byte(piece)); !ok {
					again++
				}
				if got := v.countLong(newParts(size), []byte(piece)); got != want {
					t.Fatalf("%q in windows of %d: %d tokens, want %d", piece, size, got, want)
				}
			}
		}
		if again == 0 {
			t.Error("no check of a seam failed, so the code after a failure was not tested")
		}
	})
}

func TestNeighborsAreThePairsThatMergingLeaves(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		v := s.enc.load()
		reference := newNaive(v)
		texts := make(map[rank]string, v.size)
		for text, r := range reference.ranks {
			texts[r] = text
		}
		rng := rand.New(rand.NewPCG(21, 22))
		yes := 0
		for range samples.Of(20_000) {
			left, right := rank(rng.IntN(5_000)), rank(rng.IntN(5_000))
			want := slices.Equal(reference.merge(texts[left]+texts[right]), []rank{left, right})
			if got := v.neighbors(left, right); got != want {
				t.Fatalf("%q and %q: %v, want %v", texts[left], texts[right], got, want)
			}
			if want {
				yes++
			}
		}
		if yes == 0 || yes == 20_000 {
			t.Errorf("%d of 20000 pairs were neighbors: the sample shows nothing", yes)
		}
	})
}

// TestEndOfAWindowHasABoundedEffect proves that no text needs larger windows
// than the size at which their last quarter is out of reach.
//
// The text after the end of a window can change how a pair before the end is merged.
// That can change the previous pair, and so on. Each of these merges comes later, and
// so has a higher rank, than the one that changed it. The test finds the longest such
// chain by taking the merges in the order of their ranks.
func TestEndOfAWindowHasABoundedEffect(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		v := s.enc.load()
		reach := make([]int, v.size) // the maximum number of bytes from the start of a token to the end of a chain that reaches the token
		longest := 0
		for r := range rank(v.size) {
			reach[r] = v.spelling[r].length()
			if r < singles {
				continue
			}
			left, right := v.halves(r)
			n := v.spelling[left].length() + reach[right]
			reach[r], reach[left] = max(reach[r], n), max(reach[left], n)
			longest = max(longest, n)
		}
		if longest > widest/4 {
			t.Errorf("an effect reaches %d bytes: windows of %d can be too small", longest, widest)
		}
		t.Logf("an effect reaches at most %d bytes", longest)
	})
}
