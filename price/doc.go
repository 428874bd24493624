// Package price computes what model calls cost. It holds price cards by model and
// the rules of the providers' prompt caches. It is pure: it knows no messages and
// uses no network.
//
// A call is billed in four parts: the tokens of its prompt that the provider read
// from its cache, those that it wrote into the cache, the other tokens of the
// prompt, and the answer. [Card.Split] returns the size of each part of a prompt,
// and [Card.Cost] their cost.
//
// The prices are list prices in US dollars per million tokens, each with its source and
// the day of the look-up. They are for planning and comparison. For contract prices,
// fill in your own card.
package price
