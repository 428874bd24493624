// Package price says what model calls cost: price cards by model, the rules of
// the providers' prompt caches, and what a call is billed by them. It is pure:
// it knows no message and asks no network.
//
// A call is billed for the part of its prompt that the provider read from its
// cache, for the part that it wrote into the cache, for the rest of the prompt,
// and for the answer. [Card.Split] says which part is which, [Card.Cost] what
// they cost.
//
// The prices are list prices in US dollars per million tokens, each with its
// source and the day it was looked up. They are for planning and comparison;
// what a provider bills under a contract is set with a card of one's own.
package price
