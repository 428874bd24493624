package summarize

import (
	"context"
	"errors"

	"github.com/agentcompact/compact/strategy"
)

// BackendAgent is the name of [Agent].
const BackendAgent = "agent"

// Agent is a Summarizer that asks the agent's own model. It sends the agent's last
// request again, byte for byte, with one instruction at its end. The provider has that
// request in its cache, and no other part of the history is sent.
type Agent struct {
	Model string
	// Seen is the number of messages of the view in that request. The model has not
	// read later messages, so they can't be summarized.
	Seen int
	// Ask sends that request with an instruction at its end. It returns the errors of
	// [strategy.Summarizer.Summarize], and [strategy.ErrUnusable] for an answer that calls a tool.
	Ask func(ctx context.Context, instruction string) (strategy.Draft, error)
	// StandIn is for replays: the extractive backend writes the summary, and Ask only
	// returns the tokens that the provider would have billed.
	StandIn bool
}

var (
	_ strategy.Summarizer = Agent{}
	_ strategy.Describer  = Agent{}
)

var errUnseen = errors.New("the messages to summarize were not in the agent's last request")

// Summarize asks with the instruction of the request.
func (a Agent) Summarize(ctx context.Context, r strategy.Request) (strategy.Draft, error) {
	if r.Upto > a.Seen {
		return strategy.Draft{}, &strategy.Failure{Reason: strategy.ErrRejected, Detail: errUnseen}
	}
	d, err := a.Ask(ctx, r.Instruction())
	if err != nil || !a.StandIn {
		return d, err
	}
	written, err := strategy.Extractive{}.Summarize(ctx, r)
	if err != nil {
		return d, err
	}
	d.Text, d.CompletionTokens = written.Text, r.Count(written.Text)
	return d, nil
}

// Describe returns the name of the backend and the model. The Info has no limit on the
// input, because the agent's request already holds the whole input.
func (a Agent) Describe() strategy.Info {
	return strategy.Info{Name: BackendAgent, Model: a.Model, Remote: true}
}
