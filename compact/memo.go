package compact

import (
	"slices"
	"sort"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// memo spares a lane the replay of a history that it saw a moment ago and that
// has only grown since. It changes no outcome: what it holds is what a replay
// of the ledger gives.
type memo struct {
	history []message.Message
	steps   int // of the session when it was made
	edits   int // of the lane, between steps
	now     replayed

	origins    int // edited messages that were known
	studied    int // messages of the history that were searched for secrets
	recognized int // messages of the conversation that were looked up among them
}

func (l *lane) replay(s *session, history []message.Message, of owner, pins policy.Pins, forms policy.Forms) replayed {
	if l.memo.current(s, of) && l.memo.grow(history) {
		l.memo.recognize(s)
		return l.memo.now
	}
	l.astray()
	l.account.conv = nil // no second one is held
	steps, _, edits := s.record(of)
	l.memo = memo{history: slices.Clone(history), steps: len(steps), edits: edits, origins: s.originCount()}
	l.memo.now = s.replay(history, of, pins, forms, nil)
	l.memo.recognized = l.memo.now.conv.Len()
	return l.memo.now
}

// unstudied returns the messages of the history that were not searched for
// secrets yet.
func (m *memo) unstudied(history []message.Message) []message.Message {
	from := min(m.studied, len(history))
	m.studied = len(history)
	return history[from:]
}

// current reports whether no step of the lane has come since the memo was
// made. Those of other lanes change nothing.
func (m *memo) current(s *session, of owner) bool {
	steps, _, edits := s.record(of)
	if m.now.conv == nil || m.steps > len(steps) || m.edits != edits {
		return false
	}
	for i := m.steps; i < len(steps); i++ {
		if steps[i].owner() == of {
			return false
		}
	}
	m.steps = len(steps)
	return true
}

// grow takes in a history that begins with the one that is remembered, byte
// for byte, and has not grown to where another step begins. It reports false,
// and changes nothing, for any other.
func (m *memo) grow(history []message.Message) bool {
	known := len(m.history)
	more := len(history) - known
	if more < 0 || more > m.now.room {
		return false
	}
	for i := range m.history {
		if !message.Identical(m.history[i], history[i]) {
			return false
		}
	}
	m.now.room -= more
	m.now.conv = m.now.conv.Append(history[known:])
	m.history = append(m.history, history[known:]...)
	return true
}

// recognize attaches what the ledger knows of messages that came in edited:
// of those that are new, or, where the ledger has learned more, of all.
func (m *memo) recognize(s *session) {
	n := s.originCount()
	if n == 0 {
		return
	}
	from := m.recognized
	if n != m.origins {
		from = 0
	}
	m.now.conv.Recognize(from, s.known)
	m.origins, m.recognized = n, m.now.conv.Len()
}

// seen is how the engine sees a replayed conversation, as far as it was asked.
// What depends on the model is made anew when another one is named.
type seen struct {
	ep       *epoch
	costs    []int        // of the messages of the history
	observed int          // what those of them cost that hold tool results
	view     *policy.View // of the conversation, or of how it began
}

// view returns how the stages see the history with the edits of earlier steps.
func (c *call) view() *policy.View {
	s, conv := c.now.seen, c.now.conv
	q := c.engineRequest()
	q.Costs = c.costs()
	switch {
	case s.view == nil:
		s.view = c.ep.engine.View(conv, q)
	case len(s.view.Messages) < conv.Len():
		s.view = c.ep.engine.Grow(s.view, conv, q)
	}
	return s.view
}

// costs returns what the messages of the history cost as they came in.
func (c *call) costs() []int {
	s := c.now.seen
	if s.ep != c.ep {
		*s = seen{ep: c.ep}
	}
	for i := len(s.costs); i < len(c.history); i++ {
		cost := c.ep.estimator.Message(c.history[i])
		s.costs = append(s.costs, cost)
		if c.history[i].Has(message.KindToolResult) {
			s.observed += cost
		}
	}
	return s.costs
}

// remember keeps the outcome of a step that was committed: it is what a replay
// of the ledger would give.
func (c *call) remember(out *policy.Outcome) {
	steps, n := c.s.snapshot(), c.res.Step
	if n < 1 || n > len(steps) || steps[n-1].owner() != c.q.owner() {
		return
	}
	made := &steps[n-1]
	if made.Out != c.outChain.At(out.Conversation, made.Out.N) {
		return
	}
	c.lane.memo.went(c.now, c, out, made)
	c.lane.memo.steps = n
}

// rememberEdits is remember for edits that were appended. Where other edits of
// the lane have come meanwhile, nothing is remembered.
func (c *call) rememberEdits(out *policy.Outcome, seq int64) {
	_, all, own := c.s.record(c.q.owner())
	if m := &c.lane.memo; own == m.edits+1 {
		at := sort.Search(len(all), func(i int) bool { return all[i].seq >= seq })
		m.went(c.now, c, out, &all[at])
		m.edits = own
	}
}

// went goes on with the outcome of a step.
func (m *memo) went(now replayed, c *call, out *policy.Outcome, made *ledgerStep) {
	if made.cuts() && made.In.N == now.conv.Unpinned() {
		now.room = 0 // see replay
	}
	now.chain, now.conv = c.outChain, out.Conversation
	now.went(made)
	now.edits += made.edits()
	q := c.engineRequest()
	q.Conversation = out.Conversation
	now.seen = &seen{ep: c.ep, costs: c.costs(), observed: c.now.seen.observed, view: c.ep.engine.Settle(out.View, q)}
	m.now = now
}

// firstChanged returns the first message that a run changed; 0 where it took
// some out.
func firstChanged(out *policy.Outcome) int {
	first := out.Conversation.Len()
	for _, p := range out.Passes {
		for _, e := range p.Edits {
			if e.Cut != nil {
				return 0
			}
			first = min(first, e.Text.Index)
		}
	}
	return first
}
