package anthropic

import (
	"bytes"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
	"github.com/agentcompact/compact/message/wire"
)

// maxMarks limits the cache marks in a body.
const maxMarks = 4

// markKey is the rarest part of the key, so that the search for it is fastest.
var markKey = []byte(`_control"`)

// hourKey is the longer of the two lifetimes.
var hourKey = []byte(`"1h"`)

// mayExceed reports whether the request may have more marks than the limit.
// Removals never add marks. The key may also occur in a text, or as a name in a
// schema.
func (r *request) mayExceed() bool {
	r.look()
	return r.manyMarks
}

// look reads the cache marks of the request, once.
func (r *request) look() {
	r.once.Do(func() {
		n := bytes.Count(r.Body(), markKey)
		r.hasMarks, r.manyMarks = n > 0, n > maxMarks
		r.marked = make([]bool, len(r.Messages()))
		if n > 0 {
			r.count()
		}
		if last := len(r.marked) - 1; last >= 0 && len(r.marks) > 0 {
			r.marked[last] = true // the provider sets the mark of the body there
		}
		r.wrongOrder = n > 1 && bytes.Contains(r.Body(), hourKey) && !r.ownOrder(r.Messages()[r.listed():])
	})
}

// count finds the marks of a request.
func (r *request) count() {
	tools := len(marksOf(r.about.Tools))
	r.toolMark, r.ownMarks = tools > 0, tools+len(r.marks)+len(marksOf(r.prompt))
	for i := range r.Messages() {
		n := len(itemMarks(r.Messages()[i].Raw()))
		r.marked[i] = n > 0
		if i >= r.listed() {
			r.ownMarks += n
		}
	}
}

// listed returns the first message that is in the list.
func (r *request) listed() int {
	if r.Prompted() {
		return 1
	}
	return 0
}

// marked checks the number of cache marks. It checks their order only if the order in
// the request is wrong: otherwise [request.Write] keeps it.
func (c *checker) marked() {
	if c.request.unordered() {
		c.markOrder()
	}
	if !c.request.mayExceed() {
		return
	}
	n := len(c.request.marks) + marksIn(c.request.prompt, "") + marksIn(c.request.about.Tools, "")
	for _, u := range c.Units {
		for k := u.From; k < u.To; k++ {
			n += len(itemMarks(c.View[k].Raw()))
		}
	}
	if n > maxMarks {
		c.Whole(CheckMarks, -1, fmt.Sprintf("a maximum of %d blocks with cache_control may be provided, found %d", maxMarks, n))
	}
}

func (c *checker) markOrder() {
	var msgs []message.Message
	for _, u := range c.Units {
		msgs = append(msgs, c.View[u.From:u.To]...)
	}
	if !c.request.ownOrder(msgs) {
		c.Whole(CheckMarkOrder, -1, "a ttl='1h' cache_control block must not come after a ttl='5m' cache_control block")
	}
}

// marksIn counts the marks of the blocks in an array, and of the blocks in their
// member inner.
func marksIn(raw []byte, inner string) (n int) {
	eachMark(raw, inner, func(jsonscan.Member) { n++ })
	return n
}

// compacts reports whether a unit holds one of the provider's compactions.
func (c *checker) compacts(u splice.Unit) bool {
	for k := u.From; k < u.To; k++ {
		if compacts(&c.View[k]) {
			return true
		}
	}
	return false
}

func compacts(m *message.Message) bool {
	if !m.Protected {
		return false
	}
	for i := range m.Parts {
		if m.Parts[i].Kind == message.KindOther && m.Parts[i].Name == compaction {
			return true
		}
	}
	return false
}

// behind returns the index of the newest message that holds one of the provider's
// compactions; 0 = none. A block without content means that the compaction failed.
func behind(msgs []message.Message) int {
	for s := len(msgs) - 1; s > 0; s-- {
		if !compacts(&msgs[s]) {
			continue
		}
		for i := range msgs[s].Parts {
			if p := &msgs[s].Parts[i]; p.Kind == message.KindOther && p.Name == compaction && hasReplacement(p.Args) {
				return s
			}
		}
	}
	return 0
}

// hasReplacement reports whether a compaction block has content that replaces the messages
// before it.
func hasReplacement(raw []byte) (ok bool) {
	_ = jsonscan.Object(raw, jsonscan.Span{End: len(raw)}, func(m jsonscan.Member) error { // raw is valid JSON
		ok = ok || (m.Key == "content" || m.Key == "encrypted_content") && raw[m.Value.Start] == '"' && m.Value.End-m.Value.Start > len(`""`)
		return nil
	})
	return ok
}

// compacted checks that the provider's compaction is still there, and is still the
// first message if it was the first.
func (c *checker) compacted() {
	was := c.Messages()
	var at map[int]int // message of the request → the first unit that holds it
	for s := range was {
		if !compacts(&was[s]) {
			continue
		}
		if at == nil {
			at = c.places()
		}
		if i, kept := at[s]; !kept || c.First(s) && i != 0 {
			c.Found = append(c.Found, wire.Violation{Check: CheckCompaction, ID: splice.ID(s, ""), Index: -1, Detail: "messages: a `compaction` block must be sent back verbatim, first in messages"})
		}
	}
}

// places returns the first unit that holds each message of the request that is
// still there.
func (c *checker) places() map[int]int {
	at := make(map[int]int, len(c.Units))
	for i, u := range c.Units {
		for k := u.From; k < u.To; k++ {
			if _, known := at[c.Sources[k]]; !known {
				at[c.Sources[k]] = i
			}
		}
	}
	return at
}
