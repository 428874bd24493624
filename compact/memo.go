package compact

import (
	"slices"
	"sort"

	"github.com/agentcompact/compact/internal/ledger"
	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// memo caches the replay of a lane's last history, for histories that continue
// it. It changes no outcome: it holds exactly the result of a replay of the
// ledger.
type memo struct {
	history []message.Message
	steps   int // number of the session's steps when it was made
	edits   int // number of the lane's edits between steps
	now     replayed

	origins    int // number of known edited messages
	studied    int // number of leading messages that were searched for secrets
	recognized int // number of leading messages of the conversation that were looked up among the edited ones
}

func (l *lane) replay(s *session, history []message.Message, of ledger.Owner, pins policy.Pins, forms policy.Forms) replayed {
	if l.memo.current(s, of) && l.memo.grow(history) {
		l.memo.recognize(s)
		return l.memo.now
	}
	if l.memo.now.conv != nil && inCommon(l.memo.history, history) < len(l.memo.history) {
		l.strands.change(l.memo.history, history)
	}
	l.astray()
	l.account.conv = nil // release the old conversation
	steps, _, edits := s.record(of)
	l.memo = memo{history: slices.Clone(history), steps: len(steps), edits: edits, origins: s.originCount()}
	l.memo.now = s.replay(history, of, pins, forms, nil)
	l.memo.recognized = l.memo.now.conv.Len()
	return l.memo.now
}

// inCommon returns the number of leading messages that are the same in two histories,
// byte for byte.
func inCommon(a, b []message.Message) int {
	for i := range min(len(a), len(b)) {
		if !message.Identical(a[i], b[i]) {
			return i
		}
	}
	return min(len(a), len(b))
}

// unstudied returns the messages of the history that were not searched for
// secrets.
func (m *memo) unstudied(history []message.Message) []message.Message {
	from := min(m.studied, len(history))
	m.studied = len(history)
	return history[from:]
}

// current reports whether the lane has no new steps or edits since the memo was made.
// Steps and edits of other lanes have no effect.
func (m *memo) current(s *session, of ledger.Owner) bool {
	steps, _, edits := s.record(of)
	if m.now.conv == nil || m.steps > len(steps) || m.edits != edits {
		return false
	}
	for i := m.steps; i < len(steps); i++ {
		if steps[i].Owner() == of {
			return false
		}
	}
	m.steps = len(steps)
	return true
}

// grow extends the memo to a longer history. The longer history must begin, byte for
// byte, with the remembered history, and no further step can apply to it. For any other
// history it returns false and changes nothing.
func (m *memo) grow(history []message.Message) bool {
	known := len(m.history)
	more := len(history) - known
	if more > m.now.room || inCommon(m.history, history) < known {
		return false
	}
	m.now.room -= more
	m.now.conv = m.now.conv.Append(history[known:])
	m.history = append(m.history, history[known:]...)
	return true
}

// recognize attaches the origins of messages that were already edited when they
// came in: of new messages, or of all if the ledger has new origins.
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

// seen caches the costs and the view of a replayed conversation. Values that
// depend on the model are recomputed for another model.
type seen struct {
	ep       *epoch
	costs    []int        // tokens of the messages of the history
	observed int          // tokens of messages with tool results
	view     *policy.View // view of the conversation, or of its beginning
}

// view returns the view of the history with the edits of earlier steps, for the
// stages.
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

// costs returns the tokens of the unedited messages of the history.
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

// remember puts the outcome of a committed step into the memo. A replay of the ledger
// would return the same outcome.
func (c *call) remember(out *reduce.Outcome) {
	steps, n := c.s.snapshot(), c.res.Step
	if n < 1 || n > len(steps) || steps[n-1].Owner() != c.q.owner() {
		return
	}
	made := &steps[n-1]
	if made.Out != c.outChain.At(out.Conversation, made.Out.N) {
		return
	}
	c.lane.memo.went(c.now, c, out, made)
	c.lane.memo.steps = n
}

// rememberEdits does the same for appended edits. If others have appended edits
// of the lane, it does nothing.
func (c *call) rememberEdits(out *reduce.Outcome, seq int64) {
	_, all, own := c.s.record(c.q.owner())
	if m := &c.lane.memo; own == m.edits+1 {
		at := sort.Search(len(all), func(i int) bool { return all[i].Seq >= seq })
		m.went(c.now, c, out, &all[at])
		m.edits = own
	}
}

// went replaces the memo by the outcome of a step.
func (m *memo) went(now replayed, c *call, out *reduce.Outcome, made *ledger.Step) {
	if made.Cuts() && made.In.N == now.conv.Unpinned() {
		now.room = 0 // see replay
	}
	now.chain, now.conv = c.outChain, out.Conversation
	now.went(made)
	now.edits += made.CountEdits()
	q := c.engineRequest()
	q.Conversation = out.Conversation
	now.seen = &seen{ep: c.ep, costs: c.costs(), observed: c.now.seen.observed, view: c.ep.engine.Settle(out.View, q)}
	m.now = now
}

// firstChanged returns the index of the first message that a run changed; 0 if
// it removed any.
func firstChanged(out *reduce.Outcome) int {
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
