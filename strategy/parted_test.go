package strategy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
)

func partedText(i int) string {
	return strings.Repeat(fmt.Sprintf("Never delete the folder %d. The tests of it must pass first. Thanks! ", i), 4)
}

// A text that was cut into portions is not cut again, whichever summary needs it.
func TestPortionsOfAKnownTextAreKept(t *testing.T) {
	var k parted
	text := partedText(1)
	first := k.of(text)
	if !slices.Equal(first, portionsOf(text)) || len(first) < leastPieces {
		t.Fatalf("portions %v, want %v", first, portionsOf(text))
	}
	if again := k.of(strings.Clone(text)); &again[0] != &first[0] {
		t.Error("a known text was cut again")
	}
	if other := k.of(partedText(2)); slices.Equal(other, first) && &other[0] == &first[0] {
		t.Error("two texts have the same portions")
	}
}

// A text in use survives many others, and the memory stays bounded.
func TestKeptPortionsAreBounded(t *testing.T) {
	var k parted
	text := partedText(0)
	first := k.of(text)
	for i := range 3 * mostParted / len(first) {
		k.of(partedText(i + 1))
		if again := k.of(text); &again[0] != &first[0] {
			t.Fatalf("a text in use was forgotten after %d others", i)
		}
		if i%50 == 0 && (k.size > mostParted || held(k.old) > mostParted || held(k.now) != k.size) {
			t.Fatalf("%d portions and %d, want at most %d each", k.size, held(k.old), mostParted)
		}
	}
	var huge strings.Builder
	for i := range mostParted {
		fmt.Fprintf(&huge, "Line %d says something else.\n", i)
	}
	before := k.size
	if all := k.of(huge.String()); len(all) < mostParted || k.size != before {
		t.Errorf("a huge text has %d portions; %d portions were kept before and %d after, want no change", len(all), before, k.size)
	}
}

func held(m map[[32]byte][]portion) (n int) {
	for _, all := range m {
		n += len(all) + 1
	}
	return n
}

func TestPortionsAreKeptForSummariesAtOnce(t *testing.T) {
	var k parted
	var all sync.WaitGroup
	for g := range 4 {
		all.Go(func() {
			for i := range 200 {
				text := partedText(i % (50 + g))
				if got := k.of(text); !slices.Equal(got, portionsOf(text)) {
					t.Errorf("text %d: %v, want %v", i, got, portionsOf(text))
				}
			}
		})
	}
	all.Wait()
}
