package price_test

import (
	"fmt"

	"github.com/agentcompact/compact/price"
)

// The cost of a call depends on the share of its prompt in the provider's
// cache.
func ExampleCard_Cost() {
	card := price.Card{Model: "example", Input: 2, CacheRead: 0.2, CacheWrite: 2.5, CacheWriteHour: 2.5, Output: 10}
	cold := card.Cost(price.Usage{Fresh: 100_000, Output: 500})
	warm := card.Cost(price.Usage{Cached: 98_000, Fresh: 2_000, Output: 500})
	fmt.Printf("%.3f and %.4f dollars\n", cold, warm)
	// Output: 0.205 and 0.0286 dollars
}

func ExampleFor() {
	card, ok := price.For("gpt-4o")
	fmt.Println(card.Model, ok, card.Caches())
	// Output: gpt-4o true true
}
