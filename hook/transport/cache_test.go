package transport_test

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
)

// The size of the cache of parsed JSON has no effect on what is sent.
func TestTheCacheOfAnySizeSendsTheSameRequests(t *testing.T) {
	for _, f := range guessed() {
		if f.stream {
			continue
		}
		var want []string
		for _, options := range [][]transport.Option{nil, {transport.CacheSize(0)}, {transport.CacheSize(2_000)}} {
			r := newRig(t, compact.Config{MaxContextTokens: 4_000}, options...)
			for n := range 3 {
				r.post(f, f.body("x", 18+n, 200))
			}
			var got []string
			for _, q := range r.server.Requests() {
				got = append(got, string(q.Body))
			}
			if len(got) != 3 || len(got[2]) >= len(f.body("x", 20, 200)) {
				t.Fatalf("%v: %d requests, and no compaction, want 3", f, len(got))
			}
			if want == nil {
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%v: requests with another cache differ", f)
			}
		}
	}
}
