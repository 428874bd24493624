package transport

import "testing"

// Observations are limited by number and by the bytes of their bodies.
func TestObservationsAreLimited(t *testing.T) {
	w := &watch{}
	if !w.enter(maxLookBytes-1) || !w.enter(1) || w.enter(1) || !w.enter(0) {
		t.Errorf("the limit of %d bytes is not kept: %+v", maxLookBytes, w)
	}
	w.leave(1)
	if w.idle() || w.enter(2) || !w.enter(1) {
		t.Errorf("after the end of one observation, its bytes are not free: %+v", w)
	}
	for w.looks < maxLooks {
		if !w.enter(0) {
			t.Fatalf("observation %d is refused below the limit", w.looks+1)
		}
	}
	if w.enter(0) {
		t.Errorf("an observation is accepted while %d run", w.looks)
	}
	for range maxLooks {
		w.leave(0)
	}
	if !w.idle() {
		t.Errorf("after the end of all observations: %+v, want idle", w)
	}
}
