package cputime

import (
	"crypto/sha256"
	"testing"
)

func TestWorkIsCounted(t *testing.T) {
	before := Used()
	sum := sha256.Sum256(nil)
	for Used() == before { // endless if Used counts nothing
		for range 1000 {
			sum = sha256.Sum256(sum[:])
		}
	}
	if Used() < before {
		t.Errorf("%v after %v", Used(), before)
	}
}
