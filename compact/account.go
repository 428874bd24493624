package compact

import (
	"hash/maphash"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/price"
)

// account holds a lane's facts about the costs of its calls and about the provider's
// cache. The lane's lock guards it. mu guards the fields that Observe can also set,
// without the lane's lock.
type account struct {
	calls int

	sentPrompt              // of the last call that the provider has not refused
	before     sentPrompt   // the prompt before it
	fruitless  uselessOffer // newest view for which an offer had no effect

	mu      sync.Mutex
	seen    observedUsage
	refused bool // the provider refused the request of the last call
	unread  int  // consecutive calls whose usage shows no tokens read from a cache
	missing bool // the latest usage for which cached tokens were expected shows none
	said    map[string]bool
	waiting []string // warnings for the next call

	looksBack bool // the provider did not find a prefix that was too many blocks before a mark
	moreMarks bool // the provider read tokens behind the last known mark
}

// sentPrompt is the prompt of a call. The provider's cache holds it for a while.
type sentPrompt struct {
	known bool                 // false: there was no call
	last  time.Time            // time of the call
	model string               // its model
	sent  []sentMessage        // its view
	conv  *reduce.Conversation // conversation of the view; nil: unknown, so views are compared message by message
	total int                  // size of the view in tokens
	in    int                  // size of the whole history in tokens
	tools uint64               // a hash of its tools

	marks    []int // messages of the view with a mark for the provider's cache
	marked   bool  // marks is known
	inMarked int   // like in, up to the last mark if the cache needs marks
}

// uselessOffer is a view for which an offer had no effect.
type uselessOffer struct {
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
	expect int  // tokens of the prompt that the cache should hold, whatever earlier usages showed
}

var toolSeed = maphash.MakeSeed()

// cacheMissed reports whether the usage of the last call shows no cached tokens
// although some were expected. If none were expected, for example after a compaction,
// the latest usage for which some were expected must have shown none, too.
func (a *account) cacheMissed() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.known && a.seen.cached == 0 && (a.seen.expect > 0 || a.missing)
}

// cacheWasRead reports whether the provider read a part of the last prompt from its cache.
func (a *account) cacheWasRead() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.seen.cached > 0
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

// spending adds up the bills of a manager's sessions in US dollars.
type spending struct {
	mu  sync.Mutex
	sum SessionBill
}

func (s *spending) add(more SessionBill) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.sum = s.sum.Plus(more)
}

func (s *spending) total() SessionBill {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.sum
}

// unitOf returns the unit of the costs of a model: "" for US dollars, otherwise the
// model, whose input price is the unit. Figures in different units are never added up.
func unitOf(card price.Card, model string) string {
	if card.Relative {
		return model
	}
	return ""
}

// refuse records that the provider refused the request of a call, if it is the latest
// call.
func (a *account) refuse(latest bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.refused = a.refused || latest
}

// An outcomeOnce is the outcome of the request of one call: its usage or its refusal,
// whichever is reported first.
type outcomeOnce struct {
	at   int  // number of the call in its lane
	done bool // guarded by the account's mu
}

// is reports whether this outcome is the first, and whether the call is the latest of
// its lane.
func (o *outcomeOnce) is(a *account) (first, latest bool) {
	a.mu.Lock()
	defer a.mu.Unlock()
	first, o.done = !o.done, true
	return first, o.at == a.calls
}

// observed records the observed usage of the latest call.
func (a *account) observed(u observedUsage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.seen = u
	if u.known && (u.cached > 0 || u.expect > 0) {
		a.missing = u.cached == 0
	}
	if a.unread++; !u.known || u.cached > 0 {
		a.unread = 0
	}
}
