package compact

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/reduce"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/policy/tidy"
)

// legal returns the check for the engine; nil if the wire is unknown.
func (c *call) legal() func([]message.Message, []int) error {
	if c.rules == nil {
		return nil
	}
	return c.rules.check
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
		*s = viewCache{ep: c.ep}
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

// engineRequest returns the request to the engine.
func (c *call) engineRequest() reduce.Request {
	return reduce.Request{
		Conversation: c.now.conv, Fixed: c.fixed, Outside: c.outside, Budget: c.budget,
		Manual: c.q.manual, Estimate: c.q.dry, Legal: c.legal(), Recall: c.canRecall(),
		View: c.now.seen.view, Costs: c.now.seen.costs, Sent: c.wasSent().has, Ref: c.s.ref,
	}
}

// wasSent returns the results after the last answer that an earlier call has sent whole,
// if the model has not answered since. That call was a call of this process, or a call of
// another process that committed a step. A result that came later is not included, even if
// it is equal to one of these. The return value shares no data with the call, because
// views keep it.
func (c *call) wasSent() wholeResults {
	from := afterAnswer(c.history)
	if c.lane.sent.from == from {
		return c.lane.sent
	}
	to := c.s.seenBeyond(from, c.history, c.q.owner(), c.ep.engine.Pins)
	return wholeResults{from: from, results: resultsOf(c.history[from:to])}
}

// afterAnswer returns the index of the first message after the last answer.
func afterAnswer(msgs []message.Message) int {
	i := len(msgs)
	for i > 0 && msgs[i-1].Role != message.RoleAssistant {
		i--
	}
	return i
}

func resultsOf(msgs []message.Message) map[message.Fingerprint]bool {
	var of map[message.Fingerprint]bool
	for i := range msgs {
		if msgs[i].Has(message.KindToolResult) {
			if of == nil {
				of = map[message.Fingerprint]bool{}
			}
			of[msgs[i].Fingerprint()] = true
		}
	}
	return of
}

func (c *call) tidies() bool { return slices.Contains(c.ep.cfg.Policy.Stages, tidy.StageName) }

// canRecall reports whether the model can recall references.
func (c *call) canRecall() bool {
	return c.q.answered || !c.q.unnamed && declares(c.q.tools)
}

// declares reports whether a request's tools include the recall tool: a tool of
// that name, on any wire, with a parameter ref.
func declares(tools json.RawMessage) bool {
	if !strings.Contains(string(tools), `"`+recallName+`"`) { // most requests don't have it
		return false
	}
	var list []json.RawMessage
	return json.Unmarshal(tools, &list) == nil && anyDeclares(list)
}

func anyDeclares(list []json.RawMessage) bool {
	for _, raw := range list {
		var t struct {
			Name      string            `json:"name"`
			Function  json.RawMessage   `json:"function"`
			Functions []json.RawMessage `json:"functionDeclarations"`
			Snake     []json.RawMessage `json:"function_declarations"`
		}
		if json.Unmarshal(raw, &t) != nil {
			continue
		}
		if t.Name == recallName && strings.Contains(string(raw), `"ref"`) ||
			t.Function != nil && anyDeclares([]json.RawMessage{t.Function}) || anyDeclares(t.Functions) || anyDeclares(t.Snake) {
			return true
		}
	}
	return false
}
