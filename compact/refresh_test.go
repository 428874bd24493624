package compact

import (
	"testing"
	"time"
)

// The steps of other processes are read periodically, not at every call, because each read is
// a request to the archive.
func TestStepsOfOthersAreRequestedPeriodically(t *testing.T) {
	began := time.Now()
	s, asked := &session{checked: began}, 0
	for at := time.Duration(0); at < 10*headEvery; at += headEvery / 20 {
		if s.startIfDue(began.Add(at)) {
			asked++
			s.asked()
		}
	}
	if asked != 9 {
		t.Errorf("the steps were requested %d times in ten intervals, of which the first needs no request, want 9", asked)
	}
}
