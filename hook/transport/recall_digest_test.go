package transport

import (
	"encoding/json"
	"fmt"
	"testing"
)

// At most two histories stay in memory as read. A history that starts over each time
// takes no more memory.
func TestReadingsAreBounded(t *testing.T) {
	const length = 100
	history := func(n int) []json.RawMessage {
		elems := make([]json.RawMessage, length)
		for i := range elems {
			elems[i] = fmt.Appendf(nil, `{"role":"user","content":"%d.%d"}`, n, i)
		}
		return elems
	}
	r := new(readings)
	for n := range 20 {
		r.digests(history(n))
		if len(r.known) > 3*length {
			t.Fatalf("%d elements are kept of histories of %d", len(r.known), length)
		}
	}
	before := len(r.known)
	if again := r.digests(history(19)); again[length] != digestOf(history(19)) || len(r.known) != before {
		t.Errorf("a known history is read again, or differs: %d elements, %d before", len(r.known), before)
	}
}
