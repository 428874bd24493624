package strategy

import (
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// leastNovel is the novelty of a line without new words. A line with only new words
// has the novelty 1.
const leastNovel = 0.2

// novelty returns the share of new words in a line, scaled to leastNovel … 1.
func (c *composer) novelty(k *candidate) float64 {
	if len(k.words) == 0 {
		return 1
	}
	n := 0
	for _, w := range k.words {
		if !c.told[w] {
			n++
		}
	}
	return leastNovel + (1-leastNovel)*float64(n)/float64(len(k.words))
}

// hear marks the words that people typed as told, because the summary quotes them in an
// earlier section.
func (c *composer) hear() {
	c.history.eachTyped(func(text string) {
		for _, w := range wordHashes(text) {
			c.told[w] = true
		}
	})
}

// mostHashed is the maximum number of words of a text that are hashed.
const mostHashed = 60

// leastHashed is the minimum length of a hashed word, in characters. In scripts without
// spaces, every pair of characters counts as a word.
const leastHashed = 4

// wordHashes returns the hashes of the words of a text.
func wordHashes(text string) []uint32 {
	var out []uint32
	hash, n := uint32(2166136261), 0
	flush := func() {
		if n >= leastHashed && len(out) < mostHashed {
			out = append(out, hash)
		}
		hash, n = 2166136261, 0
	}
	var before rune
	for _, r := range text {
		switch {
		case prose.Spaceless(r):
			flush()
			if prose.Spaceless(before) && len(out) < mostHashed {
				out = append(out, uint32(before)*31+uint32(r))
			}
		case unicode.IsLetter(r) || unicode.IsDigit(r) || r == '_':
			hash, n = (hash^uint32(unicode.ToLower(r)))*16777619, n+1
		default:
			flush()
		}
		before = r
	}
	flush()
	return out
}
