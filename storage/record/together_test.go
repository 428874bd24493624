package record

import (
	"strings"
	"testing"
)

// The ledgers that are read concurrently are limited by their number and by their announced
// bytes. A record without a size counts with the largest ledger that is allowed.
func TestLedgersThatAreReadTogetherAreLimited(t *testing.T) {
	const mega = 1 << 20
	for name, c := range map[string]struct {
		sizes       []int64 // of the steps 1, 2, …
		from, wants int
	}{
		"small ones":              {make40(1000), 1, 32},
		"the last ones":           {make40(1000), 31, 10},
		"an unknown step":         {make40(1000), 41, 1},
		"two of 30 MB":            {[]int64{30 * mega, 30 * mega, 30 * mega}, 1, 2},
		"exactly the limit":       {[]int64{32 * mega, 32 * mega, 1}, 1, 2},
		"one that is too large":   {[]int64{90 * mega, 1}, 1, 1},
		"a large one after small": {[]int64{1, 1, 64 * mega}, 1, 2},
		"without a size":          {[]int64{1, 0, 1}, 1, 1},
	} {
		var l *ledgerLines
		for i, size := range c.sizes {
			l = &ledgerLines{step: i + 1, is: fileHash{Bytes: size}, done: len(c.sizes), before: l}
			l = &ledgerLines{is: fileHash{Bytes: 90 * mega}, done: len(c.sizes), before: l} // a summary
		}
		if got := l.together(c.from); got != c.wants {
			t.Errorf("%s: %d ledgers, want %d", name, got, c.wants)
		}
	}
}

func make40(size int64) []int64 {
	out := make([]int64, 40)
	for i := range out {
		out[i] = size
	}
	return out
}

// A file that became longer than its record is hashed as a whole, but only the recorded bytes
// stay in memory.
func TestLongerFileIsHashedAndNotKept(t *testing.T) {
	text := strings.Repeat("x", 1000)
	for _, c := range []struct{ most, kept int }{{0, 0}, {10, 10}, {999, 999}, {1000, 1000}, {5000, 1000}} {
		data, is, err := readHashed(strings.NewReader(text), int64(c.most))
		if err != nil || len(data) != c.kept || is.Bytes != 1000 || is.SHA256 != hashOf([]byte(text)) {
			t.Errorf("at most %d: %d bytes kept, %+v, %v", c.most, len(data), is, err)
		}
	}
}
