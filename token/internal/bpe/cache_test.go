package bpe

import (
	"strings"
	"testing"
)

func TestCacheKeyDependsOnlyOnThePiece(t *testing.T) {
	c := new(cache)
	piece := "unmergeableIdentifier"
	for n := 1; n <= len(piece); n++ {
		a, okA := wordsOf([]byte("x"+piece[:n]+"() and more text"), 1, n)
		b, okB := wordsOf([]byte(piece[:n]+" = 1; other text"), 0, n)
		if !okA || !okB {
			t.Fatalf("a piece of %d bytes is not remembered", n)
		}
		if got := c.slot(a).find(a); got != 0 {
			t.Fatalf("a piece of %d bytes that was never put counts %d", n, got)
		}
		c.slot(a).put(a, n+1)
		if got := c.slot(b).find(b); got != n+1 {
			t.Errorf("a piece of %d bytes, put with other text behind it, counts %d, want %d", n, got, n+1)
		}
	}
}

func TestCacheDistinguishesPiecesInTheSameSlot(t *testing.T) {
	var s cacheSlot
	words := func(text string) words {
		w, ok := wordsOf([]byte(text+strings.Repeat(" ", 8)), 0, len(text))
		if !ok {
			t.Fatalf("%q is not remembered", text)
		}
		return w
	}
	s.put(words("aaaaaaaabbbbbbbbcccc"), 5)
	for _, other := range []string{"aaaaaaaabbbbbbbbcccd", "aaaaaaaabbbbbbbdcccc", "aaaaaaadbbbbbbbbcccc", "aaaaaaaabbbbbbbbccc", "aaaaaaaabbbbbbbbcccc\x00"} {
		if got := s.find(words(other)); got != 0 {
			t.Errorf("%q is mistaken for another piece: %d", other, got)
		}
	}
	s.put(words("other"), 2)
	if got := s.find(words("aaaaaaaabbbbbbbbcccc")); got != 0 {
		t.Errorf("replaced text is found: %d", got)
	}
}

// A slot is being written if its sequence number is odd or changes during a read.
func TestCacheDoesNotReadASlotThatIsWritten(t *testing.T) {
	var s cacheSlot
	w, _ := wordsOf([]byte("identifier......"), 0, 10)
	s.put(w, 3)
	s.seq.Add(1)
	if got := s.find(w); got != 0 {
		t.Errorf("found %d", got)
	}
	s.put(w, 4)
	s.seq.Add(1)
	if got := s.find(w); got != 3 {
		t.Errorf("found %d after a put into a slot that another writer holds, want 3", got)
	}
}

func TestCacheSkipsLongPiecesAndThoseAtTheEnd(t *testing.T) {
	b := make([]byte, 100)
	if _, ok := wordsOf(b, 0, cachedSize+1); ok {
		t.Error("a piece that is too long is remembered")
	}
	if _, ok := wordsOf(b, 95, 5); ok {
		t.Error("a piece is read beyond the end of the text")
	}
}
