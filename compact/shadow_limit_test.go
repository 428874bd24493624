package compact

import (
	"context"
	"strings"
	"testing"
)

// If too many calls are being observed, a call is not observed, and later calls do not
// count it.
func TestCallsThatWereNotObservedAreForgotten(t *testing.T) {
	m, err := New(t.Context(), Config{Model: "gpt-4", Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	left := func() bool {
		res, err := m.Preflight(t.Context(), "s", reads(1))
		if err != nil {
			t.Fatal(err)
		}
		return strings.Contains(strings.Join(res.Warnings, "\n"), "was not observed")
	}
	m.looking.Add(maxLooking)
	for range maxLooking + 1 {
		if !left() {
			t.Fatal("more calls are observed than allowed")
		}
	}
	if m.looking.Add(-maxLooking); left() {
		t.Error("a call was not observed although no other call is")
	}
}
