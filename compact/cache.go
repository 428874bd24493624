package compact

import (
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
)

// CacheConfig configures the marks for the provider's prompt cache.
type CacheConfig struct {
	// Marks is "keep" (only the caller's marks; the mark of a removed message moves
	// to the last message before it that stays) or "auto" (up to the provider's
	// limit, marks are also set after the system prompt or the tools, after the
	// summary, and at the last message); default "keep". It applies to requests
	// through hook/transport to a provider whose cache needs marks, which is
	// Anthropic.
	Marks string `mapstructure:"marks" validate:"oneof=keep auto"`
}

const marksAuto = "auto"

// MarksCache reports whether the manager sets marks for the prompt cache
// ([CacheConfig]).
func (m *CompactManager) MarksCache() bool {
	return m != nil && !m.cfg.Observe && m.cfg.Cache.Marks == marksAuto
}

// cachedFront returns the number of tokens before an edit that stay in the provider's
// cache. If the cache needs marks, only tokens up to the last mark stay.
func (c *call) cachedFront(front int) int {
	req, ok := c.q.wire.(wire.Marker)
	if !ok || c.ep.card.Marks == 0 {
		return c.ep.card.Cached(front)
	}
	if c.stops == nil {
		c.stops = c.marksIn(req.Marked())
	}
	best := 0
	for _, at := range c.stops {
		if at <= front {
			best = at
		}
	}
	return c.ep.card.Cached(best)
}

// marksIn returns the positions of cache marks in the view, in tokens and in
// order, including automatic ones.
func (c *call) marksIn(marked []bool) []int {
	view, auto := c.view(), c.m.MarksCache()
	stops, at := []int{}, c.fixed
	if auto && len(c.q.tools) > 0 {
		stops = append(stops, at)
	}
	ends := c.markedIn(marked)
	for i := range view.Messages {
		m := &view.Messages[i]
		at += view.Tokens[i]
		if ends[i] || auto && (i == 0 && m.Role == message.RoleSystem || policy.IsSummary(*m)) {
			stops = append(stops, at)
		}
	}
	return stops
}

// markedIn returns the messages of the view with a mark of the caller: their own mark,
// or the mark of a removed message after them.
func (c *call) markedIn(marked []bool) map[int]bool {
	in := make(map[int]int, len(marked)) // index in the request → index in the view
	for i := range c.now.conv.Len() {
		if src := c.now.conv.Source(i); src >= 0 {
			in[src] = i
		}
	}
	ends := map[int]bool{}
	for src := range marked {
		if !marked[src] {
			continue
		}
		for to := src; to >= 0; to-- {
			if i, kept := in[to]; kept {
				ends[i] = true
				break
			}
		}
	}
	return ends
}
