package sdktest

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"testing"

	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

func forEach(t *testing.T, f func(t *testing.T, s sdk, stream bool)) {
	for _, s := range sdks {
		for _, stream := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s stream=%v", s.name, stream), func(t *testing.T) { f(t, s, stream) })
		}
	}
}

// go-openai and genai send once; the other SDKs send again by themselves.
func TestRetriesOfAnSDKCostOneCompaction(t *testing.T) {
	forEach(t, func(t *testing.T, s sdk, stream bool) {
		quiet, failing := newRig(t), newRig(t)
		ctx := transport.WithSession(context.Background(), "s")
		quiet.work(ctx, quiet.open(s, stream))

		a := failing.open(s, stream)
		if !retries[s.name] {
			a = again{a}
		}
		failing.server.Reply = func(q provider.Request) provider.Answer {
			out := failing.reply(q)
			if failing.calls%10 == 0 {
				failing.server.Fail(provider.Failure{Status: 500})
			}
			return out
		}
		failing.work(ctx, a)
		if bad := failing.refused(); len(bad) != rounds/10 || slices.Max(bad) != 500 {
			t.Errorf("refused: %v", bad)
		}
		if failing.steps() != quiet.steps() {
			t.Errorf("%d compactions with retries, %d without", failing.steps(), quiet.steps())
		}
		requests := failing.server.Requests()
		for i, q := range requests[:len(requests)-1] {
			if q.Status == 500 && string(q.Body) != string(requests[i+1].Body) {
				t.Errorf("request %d was sent again with another body", i)
			}
		}
	})
}

var retries = map[string]bool{"openai-go chat": true, "openai-go responses": true, "anthropic-sdk-go": true}

// again is an agent that retries each failed call once.
type again struct{ agent }

func (a again) say(ctx context.Context, results []string) ([]call, string, error) {
	calls, text, err := a.agent.say(ctx, results)
	if err == nil {
		return calls, text, nil
	}
	return a.agent.say(ctx, nil)
}

// The provider's window is smaller than the configured one.
func TestOverflowsAreHiddenFromTheProgram(t *testing.T) {
	forEach(t, func(t *testing.T, s sdk, stream bool) {
		for _, inStream := range []bool{false, true} {
			r := newRig(t)
			r.server.Window, r.server.InStream = 9_000, inStream
			if text := r.work(transport.WithSession(context.Background(), "s"), r.open(s, stream)); text != "done" {
				t.Errorf("the agent ended with %q, want %q", text, "done")
			}
			over := 0
			for _, q := range r.server.Requests() {
				if q.Prompt > r.server.Window || q.Status == http.StatusBadRequest {
					over++
				}
			}
			if over == 0 {
				t.Error("nothing overflowed: the test proves nothing")
			}
			if extra := len(r.server.Requests()) - (rounds + 1); extra != over {
				t.Errorf("%d overflows, %d more requests", over, extra)
			}
		}
	})
}
