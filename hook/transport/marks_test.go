package transport_test

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/internal/provider"
)

// With cache.marks auto, an agent that sets no marks has a cache: its own model
// can write summaries, and the summary is cached.
func TestAutomaticCacheMarksEnableSummaries(t *testing.T) {
	f := forms()[5].withTools()
	for _, auto := range []string{"keep", "auto"} {
		r := agentRig(t, compact.Config{Cache: compact.CacheConfig{Marks: auto}}, &byteCache{}, writes)
		for rounds := 1; rounds <= 9; rounds++ {
			r.post(f, f.body("hi", rounds, 1200))
		}
		asked, _ := r.summaries()
		bodies := r.got()
		last := bodies[len(bodies)-1]
		switch marks := len(cacheMarks.FindAllString(last, -1)); auto {
		case "keep":
			if len(asked) != 0 || marks != 0 || bodies[0] != f.body("hi", 1, 1200) {
				t.Errorf("keep: %d marks, %d summaries asked for", marks, len(asked))
			}
		default:
			if len(asked) == 0 || marks != 3 || !strings.Contains(last, `COMPACT-SUMMARY\u003e","cache_control"`) && !strings.Contains(last, `COMPACT-SUMMARY>","cache_control"`) {
				t.Errorf("auto: %d marks, %d summaries asked for: %.2000s", marks, len(asked), last)
			}
		}
		for _, q := range r.server.Requests() {
			if q.Status != 200 {
				t.Errorf("%s: refused: %.300s", auto, q.Body)
			}
		}
		r.quiet()
	}
	chat := forms()[0]
	r := newRig(t, compact.Config{Cache: compact.CacheConfig{Marks: "auto"}})
	r.post(chat, chat.body("hi", 2, 10))
	if got := r.got()[0]; got != chat.body("hi", 2, 10) {
		t.Errorf("%s: a wire without marks is %s", provider.Chat, got)
	}
}
