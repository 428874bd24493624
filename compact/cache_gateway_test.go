package compact_test

import (
	"context"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/storage/memory"
)

// A gateway that sets marks of its own caches more than the request marks. The whole
// history would be cached like the view: as long as nothing is removed, both cost the same.
func TestTheWholeHistoryIsCachedByAGatewayToo(t *testing.T) {
	m, err := compact.New(t.Context(), compact.Config{Prices: sonnet, MaxContextTokens: 200_000, Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	for call := range 4 {
		req, err := anthropic.Wire.ParseRequest(markedTalk(2+call, -1, "prompt"), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Preflight(t.Context(), "s", req.Messages(), compact.WithRequest(req))
		if err != nil || res.Triggered {
			t.Fatal(err, res.Triggered)
		}
		if b := res.Bill; b.Estimated != b.Whole {
			t.Errorf("call %d removes nothing: estimated %+v, with the whole history %+v", call, b.Estimated, b.Whole)
		}
		m.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true, CachedTokens: res.After.Total * 9 / 10})
	}
}
