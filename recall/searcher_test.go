package recall

import (
	"errors"
	"regexp"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/internal/excerpt"
	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/lookup"
)

// A search stops by itself after its time limit, and keeps its results.
func TestSearchEndsAfterItsTimeLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := excerpt.WithMatchTime(t.Context())
		defer cancel()
		time.Sleep(excerpt.MatchTime)
		synctest.Wait()
		s := &lookup.Session{}
		r := &searcher{s: s, matcher: excerpt.NewMatcher(ctx, regexp.MustCompile("a")), most: 9, left: 99, seen: map[string]bool{}, shown: map[string]bool{}}
		line := []byte(`{"role":"user","content":"a","meta":{"fp":"00112233445566778899aabbccddeeff","refs":["001122334455"]}}`)
		if err := r.line(line, ledger.Eviction{}); !errors.Is(err, excerpt.ErrLongMatch) {
			t.Error(err)
		}
	})
}
