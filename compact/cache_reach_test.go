package compact_test

import (
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/storage/memory"
)

// farTalk returns requests with rounds of 15 calls, of which the system prompt and the last
// message are marked: each ends 30 blocks after the previous one.
func farTalk(rounds int, model string) []byte {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	var b strings.Builder
	fmt.Fprintf(&b, `{"model":%q,"system":[{"type":"text","text":%q%s}],"messages":[{"role":"user","content":"Go."}`, model, strings.Repeat("Fix bugs. ", 300), mark)
	for r := range rounds {
		var asked, answered []string
		for i := range 15 {
			last := ""
			if r == rounds-1 && i == 14 {
				last = mark
			}
			asked = append(asked, fmt.Sprintf(`{"type":"tool_use","id":"c%d_%d","name":"f","input":{}}`, r, i))
			answered = append(answered, fmt.Sprintf(`{"type":"tool_result","tool_use_id":"c%d_%d","content":%q%s}`, r, i, strings.Repeat("word ", 100), last))
		}
		fmt.Fprintf(&b, `,{"role":"assistant","content":[%s]},{"role":"user","content":[%s]}`, strings.Join(asked, ","), strings.Join(answered, ","))
	}
	return []byte(b.String() + "]}")
}

// farCall makes a call of farTalk whose answer shows few cached tokens, and returns whether
// a warning has the blocks as the reason.
func farCall(t *testing.T, m *compact.CompactManager, rounds int, model, agent string) (warned bool) {
	t.Helper()
	req, err := anthropic.Wire.ParseRequest(farTalk(rounds, model), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Preflight(t.Context(), "s", req.Messages(), compact.WithRequest(req), compact.WithModel(model), compact.WithAgent(agent))
	if err != nil {
		t.Fatal(err)
	}
	m.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true})
	return strings.Contains(fmt.Sprint(res.Warnings), "more blocks than it looks back")
}

// The warning names the distance of the marks only if nothing else can be the reason: there was
// no pause, and the call is not the first, of another model or of another agent.
func TestTheWarningForFarMarksIsTrue(t *testing.T) {
	for name, c := range map[string]struct {
		pause         time.Duration
		models, agent []string
		want          bool
	}{
		"far marks":               {time.Second, []string{"claude-sonnet-4-5"}, []string{"a"}, true},
		"far marks, two agents":   {time.Second, []string{"claude-sonnet-4-5"}, []string{"a", "b"}, true},
		"the cache has expired":   {time.Hour + time.Minute, []string{"claude-sonnet-4-5"}, []string{"a"}, false},
		"another model":           {time.Second, []string{"claude-sonnet-4-5", "claude-opus-4-1"}, []string{"a"}, false},
		"first calls of 6 agents": {time.Second, []string{"claude-sonnet-4-5"}, []string{"a", "b", "c", "d", "e", "f"}, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			m, err := compact.New(t.Context(), compact.Config{Archive: memory.New(), MaxContextTokens: 200_000})
			if err != nil {
				t.Fatal(err)
			}
			warned := false
			for i := range 6 {
				warned = farCall(t, m, i+1, c.models[i%len(c.models)], c.agent[i%len(c.agent)]) || warned
				time.Sleep(c.pause)
			}
			if warned != c.want {
				t.Errorf("%s: warned %v, want %v", name, warned, c.want)
			}
			if err := m.Close(t.Context()); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Observe may run while the next call of the lane does.
func TestUsageArrivesDuringTheNextCall(t *testing.T) {
	m, err := compact.New(t.Context(), compact.Config{Archive: memory.New(), MaxContextTokens: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	for i := range 6 {
		req, err := anthropic.Wire.ParseRequest(farTalk(i+1, "claude-sonnet-4-5"), nil)
		if err != nil {
			t.Fatal(err)
		}
		res, err := m.Preflight(t.Context(), "s", req.Messages(), compact.WithRequest(req))
		if err != nil {
			t.Fatal(err)
		}
		wg.Go(func() {
			if !m.Observe(res, compact.Usage{PromptTokens: res.After.Total, CacheKnown: true, CachedTokens: 100}) {
				t.Error("the usage is not used")
			}
		})
	}
	wg.Wait()
	if got := m.Bill(); got.Measured != 6 {
		t.Errorf("%+v, want 6 measured calls", got)
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}

// An answer without cached tokens is no sign of a cold cache if the marks were too far: the
// call stored its prompt, and the next one, which adds few blocks, reads it.
func TestAMissOfFarMarksIsNoColdCache(t *testing.T) {
	m, err := compact.New(t.Context(), compact.Config{Archive: memory.New(), MaxContextTokens: 200_000})
	if err != nil {
		t.Fatal(err)
	}
	for i := range 2 {
		farCall(t, m, i+1, "claude-sonnet-4-5", "a")
	}
	body := strings.TrimSuffix(string(farTalk(2, "claude-sonnet-4-5")), "]}") +
		`,{"role":"assistant","content":"So."},{"role":"user","content":[{"type":"text","text":"Next.","cache_control":{"type":"ephemeral"}}]}]}`
	req, err := anthropic.Wire.ParseRequest([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := m.Preflight(t.Context(), "s", req.Messages(), compact.WithRequest(req), compact.WithModel("claude-sonnet-4-5"), compact.WithAgent("a"))
	if err != nil {
		t.Fatal(err)
	}
	if b := res.Bill.Estimated; b.Cached < b.Prompt()/2 {
		t.Errorf("%d of %d tokens are estimated to be cached", b.Cached, b.Prompt())
	}
	if err := m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
}
