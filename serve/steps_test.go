package serve_test

import (
	"net/http"
	"os"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// shared returns the share of a request with which the next request begins.
func shared(before, is []byte) float64 {
	n := 0
	for n < len(before) && n < len(is) && before[n] == is[n] {
		n++
	}
	return float64(n) / float64(len(before))
}

// An agent that works for many steps gets no refusal, and the provider's cache
// stays useful: each request begins with the previous one, unless it was
// compacted. With COMPACT_SOAK=1 there are 300 steps.
func TestLongRunsKeepTheirPrefix(t *testing.T) {
	steps, window, sample := 48, 12_000, true
	if os.Getenv("COMPACT_SOAK") != "" {
		steps, window, sample = 300, 12_000, false
	}
	for _, f := range forms() {
		if f.stream == sample { // one form of each wire is enough
			continue
		}
		t.Run(f.String(), func(t *testing.T) {
			r := newRig(t, compact.Config{MaxContextTokens: window}, serve.Config{})
			var before []byte
			least, compacted := 1.0, 0
			for n := range steps {
				had := r.steps()
				if resp, answer := r.post(f, f.body("Fix it.", n+1, 300)); resp.StatusCode != http.StatusOK {
					t.Fatalf("step %d is refused: %s %s", n, resp.Status, answer)
				}
				all := r.server.Requests()
				is := all[len(all)-1].Body
				switch share := shared(before, is); {
				case r.steps() > had:
					compacted++
				case n > 0 && share < 0.95:
					t.Errorf("step %d begins with %.1f %% of the %d bytes before", n, 100*share, len(before))
				case n > 0:
					least = min(least, share)
				}
				before = is
			}
			if compacted == 0 || compacted > steps/5 {
				t.Errorf("%d of %d steps were compacted", compacted, steps)
			}
			t.Logf("%d steps, %d compactions, at least %.2f %% of the request before", steps, compacted, 100*least)
		})
	}
}
