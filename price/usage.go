package price

// A Usage holds the tokens that one call was billed for.
type Usage struct {
	Cached      int `json:"cached"`       // read from the cache
	Written     int `json:"written"`      // written into the cache
	WrittenHour int `json:"written_hour"` // written into the cache for an hour
	Fresh       int `json:"fresh"`        // other tokens of the prompt
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

// Cost returns the cost of a usage in US dollars. For a relative card, the unit
// is the price of a million input tokens.
func (c Card) Cost(u Usage) float64 {
	return (float64(u.Cached)*c.CacheRead + float64(u.Written)*c.CacheWrite + float64(u.WrittenHour)*c.CacheWriteHour +
		float64(u.Fresh)*c.Input + float64(u.Output)*c.Output) / million
}

// Split returns how a prompt of prompt tokens is billed if its first same tokens
// are still in the provider's cache. It assumes that the last cache mark of the
// request is at the end of the prompt, as agents set it, so that the whole prompt
// can be cached.
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

// SplitMarked is Split for a prompt whose last cache mark is at the end of its first marked
// tokens. The tokens after it are plain input: they are not cached.
func (c Card) SplitMarked(prompt, marked, same int) Usage {
	marked = max(0, min(marked, prompt))
	u := c.Split(marked, same)
	u.Fresh += prompt - marked
	return u
}

// Cached returns the number of tokens that are read from the cache if the
// provider has seen a prefix of same tokens before.
func (c Card) Cached(same int) int {
	if c.MinPrefix <= 0 || same < c.MinPrefix {
		return 0
	}
	return same - same%max(c.Granularity, 1)
}
