package compact

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/trace"
)

// account holds a lane's facts about the costs of its calls and about the provider's
// cache. The lane's lock guards it. mu guards the fields that Observe can also set,
// without the lane's lock.
type account struct {
	calls int

	last      time.Time            // time of the last call
	model     string               // its model
	sent      []sentMessage        // its view
	conv      *reduce.Conversation // conversation of the view; nil: unknown, so views are compared message by message
	total     int                  // size of the view in tokens
	in        int                  // size of the whole history in tokens
	fruitless fruitless            // view from which on the candidates are evaluated again
	tools     uint64               // a hash of its tools

	mu      sync.Mutex
	seen    observedUsage
	unread  int // consecutive calls whose usage shows no tokens read from a cache
	said    map[string]bool
	waiting []string // warnings for the next call
}

// fruitless is a view for which an offer had no effect.
type fruitless struct {
	upTo  int         // maximum size in tokens of the view without a new evaluation
	after reduce.Link // outcome of its newest compaction
}

// sentMessage is a message of a view that was sent.
type sentMessage struct {
	fp   message.Fingerprint
	upTo int // tokens of the view from its start to the end of this message, without tool schemas and other fixed parts
}

// observedUsage holds what Observe reported since the last call.
type observedUsage struct {
	known  bool // the provider reported cached tokens
	cached int  // tokens
	expect int  // tokens of the prompt in the cache of a provider that has a cache; earlier reports of the provider have no effect on it
}

var toolSeed = maphash.MakeSeed()

// cached returns the number of tokens that should be in the provider's cache: tokens of
// the call's prompt, and of the prompt with the whole history. It sets c.left to the
// tokens that the previous call left in the cache.
func (a *account) cached(c *call) (view, whole int) {
	if c.left = 0; a.gone(c) {
		return 0, 0
	}
	if c.left = a.common(c); a.missed() {
		return 0, 0
	}
	return c.left, min(a.in, c.res.TokensIn)
}

// cold reports whether none of the lane's last prompt is in the cache: there was
// no last prompt, it is too old, its model or tools were different, or the
// provider reported no cached tokens.
func (a *account) cold(c *call) bool { return a.gone(c) || a.missed() }

// gone is like cold, but ignores the usage that the provider reported.
func (a *account) gone(c *call) bool {
	switch {
	case a.calls == 0, a.model != c.ep.name, a.tools != maphash.Bytes(toolSeed, c.q.tools):
		return true
	}
	return a.idle(c)
}

// beside is the most time by which an overlapping call can begin earlier than the
// lane's last call. A larger difference means that the clock ran backwards.
const beside = 10 * time.Minute

// idle reports whether the lifetime of the cache has passed. If the clock ran
// backwards, it warns and reports false.
func (a *account) idle(c *call) bool {
	gap := c.began.Sub(a.last)
	if gap < -beside {
		a.warn("clock", "the clock ran backwards between two calls: the idle time of the provider's cache is unknown, and zero is assumed")
		return false
	}
	return c.ep.card.Lifetime > 0 && gap > c.ep.card.Lifetime
}

// missed reports whether the provider read nothing from the cache in the last
// call, although a part of its prompt was expected there.
func (a *account) missed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.known && a.seen.cached == 0 && a.seen.expect > 0
}

// common returns the number of tokens that the call's prompt shares with the
// previous one. It uses recorded sizes, so that no message is counted again.
func (a *account) common(c *call) int {
	switch n := a.same(c); n {
	case len(a.sent):
		return a.total
	case 0:
		return c.fixed
	default:
		return c.fixed + a.sent[n-1].upTo
	}
}

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

// called records a call.
func (a *account) called(c *call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.res.Warnings = append(c.res.Warnings, a.waiting...)
	a.waiting = nil
	a.seen = observedUsage{}
	a.calls++
	n := a.same(c)
	if n < len(a.sent) && n < len(c.res.Messages) {
		c.broken = &trace.CacheBreak{Index: n, Role: string(c.res.Messages[n].Role), Tokens: a.total - min(a.total, a.common(c))}
	}
	if a.model != c.ep.name {
		n = 0 // the recorded sizes are in tokens of another model
	}
	a.last, a.model, a.tools = c.began, c.ep.name, maphash.Bytes(toolSeed, c.q.tools)
	a.total, a.in = c.res.After.Total, c.res.TokensIn
	a.sent, a.conv = a.sent[:n], c.shown
	upTo := 0
	if n > 0 {
		upTo = a.sent[n-1].upTo
	}
	for _, m := range c.res.Messages[n:] {
		upTo += c.ep.estimator.Message(m)
		a.sent = append(a.sent, sentMessage{m.Fingerprint(), upTo})
	}
}

// warn adds a warning to the lane's next call, once for each kind.
func (a *account) warn(kind, what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.said[kind] {
		return
	}
	if a.said == nil {
		a.said = map[string]bool{}
	}
	a.said[kind] = true
	a.waiting = append(a.waiting, what)
}
