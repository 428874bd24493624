package compact

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/trace"
)

// account is what a lane knows of what its calls cost, and of what the provider
// holds in its cache. The lane's lock guards it, but for what Observe tells.
type account struct {
	calls int

	last      time.Time            // when the last call was made
	model     string               // that it named
	sent      []sentMessage        // its view
	conv      *policy.Conversation // that the view is of; nil: not known, and looked at message by message
	total     int                  // what that cost, in tokens
	in        int                  // and the whole history
	fruitless int                  // tokens of the view up to which no candidate is worth another try
	tools     uint64               // a hash of its tools

	mu      sync.Mutex
	seen    observedUsage
	unread  int // calls in a row whose usage shows nothing that was read from a cache
	said    map[string]bool
	waiting []string // warnings for the next call
}

// sentMessage is a message of a view that went out.
type sentMessage struct {
	fp   message.Fingerprint
	upTo int // what the view costs up to its end, in tokens, without what is sent beside messages
}

// observedUsage is what Observe told since the last call.
type observedUsage struct {
	known  bool // the provider said what was cached
	cached int  // tokens
	expect int  // that were to be in the cache
}

var toolSeed = maphash.MakeSeed()

// cached returns how many tokens of the call's prompt, and of that with the whole
// history, the provider should have in its cache.
func (a *account) cached(c *call) (view, whole int) {
	if a.cold(c) {
		return 0, 0
	}
	return a.common(c), min(a.in, c.res.TokensIn)
}

// cold reports whether the provider holds nothing of what the lane sent last: it
// is too long ago, of another model or with other tools, or the provider said so.
func (a *account) cold(c *call) bool {
	switch {
	case a.calls == 0, a.model != c.ep.name, a.tools != maphash.Bytes(toolSeed, c.q.tools):
		return true
	}
	return a.idle(c) || a.missed()
}

// beside is how much later than a call another one of its lane, that was under way
// at the same time, may have begun.
const beside = 10 * time.Minute

// idle reports whether the cache has outlived its lifetime. A clock that ran
// backwards says nothing.
func (a *account) idle(c *call) bool {
	gap := c.began.Sub(a.last)
	if gap < -beside {
		a.warn("clock", "the clock ran backwards between two calls: how long the provider's cache was left alone is not known, and taken to be no time")
		return false
	}
	return c.ep.card.Lifetime > 0 && gap > c.ep.card.Lifetime
}

// missed reports whether the usage of the last call shows that the provider read
// nothing from a cache that was to hold most of the prompt.
func (a *account) missed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.known && a.seen.cached == 0 && a.seen.expect > 0
}

// common returns the tokens that the call's prompt has in common with the one
// before it. No message of it is priced again.
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

// same returns with how many messages of the last view the call's begins. What
// lies at the same place in both conversations is not looked at.
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

// called notes a call.
func (a *account) called(c *call) {
	a.mu.Lock()
	defer a.mu.Unlock()
	c.res.Warnings = append(c.res.Warnings, a.waiting...)
	a.waiting = nil
	a.seen = observedUsage{}
	a.calls++
	a.last, a.model, a.tools = c.began, c.ep.name, maphash.Bytes(toolSeed, c.q.tools)
	n := a.same(c)
	if n < len(a.sent) && n < len(c.res.Messages) {
		c.broken = &trace.CacheBreak{Index: n, Role: string(c.res.Messages[n].Role), Tokens: a.total - min(a.total, a.common(c))}
	}
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

// warn says something once a lane, with its next call.
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
