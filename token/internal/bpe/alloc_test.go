//go:build !race

// The race detector makes sync.Pool drop items on purpose.

package bpe

import (
	"strings"
	"testing"
)

func TestCountAllocatesNothing(t *testing.T) {
	each(t, func(t *testing.T, s subject) {
		text := strings.Repeat("func (e *Encoding) CountTo(text string) — 漢字かな, naïve\n\t\tunmergeableIdentifierXYZ\n", 40)
		s.enc.Count(text)
		if n := testing.AllocsPerRun(50, func() { s.enc.Count(text) }); n != 0 {
			t.Errorf("%v allocations per call", n)
		}
	})
}
