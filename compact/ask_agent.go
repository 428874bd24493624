package compact

import (
	"context"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

// AsksAgent reports whether the agent's own model writes summaries, for some
// calls at least. It is false for a nil manager.
func (m *CompactManager) AsksAgent() bool {
	if m == nil || m.cfg.Observe {
		return false
	}
	asks := m.cfg.Summarizer.Backend == backendAgent
	for _, o := range m.cfg.Overrides {
		asks = asks || o.backend() == backendAgent
	}
	return asks
}

// asksAgent reports whether the agent's own model would write a summary of this
// call: the provider must have the last request in its cache, and the
// conversation must continue from it.
func (c *call) asksAgent() bool {
	if c.ep.cfg.Summarizer.Backend != backendAgent || c.q.last == nil || c.q.last.Ask == nil || c.s.agent.givenUp() {
		return false
	}
	return !c.lane.account.cacheIsCold(c) && !c.lane.account.uncached() && c.continuesSent(c.q.last.View)
}

// continuesSent reports whether the view begins with the messages that were sent.
func (c *call) continuesSent(sent []message.Fingerprint) bool {
	msgs := c.now.conv.Messages()
	if len(sent) == 0 || len(sent) > len(msgs) {
		return false
	}
	for i, fp := range sent {
		if msgs[i].Fingerprint() != fp {
			return false
		}
	}
	return true
}

// byAgent configures a writer if the backend is agent: it asks the agent's own
// model if this is possible now. Otherwise, and after any failure, the extractive
// backend writes the summary.
func (c *call) byAgent(w *summarize.Writer) {
	if c.ep.cfg.Summarizer.Backend != backendAgent {
		return
	}
	// One attempt gets the whole timeout: an attempt that is too slow may still
	// be billed, and no time is left for a second one.
	w.Fallback, w.Retries, w.Attempt = summarize.FallbackExtractive, -1, w.Timeout
	a := summarize.Agent{Model: c.ep.name}
	switch {
	case c.asksAgent():
		a.Seen, a.Ask, a.StandIn = len(c.q.last.View), c.s.agent.asking(c.q.last.Ask), c.q.last.StandIn
	case c.lane.flights.Waiting(): // a summary that was begun earlier can be used, but no new one is started
		a.Ask = func(context.Context, string) (strategy.Draft, error) {
			return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrRejected, Detail: errCold}
		}
	default:
		c.whyNotAgent()
		w.Summarizer = strategy.Extractive{}
		return
	}
	w.Summarizer = a
}

// whyNotAgent warns about reasons that users don't expect. A cold cache after a
// pause is expected.
func (c *call) whyNotAgent() {
	switch {
	case c.q.last == nil:
		c.s.agent.say("needs a request that goes through hook/transport or compactctl serve, and this call has none")
	case c.lane.account.uncached():
		c.s.agent.say("the provider reports that no token of the last prompts was read from a cache")
	}
}

// heardAgent records the outcome of a summary by the agent's own model.
func (c *call) heardAgent(i summarize.CallInfo) {
	if i.Backend == backendAgent && i.Phase == summarize.Finished {
		c.s.agent.ended(i.Err)
	}
}

// sayAgent adds the pending warnings to the result.
func (c *call) sayAgent() {
	if !c.q.dry {
		c.res.Warnings = append(c.res.Warnings, c.s.agent.warnings()...)
	}
}
