package compact

import (
	"fmt"
	"maps"
	"slices"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/policy"
)

// lacksMarks reports whether the provider caches nothing of the request, because its cache
// needs marks and the request has none. It then bills neither reads nor writes of a cache.
// If the lane's last answer shows cached tokens, a program on the way to the provider sets
// marks.
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
func (c *call) marksIn(req wire.Marker) []int {
	view, conv := c.view(), c.now.conv
	last := settled(view.Messages, func(i int) bool { return c.isMasked(conv, i) })
	marks := c.marks(req, view.Messages, conv.Sources(), last)
	stops, at := []int{}, c.fixed
	if len(marks) > 0 && marks[0] == ofTools {
		stops = append(stops, at)
	}
	for i := range view.Messages {
		at += view.Tokens[i]
		if _, marked := slices.BinarySearch(marks, i); marked {
			stops = append(stops, at)
		}
	}
	return stops
}

// ofTools is the place of a mark at the tools, before the first message.
const ofTools = -1

// marks returns the messages of a view that are sent with a mark, in order, and ofTools.
// Automatic marks are set in this order, as many as the provider allows: at the last
// message, the system prompt or the tools, the message settled, and the summary.
func (c *call) marks(req wire.Marker, view []message.Message, sources []int, settled int) []int {
	at := endsWith(req.Marked(), sources)
	tools, left := req.Room()
	if tools {
		at[ofTools] = true
	}
	set := func(i int) {
		if !at[i] && left > 0 {
			at[i] = true
			left--
		}
	}
	if c.m.MarksCache() && len(view) > 0 {
		set(len(view) - 1)
		if view[0].Role == message.RoleSystem {
			set(0)
		} else if len(c.q.tools) > 0 {
			set(ofTools)
		}
		if settled >= 0 {
			set(settled)
		}
		if i := slices.IndexFunc(view, policy.IsSummary); i >= 0 {
			set(i)
		}
	}
	return slices.Sorted(maps.Keys(at))
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
		if i >= len(r.Sources) {
			return false // the caller has added messages
		}
		src := r.Sources[i]
		return src >= 0 && src < len(r.Decisions) && r.Decisions[src].Decision == policy.Masked
	})
}

// endsWith returns the messages of a view with a mark of the caller: their own mark, or
// the mark of a removed message after them. sources has the index of each in the request.
func endsWith(marked []bool, sources []int) map[int]bool {
	ends := map[int]bool{}
	for src := range marked {
		if !marked[src] {
			continue
		}
		last := -1
		for i, s := range sources {
			if s >= 0 && s <= src && (last < 0 || s >= sources[last]) {
				last = i
			}
		}
		if last >= 0 {
			ends[last] = true
		}
	}
	return ends
}

// sentMarks returns the messages of the sent view with a mark, as marks does. It returns
// false if the provider's cache needs no marks, or if they are unknown: a request without
// any may get marks on its way.
func (c *call) sentMarks() (at []int, known bool) {
	req, ok := c.q.wire.(wire.Marker)
	if !ok || c.ep.card.Marks == 0 || len(c.res.Sources) != len(c.res.Messages) || !c.m.MarksCache() && !req.HasMarks() {
		return nil, false
	}
	return c.marks(req, c.res.Messages, c.res.Sources, c.res.Settled()), true
}

// found returns the number of tokens that the provider finds in its cache, if the view has n
// leading messages in common with the previous one. The provider stored the prefixes that
// ended with a mark, and looks back from each mark of this request. The distance counts as
// unlimited if the view continues the previous one and the provider has not shown its limit.
func (a *account) found(c *call, n int) (tokens int) {
	at, known := c.sentMarks()
	if !known || !a.marked || a.hasMoreMarks() {
		return a.upTo(c, n-1)
	}
	limited := n < len(a.sent) || a.limitsReach()
	for _, stored := range a.marks {
		for _, mark := range at {
			if stored < n && mark >= stored && (!limited || blocksIn(c.res.Messages[stored+1:mark+1]) < wire.Lookback) {
				tokens = max(tokens, a.upTo(c, stored))
			}
		}
	}
	return tokens
}

// toMarks returns the tokens up to the last mark, of the call's view and of the whole history.
// It returns all tokens if the cache needs no marks, or if a program on the way to the
// provider sets marks.
func (a *account) toMarks(c *call) (view, whole int) {
	if c.lacksMarks() {
		return 0, 0
	}
	at, known := c.sentMarks()
	if !known || a.hasMoreMarks() {
		return c.res.After.Total, c.res.TokensIn
	}
	if len(at) == 0 {
		return 0, c.markedWhole()
	}
	view = c.res.After.Total
	for _, m := range c.res.Messages[at[len(at)-1]+1:] {
		view -= c.ep.estimator.Message(m)
	}
	return max(view, 0), c.markedWhole()
}

// toLastMark returns the tokens of the last prompt up to its last mark, or all of them if
// its marks are not known.
func (a *account) toLastMark(c *call) int {
	switch n := len(a.marks); {
	case !a.marked:
		return a.total
	case n > 0:
		return a.upTo(c, a.marks[n-1])
	}
	return 0
}

// stored returns the number of tokens that the cache would hold of the last whole history.
func (a *account) stored() int {
	if a.hasMoreMarks() {
		return a.in
	}
	return a.inMarked
}

// marksOnTheWay records that the provider read clearly more tokens than those before the last
// mark of a request: a program on the way to the provider sets marks, too. The margin is for
// token counts that are estimates.
func (a *account) marksOnTheWay(cached, marked int) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.moreMarks = a.moreMarks || cached > marked+marked/4+500
}

func (a *account) hasMoreMarks() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.moreMarks
}

// limitsReach reports whether the provider has shown that it looks back only a limited
// number of blocks.
func (a *account) limitsReach() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.looksBack
}

// upTo returns the tokens of the previous prompt up to the end of a message, or of the tools
// (ofTools).
func (a *account) upTo(c *call, i int) int {
	switch i {
	case len(a.sent) - 1:
		return a.total
	case ofTools:
		return c.fixed
	}
	return c.fixed + a.sent[i].upTo
}

// markedWhole returns the tokens of the whole history up to its last mark: the provider
// caches no more of it.
func (c *call) markedWhole() int {
	req, ok := c.q.wire.(wire.Marker)
	if !ok || c.ep.card.Marks == 0 || c.m.MarksCache() || !req.HasMarks() {
		return c.res.TokensIn
	}
	marked, out := req.Marked(), c.res.TokensIn
	for i := min(len(marked), len(c.history)) - 1; i >= 0 && !marked[i]; i-- {
		out -= c.ep.estimator.Message(c.history[i])
	}
	return max(out, 0)
}

// blocksIn returns the number of blocks of messages. A result of several parts is one block.
func blocksIn(msgs []message.Message) (n int) {
	for i := range msgs {
		parts := msgs[i].Parts
		n += max(1, len(parts))
		for k := 1; k < len(parts); k++ {
			if id := parts[k].CallID; id != "" && id == parts[k-1].CallID {
				n--
			}
		}
	}
	return n
}
