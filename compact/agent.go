package compact

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

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
