package serve

import (
	"fmt"
	"net/http/httptest"
	"slices"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
)

// fullLive returns a page with the maximum memory for a given number of sessions.
func fullLive(sessions int) *live {
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	l := newLive(func(s string) string { return s }, at)
	for i := range sessions * livePoints {
		at = at.Add(time.Second)
		res := &compact.Result{Session: fmt.Sprintf("s-%d", i%sessions), TokensIn: 1000 + i, Triggered: i%31 == 0, MaxTokens: 200_000}
		res.After.Total = 400 + i%100
		l.result(at, res)
	}
	return l
}

// Each open browser requests the page every two seconds. A page with unchanged data is
// not drawn again for each of these requests.
func TestUnchangedPageIsNotRendered(t *testing.T) {
	h := &Handler{live: fullLive(20)}
	ask := func(tag string) *httptest.ResponseRecorder {
		r := httptest.NewRequest("GET", "http://localhost/live", nil)
		r.Header.Set("If-None-Match", tag)
		w := httptest.NewRecorder()
		h.showLive(w, r, "main")
		return w
	}
	first := ask("")
	n := testing.AllocsPerRun(1, func() {
		if w := ask(first.Header().Get("Etag")); w.Code != 304 {
			t.Errorf("status %d", w.Code)
		}
	})
	if n > 100 {
		t.Errorf("an answer without news takes %.0f allocations", n)
	}
}

// Calls continue while a page is drawn, and do not change that page.
func TestPageIsRenderedFromACopy(t *testing.T) {
	l := fullLive(4)
	want, own := l.view(false), l.copied()
	l.mu.Lock() // like a call that adds its result: rendering does not take the lock
	for _, s := range l.sessions {
		clear(s.points)
		clear(s.compactions)
	}
	clear(l.line)
	clear(l.failures)
	l.mu.Unlock()
	got := own.draw(false)
	if got.TokenWide != want.TokenWide || len(got.Sessions) != len(want.Sessions) || got.tag != want.tag {
		t.Fatal("the page changes while it is drawn")
	}
	for i := range got.Sessions {
		if got.Sessions[i].Wide != want.Sessions[i].Wide || got.Sessions[i].Name != want.Sessions[i].Name || !slices.Equal(got.Sessions[i].Last, want.Sessions[i].Last) {
			t.Fatalf("session %s changes while it is drawn", want.Sessions[i].Name)
		}
	}
}
