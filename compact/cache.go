package compact

import (
	"hash/maphash"
	"slices"
	"time"

	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/trace"
)

// cachedFront returns the number of tokens before an edit that stay in the provider's
// cache. If the cache needs marks, only tokens up to the last mark stay.
func (c *call) cachedFront(front int) int {
	req, ok := c.q.wire.(wire.Marker)
	if !ok || c.ep.card.Marks == 0 {
		return c.ep.card.Cached(front)
	}
	if c.stops == nil {
		c.stops = c.marksIn(req)
	}
	best := 0
	for _, at := range c.stops {
		if at <= front {
			best = at
		}
	}
	return c.ep.card.Cached(best)
}

// cached returns the number of tokens that the provider's cache should hold: of the
// call's prompt, and of the prompt with the whole history. It sets c.left and
// c.leftWhole to the same numbers, except that they do not become 0 if the last usage
// shows no cached tokens.
func (a *account) cached(c *call) (view, whole int) {
	if c.left, c.leftWhole = 0, 0; a.cacheIsGone(c) {
		return 0, 0
	}
	c.left, c.leftWhole = a.common(c), min(a.stored(), c.res.TokensIn)
	if a.isFar(c) {
		c.leftWhole = min(c.left, c.leftWhole)
	}
	if a.cacheMissed() {
		return 0, 0
	}
	return c.left, c.leftWhole
}

// cacheIsCold reports whether no message of the lane's last prompt is in the cache: there
// was no last prompt, it is too old, its model or tools were different, the provider
// reported no cached tokens, or the provider does not look back that far.
func (a *account) cacheIsCold(c *call) bool { return a.cacheIsGone(c) || a.cacheMissed() || a.isFar(c) }

// isFar reports whether the provider has shown that it looks back only a limited number of
// blocks from a mark, and the end of the last prompt is farther away.
func (a *account) isFar(c *call) bool { return a.limitsReach() && !c.reaches() }

// cacheIsGone is like cacheIsCold, but ignores the usage that the provider reported.
func (a *account) cacheIsGone(c *call) bool {
	switch {
	case !a.known, a.model != c.ep.name, a.tools != maphash.Bytes(toolSeed, c.q.tools):
		return true
	}
	return a.cacheHasExpired(c)
}

// maxOverlap is the most time by which an overlapping call can begin earlier than the
// lane's last call. A larger difference means that the clock ran backwards.
const maxOverlap = 10 * time.Minute

// cacheHasExpired reports whether the lifetime of the cache has passed. If the clock ran
// backwards, it warns and reports false.
func (a *account) cacheHasExpired(c *call) bool {
	gap := c.began.Sub(a.last)
	if gap < -maxOverlap {
		a.warn("clock", "the clock ran backwards between two calls: the idle time of the provider's cache is unknown, and zero is assumed")
		return false
	}
	return c.ep.card.Lifetime > 0 && gap > c.ep.card.Lifetime
}

// common returns the number of tokens that the call's prompt shares with the
// previous one, and that the provider finds in its cache. It uses recorded sizes, so
// that no message is counted again.
func (a *account) common(c *call) int { return a.found(c, a.same(c)) }

// same returns the number of leading messages that the view and the previous
// view have in common. Messages that both conversations share in memory are
// equal without a comparison.
func (a *account) same(c *call) int {
	view, n := c.res.Messages, 0
	if a.conv != nil && c.shown != nil {
		n = min(a.conv.Shared(c.shown), len(view), len(a.sent))
	}
	for n < len(view) && n < len(a.sent) && view[n].Fingerprint() == a.sent[n].fp {
		n++
	}
	return n
}

// withoutRefused forgets the last call if the provider refused its request, because
// then nothing of it is in the cache.
func (a *account) withoutRefused() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.refused {
		a.refused, a.sentPrompt, a.before = false, a.before, sentPrompt{}
	}
}

// recordCall records a call.
func (a *account) recordCall(c *call) {
	n := a.same(c)
	if n < len(a.sent) && n < len(c.res.Messages) {
		c.broken = &trace.CacheBreak{Index: n, Role: string(c.res.Messages[n].Role), Tokens: a.total - min(a.total, a.found(c, n))}
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	c.res.Warnings = append(c.res.Warnings, a.waiting...)
	a.waiting = nil
	a.seen = observedUsage{}
	a.calls++
	if a.model != c.ep.name {
		n = 0 // the recorded sizes are in tokens of another model
	}
	a.before = a.sentPrompt
	a.before.conv = nil // otherwise conv would keep the old view in memory
	if n < len(a.sent) {
		a.sent = slices.Clip(a.sent[:n]) // a.before keeps its list
	}
	a.known, a.last, a.model, a.tools = true, c.began, c.ep.name, maphash.Bytes(toolSeed, c.q.tools)
	a.total, a.in, a.inMarked, a.conv = c.res.After.Total, c.res.TokensIn, c.markedWhole(), c.shown
	a.marks, a.marked = c.sentMarks()
	upTo := 0
	if n > 0 {
		upTo = a.sent[n-1].upTo
	}
	for _, m := range c.res.Messages[n:] {
		upTo += c.ep.estimator.Message(m)
		a.sent = append(a.sent, sentMessage{m.Fingerprint(), upTo})
	}
}
