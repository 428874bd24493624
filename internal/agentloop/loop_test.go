package agentloop

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"testing"

	_ "github.com/agentcompact/compact/internal/testkey"
)

// plainAgent is an agent without an SDK.
type plainAgent struct {
	at       *Endpoint
	messages []map[string]any
}

func open(_ context.Context, at *Endpoint) (Agent, error) {
	return &plainAgent{at, []map[string]any{{"role": "system", "content": "You read files."}}}, nil
}

func (p *plainAgent) Fork(_ context.Context, at *Endpoint) (Agent, error) {
	return &plainAgent{at, slices.Clone(p.messages)}, nil
}

func (p *plainAgent) Run(ctx context.Context, t Turn) (string, error) {
	p.messages = append(p.messages, map[string]any{"role": "user", "content": t.Say})
	for {
		m, err := p.ask(ctx, t.Model)
		if err != nil {
			return "", err
		}
		p.messages = append(p.messages, m)
		calls, _ := m["tool_calls"].([]any)
		if len(calls) == 0 {
			return fmt.Sprint(m["content"]), nil
		}
		for _, c := range calls {
			id := c.(map[string]any)["id"]
			p.messages = append(p.messages, map[string]any{"role": "tool", "tool_call_id": id, "content": p.at.Read("notes")})
		}
	}
}

func (p *plainAgent) ask(ctx context.Context, model string) (map[string]any, error) {
	body, err := json.Marshal(map[string]any{"model": model, "messages": p.messages, "tools": []any{
		map[string]any{"type": "function", "function": map[string]any{"name": "read"}},
	}})
	if err != nil {
		return nil, err
	}
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, p.at.URL+"/v1/chat/completions", bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	q.Header.Set("Content-Type", "application/json")
	resp, err := p.at.Client.Do(q)
	if err != nil {
		return nil, err
	}
	defer func() { _ = resp.Body.Close() }()
	var answer struct {
		Choices []struct{ Message map[string]any }
	}
	said, err := io.ReadAll(resp.Body)
	if err == nil {
		err = json.Unmarshal(said, &answer)
	}
	if err != nil || len(answer.Choices) == 0 {
		return nil, fmt.Errorf("%s: %w", said, err)
	}
	return answer.Choices[0].Message, nil
}

// An agent without an SDK: its failures are not an SDK's fault.
func TestLoopWithoutAnSDK(t *testing.T) {
	s := SDK{Name: "net/http", Models: [2]string{"gpt-4o", "gpt-4.1"}, Open: open}
	steps := 60
	if testing.Short() {
		steps = 40
	}
	Loop{Window: 16_000, Steps: steps}.Run(t, s).Check(t, s)
}

func TestSharedCountsBeginningAndEnd(t *testing.T) {
	for _, c := range []struct {
		before, after string
		want          float64
	}{
		{"abcd", "abcd", 1}, {"ab]}", "abcd]}", 1}, {"abcd", "abxx", 0.5}, {"abcd", "xbcx", 0}, {"aaaa", "aa", 0.5},
	} {
		if got := shared([]byte(c.before), []byte(c.after)); got != c.want {
			t.Errorf("%q then %q: %v", c.before, c.after, got)
		}
	}
}
