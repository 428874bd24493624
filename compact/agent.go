package compact

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
	"github.com/agentcompact/compact/price"
	"github.com/agentcompact/compact/strategy"
)

// backendAgent is the summary backend that appends an instruction to the
// agent's last request and sends it to the agent's own model.
const backendAgent = summarize.BackendAgent

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
	// StandIn means that the answer of Ask is only billed, and the extractive
	// backend writes the summary. It is for replays of recorded sessions.
	StandIn bool
}

// An AgentAnswer is the answer of the agent's own model to an instruction.
type AgentAnswer struct {
	Text     string
	Calls    string // the tool that the answer calls; "" = none
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
		asks = asks || o.backend() == backendAgent
	}
	return asks
}

// agentState holds a session's facts about summaries by the agent's own model.
type agentState struct {
	mu      sync.Mutex
	gone    bool // the backend is given up for the session
	failed  int  // consecutive summaries that failed
	said    map[string]bool
	waiting []string // warnings for the next result
}

// mostFailed is the number of consecutive failed summaries after which the
// backend is given up.
const mostFailed = 2

func (a *agentState) givenUp() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.gone
}

// say adds a warning, once for each session.
func (a *agentState) say(what string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.tell(what)
}

// tell implements say; the caller holds a.mu.
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

// giveUp gives the backend up for the session; the caller holds a.mu.
func (a *agentState) giveUp(why string) {
	a.gone = true
	a.tell(why)
}

// answered gives the backend up if an answer reports no cache usage, or no
// tokens read from the cache: such a summary costs a whole prompt.
func (a *agentState) answered(d strategy.Draft) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.gone:
	case !d.CacheKnown:
		a.giveUp("not used again in this session, because the answer does not report the tokens read from a cache (a stream of chat completions needs stream_options.include_usage)")
	case d.CachedTokens == 0:
		a.giveUp("not used again in this session, because no token of its prompt was read from a cache")
	}
}

// ended records the outcome of a summary. After mostFailed consecutive failures
// it gives the backend up; transient failures don't count.
func (a *agentState) ended(err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case err == nil:
		a.failed = 0
		return
	case errors.Is(err, strategy.ErrTransient), errors.Is(err, errCold): // transient: the next request can succeed
		return
	}
	if a.failed++; a.failed >= mostFailed && !a.gone {
		a.giveUp("not used again in this session, because its last summaries failed")
	}
}

// asking adapts ask to a summarizer, and evaluates its answers.
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

// refusal returns the reason why an answer can't be a summary; nil = it can.
func (a AgentAnswer) refusal() error {
	switch {
	case a.Calls != "":
		return &strategy.Failure{Reason: strategy.ErrUnusable, Detail: fmt.Errorf("it calls the tool %s", a.Calls)}
	case a.Withheld:
		return &strategy.Failure{Reason: strategy.ErrFiltered}
	case a.CutOff:
		return &strategy.Failure{Reason: strategy.ErrCutOff}
	}
	return nil
}

// failure converts the error of a request to the error of a summary.
func failure(err error) error {
	e := new(AskError)
	if !errors.As(err, &e) {
		return err
	}
	f := &strategy.Failure{Reason: strategy.ErrRejected, Status: e.Status, RetryAfter: e.RetryAfter, Detail: e.Err}
	switch {
	case e.TooLong, e.Status == http.StatusRequestEntityTooLarge:
		f.Reason = strategy.ErrContextLength
	case e.Unreadable: // a retry would return the same
	case e.Status == 0, e.Status == http.StatusTooManyRequests, e.Status == http.StatusRequestTimeout, e.Status >= 500:
		f.Reason = strategy.ErrTransient
	}
	return f
}

// warnings returns the pending warnings, and clears them.
func (a *agentState) warnings() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	out := a.waiting
	a.waiting = nil
	return out
}

var errCold = errors.New("the provider's cache does not hold the agent's last request")

// asksAgent reports whether the agent's own model would write a summary of this
// call: the provider must have the last request in its cache, and the
// conversation must continue from it.
func (c *call) asksAgent() bool {
	if c.ep.cfg.Summarizer.Backend != backendAgent || c.q.last == nil || c.q.last.Ask == nil || c.s.agent.givenUp() {
		return false
	}
	return !c.lane.account.cold(c) && !c.lane.account.uncached() && c.goesOn(c.q.last.View)
}

// uncached reports whether the provider seems to have no cache for the lane. One
// call without cached tokens proves nothing: it can follow a pause.
func (a *account) uncached() bool {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.unread > 1
}

// goesOn reports whether the view begins with the messages that were sent.
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

// byAgent configures a writer if the backend is agent: it asks the agent's own
// model if that can be asked now. Otherwise, and after any failure, the
// extractive backend writes.
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
	case c.lane.flights.Waiting(): // a summary that was begun earlier can be taken, but no new one is started
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

// summaryByAgent adds to a candidate the cost of a summary by the agent's own model.
// The request for it reads the whole prompt from the cache: Summary has the price of
// the messages that stay, and Reading has the price of the messages to remove.
func (c *call) summaryByAgent(x *price.Candidate, o policy.Offer) {
	x.Summary = c.ep.card.Cost(price.Usage{Cached: o.Level, Output: c.expected(c.view())})
	x.Reading = c.ep.card.Cost(price.Usage{Cached: o.Gone})
}
