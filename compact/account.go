package compact

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
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
	ep    *epoch      // epoch of the offer; another model can have other stages and prices
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

// missed reports whether the provider read nothing from the cache in the last
// call, although a part of its prompt was expected there.
func (a *account) missed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.known && a.seen.cached == 0 && a.seen.expect > 0
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

// uncached reports whether the provider seems to have no cache for the lane. One
// call without cached tokens proves nothing: it can follow a pause.
func (a *account) uncached() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.unread > 1
}

// observed records the observed usage of the latest call.
func (a *account) observed(u observedUsage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = u
	if a.unread++; !u.known || u.cached > 0 {
		a.unread = 0
	}
}
