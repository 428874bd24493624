package transport

import (
	"github.com/agentcompact/compact/compact"
)

// cache is a part of a prompt that a provider holds under a name.
type cache struct{ host, name string }

// maxCaches bounds the caches whose size is known.
const maxCaches = 1024

func (x *exchange) cache() (cache, bool) {
	name := x.parsed.About().Cached
	return cache{x.req.URL.Host, name}, name != ""
}

// fixed returns what the cache holds that the request names, in tokens: it is
// in the prompt, and can't be made smaller. 0 = there is none, or nobody has
// said yet how large it is: the first answer does.
func (x *exchange) fixed() int {
	c, _ := x.cache()
	return x.t.caches.get(c)
}

// learn notes the size of the cache that the request names.
func (x *exchange) learn(tokens int) {
	if c, named := x.cache(); named {
		x.t.caches.update(c, func(int) int { return tokens })
	}
}

// billed tells the manager what a prompt cost, of which so much was in a cache.
func (x *exchange) billed(res *compact.Result, u compact.Usage, held, counted int) {
	if _, named := x.cache(); named {
		if held <= 0 {
			return // nobody knows how much of it was counted here
		}
		x.learn(held)
		u.PromptTokens += counted - held
		u.CachedTokens = max(u.CachedTokens+counted-held, 0)
	}
	x.t.m.Observe(res, u)
}

// refused does the same for a prompt that was too long. Of that nobody says
// what was in the cache: what was not counted here was.
func (x *exchange) refused(o overflow, counted int) int {
	if _, named := x.cache(); !named {
		x.t.m.Observe(x.res, compact.Usage{PromptTokens: o.prompt})
		return counted
	}
	if x.held == 0 && o.prompt > counted {
		x.learn(o.prompt - counted)
		return o.prompt
	}
	return counted
}
