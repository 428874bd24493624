package compact

import (
	"fmt"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
)

// lacksMarks reports whether the provider caches nothing of the request, because its cache
// needs marks and the request has none. It then bills neither reads nor writes of a cache.
// If the lane's last answer shows cached tokens, something on the way sets marks.
func (c *call) lacksMarks() bool {
	req, ok := c.q.wire.(wire.Marker)
	return ok && c.ep.card.Marks > 0 && c.m.cfg.Cache.Marks != marksAuto && !req.HasMarks() && !c.lane.account.cacheWasRead()
}

// reaches reports whether the provider finds the prefix that it cached with the previous
// request. It looks back only a limited number of blocks from a mark; automatic marks are
// near enough.
func (c *call) reaches() bool {
	req, ok := c.q.wire.(wire.Marker)
	return !ok || c.ep.card.Marks == 0 || c.m.MarksCache() || req.Reaches()
}

// outOfReach records that the provider did not find the prefix that it cached with the
// previous request. That says nothing about the cache of the next call.
func (a *account) outOfReach(cached, expect int) {
	a.warn("reach", fmt.Sprintf("the provider read %d of %d tokens from its cache: the request adds more blocks than it looks back from a mark (%d). "+
		"Set a mark (cache_control) where the previous request ended, too, or cache.marks to auto", cached, expect, wire.Lookback))
	a.mu.Lock()
	defer a.mu.Unlock()
	a.looksBack = true
}

// marksIn returns the positions of cache marks in the view, in tokens and in
// order, including automatic ones.
func (c *call) marksIn(marked []bool) []int {
	view, conv, auto := c.view(), c.now.conv, c.m.MarksCache()
	stops, at := []int{}, c.fixed
	if auto && len(c.q.tools) > 0 {
		stops = append(stops, at)
	}
	ends := endsWith(marked, conv.Sources())
	if auto {
		ends[settled(view.Messages, func(i int) bool { return c.isMasked(conv, i) })] = true
	}
	for i := range view.Messages {
		at += view.Tokens[i]
		if ends[i] || auto && keepsMark(view.Messages, i) {
			stops = append(stops, at)
		}
	}
	return stops
}

// isMasked reports whether message i of a conversation is masked.
func (c *call) isMasked(conv *reduce.Conversation, i int) bool {
	src := conv.Source(i)
	if src < 0 {
		return false
	}
	d, _ := conv.Decision(src)
	return d == policy.Masked
}

// keepsMark reports whether message i always has an automatic mark: the system prompt, or
// the summary.
func keepsMark(view []message.Message, i int) bool {
	return i == 0 && view[i].Role == message.RoleSystem || policy.IsSummary(view[i])
}

// settled returns the last message of a view that is masked or the summary; -1 = none.
func settled(view []message.Message, masked func(i int) bool) int {
	for i := len(view) - 1; i >= 0; i-- {
		if masked(i) || policy.IsSummary(view[i]) {
			return i
		}
	}
	return -1
}

// Settled returns the index in Messages of the last message that a compaction masked, or
// of the summary if no masked message follows it; -1 = none. Later compactions leave most
// of the messages up to it unchanged, so a mark for the provider's cache belongs there
// ([wire.Marker]).
func (r *Result) Settled() int {
	return settled(r.Messages, func(i int) bool {
		src := r.Sources[i]
		return src >= 0 && src < len(r.Decisions) && r.Decisions[src].Decision == policy.Masked
	})
}

// endsWith returns the messages of a view with a mark of the caller: their own mark, or
// the mark of a removed message after them. sources has the index of each in the request.
func endsWith(marked []bool, sources []int) map[int]bool {
	in := make(map[int]int, len(marked)) // index in the request → index in the view
	for i, src := range sources {
		if src >= 0 {
			in[src] = i
		}
	}
	ends := map[int]bool{}
	for src := range marked {
		if !marked[src] {
			continue
		}
		for to := src; to >= 0; to-- {
			if i, kept := in[to]; kept {
				ends[i] = true
				break
			}
		}
	}
	return ends
}

// sentMarks returns the messages of the sent view with a mark, in order. It returns false if
// the provider's cache needs no marks, or if the request is unknown.
func (c *call) sentMarks() (at []int, known bool) {
	req, ok := c.q.wire.(wire.Marker)
	if !ok || c.ep.card.Marks == 0 || len(c.res.Sources) != len(c.res.Messages) {
		return nil, false
	}
	view, auto := c.res.Messages, c.m.MarksCache()
	ends := endsWith(req.Marked(), c.res.Sources)
	if auto {
		ends[c.res.Settled()], ends[len(view)-1] = true, true
	}
	for i := range view {
		if ends[i] || auto && keepsMark(view, i) {
			at = append(at, i)
		}
	}
	return at, true
}

// found returns the number of leading messages that the provider finds in its cache, of n
// messages that the view has in common with the previous one, from which it then differs.
// The provider stored the prefixes that ended with a mark, and looks back from each mark
// of this request.
func (a *account) found(c *call, n int) int {
	at, known := c.sentMarks()
	if !known || !a.marked {
		return n
	}
	best := 0
	for _, stored := range a.marks {
		for _, mark := range at {
			if stored < n && mark >= stored && blocksIn(c.res.Messages[stored+1:mark+1]) < wire.Lookback {
				best = max(best, stored+1)
			}
		}
	}
	return best
}

// blocksIn returns the number of blocks of messages.
func blocksIn(msgs []message.Message) (n int) {
	for i := range msgs {
		n += max(1, len(msgs[i].Parts))
	}
	return n
}
