package transport

import "testing"

// Observations are limited by number and by the bytes of their bodies.
func TestObservationsAreLimited(t *testing.T) {
	w := &watch{}
	if !w.enter(maxLookBytes-1) || !w.enter(1) || w.enter(1) || !w.enter(0) {
		t.Errorf("up to %d bytes: %+v", maxLookBytes, w)
	}
	w.leave(1)
	if w.idle() || w.enter(2) || !w.enter(1) {
		t.Errorf("after the end of one: %+v", w)
	}
	for w.looks < maxLooks {
		if !w.enter(0) {
			t.Fatalf("number %d", w.looks+1)
		}
	}
	if w.enter(0) {
		t.Errorf("number %d", w.looks)
	}
	for range maxLooks {
		w.leave(0)
	}
	if !w.idle() {
		t.Errorf("%+v", w)
	}
}
