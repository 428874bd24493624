package transport

import (
	"github.com/agentcompact/compact/compact"
)

// cache names a part of a prompt that the provider stores under a name.
type cache struct{ host, name string }

// maxCaches limits the number of caches whose size is remembered.
const maxCaches = 1024

func (x *exchange) cache() (cache, bool) {
	name := x.parsed.About().Cached
	return cache{x.req.URL.Host, name}, name != ""
}

// fixed returns the size in tokens of the cache that the request names. The cache is part of the
// prompt and can't be made smaller. 0 = no cache, or its size is not known before the first answer.
func (x *exchange) fixed() int {
	c, _ := x.cache()
	return x.t.caches.get(c)
}

// learn records the size of the cache that the request names.
func (x *exchange) learn(tokens int) {
	if c, named := x.cache(); named {
		x.t.caches.update(c, func(int) int { return tokens })
	}
}

// billed reports a prompt's usage to the manager. held is the size of the named cache in tokens, as
// the provider reported it; counted is the size that our count of the request assumed for it.
func (x *exchange) billed(res *compact.Result, u compact.Usage, held, counted int) {
	if _, named := x.cache(); named {
		if held <= 0 {
			return // the size of the cache is unknown, so counts can't be compared
		}
		x.learn(held)
		u.PromptTokens += counted - held
		u.CachedTokens = max(u.CachedTokens+counted-held, 0)
	}
	x.t.m.Observe(res, u)
}

// refused reports the size of a prompt that was too long, if the provider names it. The
// provider does not report the size of the cache in the refused prompt. So the
// difference from our count is taken as the size of the cache. refused returns the size
// of the prompt in our count, including the size of the cache if it was learned here.
func (x *exchange) refused(o overflow, counted int) int {
	if _, named := x.cache(); !named {
		x.t.m.Observe(x.res, compact.Usage{PromptTokens: o.prompt, Refused: true})
		return counted
	}
	x.t.m.Observe(x.res, compact.Usage{Refused: true}) // the counts of this usage can't be compared
	if x.held == 0 && o.prompt > counted {
		x.learn(o.prompt - counted)
		return o.prompt
	}
	return counted
}
