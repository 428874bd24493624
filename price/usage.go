package price

// A Usage is what one call was billed for, in tokens.
type Usage struct {
	Cached      int `json:"cached"`       // read from the cache
	Written     int `json:"written"`      // written into it
	WrittenHour int `json:"written_hour"` // the same, for an hour
	Fresh       int `json:"fresh"`        // the rest of the prompt
	Output      int `json:"output"`       // the answer
}

// Prompt returns the tokens of the prompt.
func (u Usage) Prompt() int { return u.Cached + u.Written + u.WrittenHour + u.Fresh }

// Plus returns the sum of two usages.
func (u Usage) Plus(v Usage) Usage {
	return Usage{
		Cached: u.Cached + v.Cached, Written: u.Written + v.Written, WrittenHour: u.WrittenHour + v.WrittenHour,
		Fresh: u.Fresh + v.Fresh, Output: u.Output + v.Output,
	}
}

const million = 1e6

// Cost returns what a usage costs, in US dollars (in units of the input price
// of a million tokens where the card is relative).
func (c Card) Cost(u Usage) float64 {
	return (float64(u.Cached)*c.CacheRead + float64(u.Written)*c.CacheWrite + float64(u.WrittenHour)*c.CacheWriteHour +
		float64(u.Fresh)*c.Input + float64(u.Output)*c.Output) / million
}

// Split says what a prompt of so many tokens is billed as when its first same
// tokens are those of a prompt that the provider still holds. All of a prompt
// that can be cached is: the last mark of the request is taken to stand at its
// end, as agents set it.
func (c Card) Split(prompt, same int) Usage {
	switch {
	case !c.Caches() || prompt < c.MinPrefix:
		return Usage{Fresh: prompt}
	case same > prompt:
		same = prompt
	}
	cached := c.Cached(same)
	return Usage{Cached: cached, Written: prompt - cached}
}

// Cached returns how much of a prefix of so many tokens, which the provider
// has seen before, is read from the cache.
func (c Card) Cached(same int) int {
	if c.MinPrefix <= 0 || same < c.MinPrefix {
		return 0
	}
	return same - same%max(c.Granularity, 1)
}
