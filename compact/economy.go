package compact

import (
	"math"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
	"github.com/agentcompact/compact/price"
)

// Constants of the economic trigger.
const (
	growthCalls  = 20   // number of calls over which the growth of a session is averaged
	mostHorizon  = 200  // a session is expected to have as many further calls as it had, at most this many
	leastStep    = 0.02 // least share of the window that a compaction removes
	leastCalls   = 4    // number of calls; a compaction removes at least their growth
	recallOutput = 100  // output tokens of a call of the recall tool
	recallText   = 1000 // tokens of the result of such a call
)

// keptTurns lists how many turns a cut may keep. maskTurns lists for how many turns a
// mask may keep the results. Smaller numbers than the configured minimum are replaced
// by it. Results are most of the text that can be removed, so masks have finer steps,
// of about a quarter: with coarse steps, a mask would also remove results that are
// still worth their price.
var (
	keptTurns = []int{6, 12, 20, 30, 45, 70}
	maskTurns = []int{6, 8, 10, 13, 16, 20, 24, 32, 44}
)

// choose reports whether the economic trigger requires a compaction, and sets
// c.offer.
func (c *call) choose() bool {
	if c.ep.cfg.Policy.When != policy.Economic || c.ep.card.CacheRead <= 0 {
		return false
	}
	s := c.stock()
	if f := c.lane.account.fruitless; float64(s.Tokens) < s.Step || s.Tokens < f.upTo && f.ep == c.ep && f.after == c.lastOutcome() {
		return false // nothing can be due
	}
	if c.last > 0 && s.Tokens <= c.now.last.After {
		return false // the view of the last compaction (by prices or by the window) is sent first; a retry gets the same view
	}
	best, ready := -1, -1
	least := math.Inf(1)
	for _, o := range c.offers() {
		costs := c.candidate(o)
		v := c.ep.card.Judge(s, costs)
		x := Candidate{
			Offer: o, FixedUSD: v.Fixed, LinearUSD: v.Linear, CallUSD: v.PerCall, SavesUSD: v.Saves, Pays: v.Pays, Safe: v.Safe, Chosen: v.Chosen(s),
		}
		x.Due = int(math.Ceil(v.Due))
		c.res.Candidates = append(c.res.Candidates, x)
		if x.Chosen && c.hasSummaryFor(o) {
			ready = len(c.res.Candidates) - 1
		}
		if v.PerCall < least {
			best, least = len(c.res.Candidates)-1, v.PerCall
			c.soon = c.before(s, costs, o, v)
		}
	}
	if ready >= 0 { // the summary of this candidate is ready; another candidate would need a new one
		best = ready
	}
	for i := range c.res.Candidates {
		x := &c.res.Candidates[i]
		if x.Chosen = x.Chosen && i == best; x.Chosen {
			c.offer = &x.Offer
		}
	}
	return c.offer != nil
}

// offers returns the candidates: each cut, with the results of all kept turns
// or only of the newer ones in full, and each mask without a cut.
func (c *call) offers() (all []policy.Offer) {
	least := c.ep.engine.Keep.Turns
	mask, masks, cuts := c.stages()
	v := c.view()
	of, summary := reduce.OffersOf(v, mask), c.expected(v)
	for _, turns := range from(keptTurns, least) {
		if !cuts {
			break
		}
		for _, m := range append([]int{0}, from(maskTurns, least)...) {
			if m >= turns || m > 0 && !masks {
				continue
			}
			if o, ok := of.Cut(turns, m, summary); ok {
				all = append(all, o)
			}
		}
	}
	for _, turns := range from(maskTurns, least) {
		if !masks {
			break
		}
		if o, ok := of.Mask(turns); ok {
			all = append(all, o)
		}
	}
	return all
}

// stages returns the stage mask of the engine, and whether masks and cuts can be
// offered. A mask that works on every call is not offered.
func (c *call) stages() (mask policy.Mask, masks, cuts bool) {
	for _, s := range c.ep.engine.Steps {
		switch stage := s.Stage.(type) {
		case policy.Mask:
			mask, masks = stage, s.When != policy.Always
		default:
			cuts = cuts || stage.Name() == summarize.StageName
		}
	}
	return mask, masks, cuts
}

// expected returns the expected size of the next summary in tokens: the size of the
// summary in the view, or otherwise the limit of a summary plus the user's words.
func (c *call) expected(v *policy.View) int {
	typed, most := 0, max(c.ep.cfg.Summarizer.MaxTokens, summarize.DefaultMaxTokens)
	for i := range v.Messages {
		switch m := &v.Messages[i]; {
		case policy.IsSummary(*m):
			return min(v.Tokens[i], most+c.ep.cfg.Summarizer.UserTokens)
		case m.IsUser():
			typed += v.Tokens[i]
		}
	}
	return most + min(typed, c.ep.cfg.Summarizer.UserTokens)
}

// candidate returns the estimated cost of an offer.
func (c *call) candidate(o policy.Offer) price.Candidate {
	card := c.ep.card
	recall := card.Cost(price.Usage{Cached: o.Level, Written: recallText, Output: recallOutput})
	x := price.Candidate{Level: o.Level, Prefix: c.cachedFront(o.Prefix), Recalls: o.Needs * recall, Weight: c.ep.cfg.Policy.RecallWeight}
	switch {
	case o.Cut && c.asksAgent():
		c.summaryByAgent(&x, o)
	case o.Cut && c.ep.cfg.Summarize != nil:
		writer, _ := summaryCard(c.ep.card, c.ep.cfg.Summarizer.Model)
		x.Summary = writer.Cost(price.Usage{Output: c.expected(c.view())})
		x.Reading = writer.Cost(price.Usage{Fresh: o.Gone})
	}
	return x
}

// stock returns the session's data for the decision. Growth, horizon and the cost
// of the calls so far are computed from the history, so that any process gets the
// same numbers. Earlier savings don't count, because they don't justify another
// compaction.
func (c *call) stock() price.Stock {
	a, costs := &c.lane.account, c.costs()
	calls := 1
	for i := range c.history {
		if c.history[i].Role == message.RoleAssistant {
			calls++
		}
	}
	growth := growthOf(c.history, c.sentCosts(costs), growthCalls)
	return price.Stock{
		Tokens: c.res.Before.Total, Growth: growth, Horizon: float64(min(calls, mostHorizon)),
		Step: max(leastStep*float64(c.ep.window), leastCalls*growth), Overrun: c.ep.cfg.Policy.OverrunPct,
		Raw: c.soFar(), Cold: a.known && a.cacheIsCold(c),
	}
}

// sentCosts returns the tokens of each message as it was first sent. For a result that
// was reduced on arrival, these are the tokens of the reduced text.
func (c *call) sentCosts(costs []int) []int {
	if !c.tidies() {
		return costs
	}
	sent, v := slices.Clone(costs), c.view()
	for i := range v.Messages {
		if k := c.now.conv.Source(i); k >= 0 {
			if _, reason := c.now.conv.Decision(k); strings.HasPrefix(reason, tidy.Reason) {
				sent[k] = v.Tokens[i]
			}
		}
	}
	return sent
}

// soFar returns the cost of the calls so far if each had sent the whole
// history.
func (c *call) soFar() (usd float64) {
	card, prompt, last := c.ep.card, c.fixed, 0
	for i, n := range c.costs() {
		if c.history[i].Role == message.RoleAssistant {
			u := card.Split(prompt, last)
			u.Output = n
			usd += card.Cost(u)
			last = prompt
		}
		prompt += n
	}
	return usd
}

// nothingOffered records that an offer had no effect. Candidates are evaluated
// again after the view has grown by leastStep of the window, after another compaction,
// such as one of another process, or for another model.
func (c *call) nothingOffered() {
	c.lane.account.fruitless = uselessOffer{c.ep, c.res.Before.Total + int(leastStep*float64(c.ep.window)), c.lastOutcome()}
}

// lastOutcome returns the outcome of the newest compaction in the view; the zero Link if
// there is none.
func (c *call) lastOutcome() reduce.Link {
	if c.now.last == nil {
		return reduce.Link{}
	}
	return c.now.last.Out
}

// growthOf returns the mean number of tokens that one call adds to a history. It
// averages over the last answers, at most calls of them, and the messages after each.
// The first prompt, which has no answer before it, is not counted. The result is at
// least 1.
func growthOf(history []message.Message, costs []int, calls int) float64 {
	sum, counted, answers := 0, 0, 0
	for i := len(history) - 1; i >= 0 && answers < calls; i-- {
		sum += costs[i]
		if history[i].Role == message.RoleAssistant {
			answers, counted = answers+1, sum
		}
	}
	return max(1, float64(counted)/float64(max(answers, 1)))
}

// summaryByAgent adds to a candidate the cost of a summary by the agent's own model.
// The request for it reads the whole prompt from the cache: Summary has the price of
// the messages that stay, and Reading has the price of the messages to remove.
func (c *call) summaryByAgent(x *price.Candidate, o policy.Offer) {
	x.Summary = c.ep.card.Cost(price.Usage{Cached: o.Level, Output: c.expected(c.view())})
	x.Reading = c.ep.card.Cost(price.Usage{Cached: o.Gone})
}
