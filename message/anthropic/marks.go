package anthropic

import (
	"bytes"
	"fmt"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/internal/splice"
	"github.com/agentcompact/compact/message/wire"
)

// maxMarks is how many marks of the prompt cache a body may have.
const maxMarks = 4

// markKey is the rarest piece of the key: what a search for it is fastest by.
var markKey = []byte(`_control"`)

// mayExceed reports whether the request may have more marks than it may. It is
// only asked once: what is taken out makes it no more. The key may be a text,
// too, or a name in a schema.
func (r *request) mayExceed() bool {
	r.once.Do(func() { r.manyMarks = bytes.Count(r.Body(), markKey) > maxMarks })
	return r.manyMarks
}

// marked checks the number of cache marks.
func (c *checker) marked() {
	if !c.request.mayExceed() {
		return
	}
	n := c.request.marks + marksIn(c.request.prompt, "") + marksIn(c.request.about.Tools, "")
	for _, u := range c.Units {
		for k := u.From; k < u.To; k++ {
			if h, err := readHead(c.View[k].Raw()); err == nil {
				n += marksIn(h.Content.Of(c.View[k].Raw()), "content")
			}
		}
	}
	if n > maxMarks {
		c.Whole(CheckMarks, -1, fmt.Sprintf("a maximum of %d blocks with cache_control may be provided, found %d", maxMarks, n))
	}
}

// marksIn counts the marks of the blocks in an array, and of those in their
// member inner.
func marksIn(raw []byte, inner string) int {
	n := 0
	if len(raw) == 0 || raw[0] != '[' {
		return 0
	}
	_ = jsonscan.Array(raw, jsonscan.Span{End: len(raw)}, func(_ int, at jsonscan.Span) error { // valid JSON, and f returns none
		if raw[at.Start] != '{' {
			return nil
		}
		return jsonscan.Object(raw, at, func(m jsonscan.Member) error {
			switch {
			case m.Key == "cache_control" && raw[m.Value.Start] == '{':
				n++
			case m.Key == inner && inner != "":
				n += marksIn(m.Value.Of(raw), inner)
			}
			return nil
		})
	})
	return n
}

// compacts reports whether a unit holds what the provider compacted.
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

// compacted checks that what the provider compacted is still there, and still
// the first where it was the first.
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
