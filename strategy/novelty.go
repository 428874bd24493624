package strategy

import "unicode"

// leastNovel is what a line is worth whose words have all been said, beside one
// that says something new.
const leastNovel = 0.2

// novelty is how much of a line is not said yet.
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

// hear takes for said what people typed: it stands above.
func (c *composer) hear() {
	c.history.eachTyped(func(text string) {
		for _, w := range wordHashes(text) {
			c.told[w] = true
		}
	})
}

// mostHashed bounds how many words of a line are looked at.
const mostHashed = 60

// leastHashed is the shortest word that says something, in characters; of a
// script without spaces every pair is a word.
const leastHashed = 4

// wordHashes are the words of a text, as numbers.
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
		case spaceless(r):
			flush()
			if spaceless(before) && len(out) < mostHashed {
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
