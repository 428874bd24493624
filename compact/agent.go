package compact

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/strategy"
	"github.com/agentcompact/compact/trace"
)

// backendAgent is the backend of summaries that asks the agent's own model,
// behind what the agent has sent it.
const backendAgent = strategy.BackendAgent

// A LastRequest is the previous request of an agent, as it was sent. With
// summarizer.backend agent the instruction to summarize is appended to it.
// hook/transport passes it in.
type LastRequest struct {
	// View holds the fingerprints of its messages, in order.
	View []message.Fingerprint
	// Ask sends it again with one more message, the instruction; nil: nothing was
	// sent yet. It makes one attempt. The error is the context's, or an
	// *[AskError], and the answer may have a usage even then. Ask may be called
	// after the call that got the LastRequest has returned.
	Ask func(ctx context.Context, instruction string) (AgentAnswer, error)
	// StandIn: the answer of Ask is only billed, and the extractive backend
	// writes the summary. It is for replays of recorded sessions.
	StandIn bool
}

// An AgentAnswer is the answer of the agent's own model to an instruction.
type AgentAnswer struct {
	Text     string
	Calls    string // the tool it calls; "" = none
	CutOff   bool   // the provider cut it off at the token limit
	Withheld bool   // a content filter of the provider ended it
	Usage    Usage  // PromptTokens 0: the provider reported none
}

// An AskError is the reason why a request brought no answer.
type AskError struct {
	Status     int           // of HTTP; 0: no response
	RetryAfter time.Duration // delay that the provider asked for; 0: none
	TooLong    bool          // the provider says that the prompt is too long
	Unreadable bool          // the response cannot be parsed
	Err        error
}

func (e *AskError) Error() string { return e.Err.Error() }

// Unwrap returns Err.
func (e *AskError) Unwrap() error { return e.Err }

// WithLastRequest passes the previous request of the agent. Only
// summarizer.backend agent uses it.
func WithLastRequest(l LastRequest) Option { return func(r *request) { r.last = &l } }

// AsksAgent reports whether the agent's own model writes summaries, for some
// calls at least. It is false for a nil manager.
func (m *CompactManager) AsksAgent() bool {
	if m == nil || m.cfg.Observe {
		return false
	}
	asks := m.cfg.Summarizer.Backend == backendAgent
	for _, o := range m.cfg.Overrides {
		asks = asks || o.Set["summarizer.backend"] == backendAgent
	}
	return asks
}

// agentState is what a session knows of summaries by the agent's own model.
type agentState struct {
	mu      sync.Mutex
	gone    bool // it is given up for the session
	failed  int  // summaries in a row that it did not write
	said    map[string]bool
	waiting []string // warnings for the next result
}

// mostFailed is how many summaries in a row may come to nothing.
const mostFailed = 2

func (a *agentState) givenUp() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.gone
}

// say has something said once a session.
func (a *agentState) say(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell(what)
}

// tell is say; a.mu is held.
func (a *agentState) tell(what string) {
	if a.said[what] {
		return
	}
	if a.said == nil {
		a.said = map[string]bool{}
	}
	a.said[what] = true
	a.waiting = append(a.waiting, "summarizer.backend agent: "+what+"; the extractive backend writes the summaries")
}

// giveUp ends the asking for the session; a.mu is held.
func (a *agentState) giveUp(why string) {
	a.gone = true
	a.tell(why)
}

// answered takes in what an answer says of the cache.
func (a *agentState) answered(d strategy.Draft) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.gone:
	case !d.CacheKnown:
		a.giveUp("given up for this session, since the answer does not say what of its prompt was read from a cache (of a stream of chat completions it does with stream_options.include_usage)")
	case d.CachedTokens == 0:
		a.giveUp("given up for this session, since nothing of its prompt was read from a cache")
	}
}

// ended takes in how a summary came out.
func (a *agentState) ended(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		a.failed = 0
		return
	case errors.Is(err, strategy.ErrTransient), errors.Is(err, errCold): // which say nothing of the next
		return
	}
	if a.failed++; a.failed >= mostFailed && !a.gone {
		a.giveUp("given up for this session, since the model has not written the last summaries")
	}
}

// asking makes ask what a summarizer wants, and hears what it answers.
func (a *agentState) asking(ask func(context.Context, string) (AgentAnswer, error)) func(context.Context, string) (strategy.Draft, error) {
	return func(ctx context.Context, instruction string) (strategy.Draft, error) {
		answer, err := ask(ctx, instruction)
		d := answer.draft()
		if err == nil || d.PromptTokens > 0 {
			a.answered(d)
		}
		if err != nil {
			return d, failure(err)
		}
		return d, answer.refusal()
	}
}

func (a AgentAnswer) draft() strategy.Draft {
	u := a.Usage
	return strategy.Draft{
		Text: a.Text, PromptTokens: u.PromptTokens, CompletionTokens: u.OutputTokens,
		CacheKnown: u.CacheKnown && u.PromptTokens > 0, CachedTokens: u.CachedTokens, WrittenTokens: u.WrittenTokens + u.WrittenHourTokens,
	}
}

// refusal says why an answer is no summary; nil = it may be one.
func (a AgentAnswer) refusal() error {
	switch {
	case a.Calls != "":
		return &strategy.Failure{Reason: strategy.ErrRefused, Detail: fmt.Errorf("it calls the tool %s", a.Calls)}
	case a.Withheld:
		return &strategy.Failure{Reason: strategy.ErrFiltered}
	case a.CutOff:
		return &strategy.Failure{Reason: strategy.ErrCutOff}
	}
	return nil
}

// failure says what it means for a summary that there is no answer.
func failure(err error) error {
	e := new(AskError)
	if !errors.As(err, &e) {
		return err
	}
	f := &strategy.Failure{Reason: strategy.ErrRejected, Status: e.Status, RetryAfter: e.RetryAfter, Detail: e.Err}
	switch {
	case e.TooLong, e.Status == http.StatusRequestEntityTooLarge:
		f.Reason = strategy.ErrContextLength
	case e.Unreadable: // and would be again
	case e.Status == 0, e.Status == http.StatusTooManyRequests, e.Status == http.StatusRequestTimeout, e.Status >= 500:
		f.Reason = strategy.ErrTransient
	}
	return f
}

// warnings returns what is to be said, once.
func (a *agentState) warnings() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.waiting
	a.waiting = nil
	return out
}

var errCold = errors.New("the provider's cache does not hold the agent's last request")

// asksAgent reports whether a summary of this call would be asked of the agent's
// own model: behind a request that the provider holds in its cache, and that
// this conversation goes on from.
func (c *call) asksAgent() bool {
	if c.ep.cfg.Summarizer.Backend != backendAgent || c.q.last == nil || c.q.last.Ask == nil || c.s.agent.givenUp() {
		return false
	}
	return !c.lane.account.cold(c) && !c.lane.account.uncached() && c.goesOn(c.q.last.View)
}

// uncached reports whether the provider seems to have no cache for the lane. One
// call without is any call after a pause.
func (a *account) uncached() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.unread > 1
}

// goesOn reports whether a view begins as the one that was sent.
func (c *call) goesOn(sent []message.Fingerprint) bool {
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

// byAgent makes a writer ask the agent's own model, where the configuration says
// so and that can be done; else the extractive backend writes. Whatever fails,
// that writes, too.
func (c *call) byAgent(w *strategy.Writer) {
	if c.ep.cfg.Summarizer.Backend != backendAgent {
		return
	}
	// One attempt has all the time: whether one that was too slow is billed nobody
	// knows, and nobody waits for another.
	w.Fallback, w.Retries, w.Attempt = strategy.FallbackExtractive, -1, w.Timeout
	a := strategy.Agent{Model: c.ep.name}
	switch {
	case c.asksAgent():
		a.Seen, a.Ask, a.StandIn = len(c.q.last.View), c.s.agent.asking(c.q.last.Ask), c.q.last.StandIn
	case c.lane.flights.Waiting(): // one that was begun earlier may be taken, none begins
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

// whyNotAgent says what people don't expect. That a cache is cold after a pause
// is no such thing.
func (c *call) whyNotAgent() {
	switch {
	case c.q.last == nil:
		c.s.agent.say("asks behind the requests that go through hook/transport or compactctl serve, and this call came without one")
	case c.lane.account.uncached():
		c.s.agent.say("the provider says that nothing of the last prompts was read from a cache")
	}
}

// heardAgent takes in how a summary by the agent's own model came out.
func (c *call) heardAgent(i strategy.CallInfo) {
	if i.Backend == backendAgent && i.Phase == strategy.Finished {
		c.s.agent.ended(i.Err)
	}
}

// sayAgent tells the caller what there is to say of it.
func (c *call) sayAgent() {
	if !c.q.dry {
		c.res.Warnings = append(c.res.Warnings, c.s.agent.warnings()...)
	}
}

// paidAgent is what a summary by the agent's own model has cost: the usage of
// that request. Where that is not said, all of the prompt counts as new.
func (c *call) paidAgent(p trace.Summarize) float64 {
	u := price.Usage{Cached: p.CachedTokens, Written: p.WrittenTokens, Fresh: max(p.PromptTokens-p.CachedTokens-p.WrittenTokens, 0), Output: p.CompletionTokens}
	if p.PromptTokens == 0 && p.ErrorType == "" {
		u = price.Usage{Fresh: c.res.Before.Total, Output: p.SummaryTokens}
	}
	return c.ep.card.Cost(u)
}

// summaryByAgent adds to a candidate what a summary by the agent's own model
// costs: the whole prompt is read from the cache, what stays of it and what goes.
func (c *call) summaryByAgent(x *price.Candidate, o policy.Offer) {
	x.Summary = c.ep.card.Cost(price.Usage{Cached: o.Level, Output: c.expected(c.view())})
	x.Reading = c.ep.card.Cost(price.Usage{Cached: o.Gone})
}
