package replay

import (
	"math"
	"slices"
	"strings"
	"time"

	"github.com/agentcompact/compact/price"
)

// recordedBill is the bill of a call in its event.
type recordedBill struct {
	Prices   string  `json:"prices"` // the price card
	Relative bool    `json:"relative"`
	Prompt   float64 `json:"estimated_prompt_usd"`
	Whole    float64 `json:"projected_whole_prompt_usd"`
	Session  float64 `json:"session_estimated_prompts_usd"` // sum of the process
}

// hasCost reports whether the bill has the cost of the call. The first call of a
// process knew nothing about the provider's cache, so its bill is not used if list,
// the card of the model, allows a better estimate.
func (b *recordedBill) hasCost(list price.Card) bool {
	first := b.Session-b.Prompt < 1e-12
	return b.Prices != "" && !b.Relative && (!first || b.Prices != list.String())
}

// cachedAt returns the number of prompt tokens that must come from the
// provider's cache if the prompt costs usd by the card.
func cachedAt(card price.Card, prompt int, usd float64) int {
	cold, warm := card.Split(prompt, 0), card.CacheWrite-card.CacheRead
	if usd <= 0 || cold.Written == 0 || warm <= 0 {
		return 0
	}
	return max(0, int(math.Round((card.Cost(cold)-usd)*1e6/warm)))
}

// A prefix is the part of the prompt that the previous call of an agent left in the
// provider's cache.
type prefix struct {
	sent, in int // tokens of the view, and of the history
	model    string
	at       time.Time
}

// shared returns the tokens that a call shares with the previous one. Nothing is shared with
// another model, or after the cache's lifetime, and a view that a compaction changed shares
// nothing. The knowledge of the calling process takes precedence.
func (p prefix) shared(c *AccountCall, card price.Card) (sent, raw int) {
	if p.model == c.Model && (card.Lifetime <= 0 || c.At.Sub(p.at) <= card.Lifetime) {
		sent, raw = min(p.sent, c.Sent), min(p.in, c.In)
	}
	if c.Step > 0 || c.Sent < p.sent {
		sent = 0
	}
	if c.cached > 0 {
		sent = c.cached
	}
	if c.cachedRaw > 0 {
		raw = c.cachedRaw
	}
	return sent, raw
}

// price estimates the cost of the prompts. The zero card stands for the prices of
// each call: the bill in its event, or else the list prices of its model. With another
// card, and in the first call of a process, the cached part of a prompt is the part
// that the process knew to be cached, or else the part that the previous call shares.
func (a *Account) price(card price.Card) {
	if len(a.Calls) == 0 {
		return
	}
	var names []string
	before := map[string]prefix{}
	for i := range a.Calls {
		c := &a.Calls[i]
		if c.Failed != "" || c.Refused {
			continue // the number of sent tokens is unknown, or nothing was billed
		}
		name := c.price(card, before[c.Agent])
		before[c.Agent] = prefix{c.Sent, c.In, c.Model, c.At}
		a.Money.Unpriced += one(!c.priced)
		if c.priced && !slices.Contains(names, name) {
			names = append(names, name)
		}
		a.Money.Sent += c.Cost
		a.Money.Raw += c.Raw
		c.Whole, a.Money.Whole = c.Raw, a.Money.Raw
	}
	a.Money.Card, a.Money.Priced = strings.Join(names, "; "), len(names) > 0
	if len(names) == 0 {
		last := a.Calls[len(a.Calls)-1]
		a.Money.Card, a.Money.Priced = last.card(card)
		a.Money.Priced = a.Money.Priced && a.Money.Unpriced == 0
	}
}

// card returns the name of the card that prices a call, and whether it has prices.
func (c *AccountCall) card(given price.Card) (name string, priced bool) {
	card, known := given, true
	if given == (price.Card{}) {
		card, known = price.For(c.Model)
	}
	return (&Report{Card: card}).cardName(), known && !card.Relative
}

// price sets the cost of a call, if a price is known, and returns the name of the
// price card.
func (c *AccountCall) price(given price.Card, before prefix) (name string) {
	card := given
	if given == (price.Card{}) {
		card, _ = price.For(c.Model)
		if c.bill.hasCost(card) {
			c.Cost, c.Raw, c.priced = c.bill.Prompt, c.bill.Whole, true
			return c.bill.Prices
		}
	}
	if name, c.priced = c.card(given); c.priced {
		sent, raw := before.shared(c, card)
		c.Cost, c.Raw = card.Cost(card.Split(c.Sent, sent)), card.Cost(card.Split(c.In, raw))
	}
	return name
}
