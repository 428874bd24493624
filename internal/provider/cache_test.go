package provider_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/provider"
)

const mark = `,"cache_control":{"type":"ephemeral"}`

// cacheBody is a request with a long system prompt, and with messages of one text block,
// of which some are marked.
func cacheBody(system, extra string, blocks int, marked ...int) []byte {
	at := map[int]string{}
	for _, i := range marked {
		at[i] = mark
	}
	var b strings.Builder
	fmt.Fprintf(&b, `{"system":[{"type":"text","text":%q%s}]%s,"messages":[`, system, at[-1], extra)
	for i := range blocks {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"role":"user","content":[{"type":"text","text":"%d %s"%s}]}`, i, strings.Repeat("a word ", 60), at[i])
	}
	return []byte(b.String() + "]}")
}

// The rules of Anthropic's documentation, one by one.
func TestPromptCacheFollowsTheDocumentedRules(t *testing.T) {
	long := strings.Repeat("You are an agent. ", 400)
	for name, c := range map[string]struct {
		first, then []byte
		wait        time.Duration
		read        func(first, system int) int // of the second request; tokens of the first, and of its system prompt
	}{
		"the same mark":                    {cacheBody(long, "", 5, 4), cacheBody(long, "", 5, 4), 0, func(n, _ int) int { return n }},
		"a mark 19 blocks later":           {cacheBody(long, "", 5, 4), cacheBody(long, "", 24, 23), 0, func(n, _ int) int { return n }},
		"a mark 20 blocks later":           {cacheBody(long, "", 5, 4), cacheBody(long, "", 25, 24), 0, func(int, int) int { return 0 }},
		"and one at the end of the first":  {cacheBody(long, "", 5, 4), cacheBody(long, "", 25, 4, 24), 0, func(n, _ int) int { return n }},
		"the system prompt is marked, too": {cacheBody(long, "", 5, -1, 4), cacheBody(long, "", 25, -1, 24), 0, func(_, s int) int { return s }},
		"no mark":                          {cacheBody(long, "", 5), cacheBody(long, "", 5, 4), 0, func(int, int) int { return 0 }},
		"no mark in the second":            {cacheBody(long, "", 5, 4), cacheBody(long, "", 5), 0, func(int, int) int { return 0 }},
		"another system prompt":            {cacheBody(long, "", 5, 4), cacheBody("x"+long, "", 5, 4), 0, func(int, int) int { return 0 }},
		"another choice of tools":          {cacheBody(long, "", 5, -1, 4), cacheBody(long, `,"tool_choice":{"type":"any"}`, 5, -1, 4), 0, func(_, s int) int { return s }},
		"other tools":                      {cacheBody(long, "", 5, -1, 4), cacheBody(long, `,"tools":[{"name":"f"}]`, 5, -1, 4), 0, func(int, int) int { return 0 }},
		"too late":                         {cacheBody(long, "", 5, 4), cacheBody(long, "", 5, 4), 6 * time.Minute, func(int, int) int { return 0 }},
		"a prefix below the minimum":       {cacheBody("S", "", 2, 1), cacheBody("S", "", 2, 1), 0, func(int, int) int { return 0 }},
		"the provider's mark at the end":   {cacheBody(long, `,"cache_control":{"type":"ephemeral"}`, 5), cacheBody(long, `,"cache_control":{"type":"ephemeral"}`, 9), 0, func(n, _ int) int { return n }},
	} {
		now := time.Unix(1, 0)
		cache := provider.PromptCache{Now: func() time.Time { return now }}
		first, err := cache.Use(c.first)
		if err != nil || first.Read != 0 {
			t.Fatal(name, first, err)
		}
		now = now.Add(c.wait)
		second, err := cache.Use(c.then)
		if err != nil {
			t.Fatal(name, err)
		}
		var alone provider.PromptCache
		system, err := alone.Use(cacheBody(long, "", 0, -1))
		if err != nil {
			t.Fatal(name, err)
		}
		if want := c.read(first.Prompt(), system.Prompt()); second.Read != want {
			t.Errorf("%s: %d tokens are read, want %d", name, second.Read, want)
		}
	}
	var cache provider.PromptCache
	if _, err := cache.Use(cacheBody(long, "", 9, 0, 1, 2, 3, 4)); err == nil {
		t.Error("five marks are accepted")
	}
}
