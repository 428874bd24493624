// Package toolcall finds the tool call that a result answers.
package toolcall

import (
	"encoding/json"
	"sort"
	"sync"

	"github.com/agentcompact/compact/message"
)

// An Index maps the id of a call to the calls with that id, in order.
type Index map[string][]Call

// A Call is a tool call of a conversation.
type Call struct {
	At   int // index of its message
	Name string
	Args json.RawMessage
}

// A Growing keeps the index of a growing conversation. It is safe for concurrent
// use.
type Growing struct {
	mu sync.Mutex
	x  Index
	n  int // number of messages already indexed
}

// UpTo returns the index of msgs, which must begin with the messages already
// indexed.
func (g *Growing) UpTo(msgs []message.Message) Index {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.x == nil {
		g.x = Index{}
	}
	for ; g.n < len(msgs); g.n++ {
		g.x.add(g.n, &msgs[g.n])
	}
	return g.x
}

// Of returns the index of msgs.
func Of(msgs []message.Message) Index {
	x := Index{}
	for i := range msgs {
		x.add(i, &msgs[i])
	}
	return x
}

// add indexes the calls of message i.
func (x Index) add(i int, m *message.Message) {
	for _, p := range m.Parts {
		if p.Kind == message.KindToolCall {
			x[p.CallID] = append(x[p.CallID], Call{i, p.Name, p.Args})
		}
	}
}

// Name returns the name of the tool that part p of message i answers.
func (x Index) Name(i int, p *message.Part) string {
	if p.Name != "" {
		return p.Name
	}
	c, _ := x.Call(i, p)
	return c.Name
}

// Call returns the call that part p of message i answers: the newest call with the same
// id before message i. Later calls with that id do not count, because some servers
// restart their ids at every turn.
func (x Index) Call(i int, p *message.Part) (Call, bool) {
	calls := x[p.CallID]
	n := sort.Search(len(calls), func(k int) bool { return calls[k].At >= i })
	if n == 0 {
		return Call{}, false
	}
	return calls[n-1], true
}

// Answered returns the name of the tool that part p of message i answers, and the
// arguments of the call. The arguments are nil if the call is unknown.
func (x Index) Answered(i int, p *message.Part) (tool string, args json.RawMessage) {
	c, _ := x.Call(i, p)
	return x.Name(i, p), c.Args
}

// Tool returns the name of the tool that part p of message i answers, or "" if
// no earlier call is known.
func Tool(msgs []message.Message, i, p int) string {
	part := &msgs[i].Parts[p]
	if part.Name != "" {
		return part.Name
	}
	for k := i - 1; k >= 0; k-- {
		for q := len(msgs[k].Parts) - 1; q >= 0; q-- {
			if c := &msgs[k].Parts[q]; c.Kind == message.KindToolCall && c.CallID == part.CallID {
				return c.Name
			}
		}
	}
	return ""
}
