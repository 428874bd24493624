package sdktest

import (
	"context"
	"fmt"
	"testing"

	"github.com/agentcompact/compact/internal/agentloop"
)

// With COMPACT_SOAK the loops are long.
func TestLoop(t *testing.T) {
	var all []agentloop.SDK
	for _, s := range sdks {
		all = append(all, agentloop.SDK{Name: s.name, Models: s.models, Streams: true, Open: func(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
			return &looping{s.open(placeOf(at)), at}, nil
		}})
	}
	agentloop.Test(t, all...)
}

func placeOf(at *agentloop.Endpoint) place { return place{url: at.URL, client: at.Client} }

// looping is the loop that a program writes around an SDK without a loop.
type looping struct {
	agent agent
	at    *agentloop.Endpoint
}

// Run implements [agentloop.Agent].
func (l *looping) Run(ctx context.Context, t agentloop.Turn) (text string, err error) {
	l.agent.set(mode{t.Model, t.Stream})
	l.agent.user(t.Say)
	calls, text, err := l.agent.say(ctx, nil)
	for len(calls) > 0 && err == nil {
		var results []string
		for _, c := range calls {
			if c.name != "read" {
				return "", fmt.Errorf("the model called %q, want %q", c.name, "read")
			}
			results = append(results, l.at.Read(c.args))
		}
		calls, text, err = l.agent.say(ctx, results)
	}
	return text, err
}

// Fork implements [agentloop.Agent].
func (l *looping) Fork(_ context.Context, at *agentloop.Endpoint) (agentloop.Agent, error) {
	return &looping{l.agent.fork(placeOf(at)), at}, nil
}
