package transport_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/trace"
)

// caching is Gemini with caches of a given size in tokens. Every answer reports the
// size, and prompts above the window, the cache included, are refused.
type caching struct {
	window, held int
	sparse       bool // the provider counts half as many tokens
	prompts      []int
	bodies       []string
}

func (c *caching) ServeHTTP(w http.ResponseWriter, q *http.Request) {
	body, _ := io.ReadAll(q.Body)
	prompt := c.held + len(body)/4
	if c.sparse {
		prompt = c.held + len(body)/8
	}
	c.prompts, c.bodies = append(c.prompts, prompt), append(c.bodies, string(body))
	w.Header().Set("Content-Type", "application/json")
	answer := map[string]any{"candidates": []any{}, "usageMetadata": map[string]int{"promptTokenCount": prompt, "cachedContentTokenCount": c.held}}
	if prompt > c.window {
		w.WriteHeader(http.StatusBadRequest)
		answer = map[string]any{"error": map[string]any{"code": 400, "status": "INVALID_ARGUMENT", "message": fmt.Sprintf("The input token count (%d) exceeds the maximum number of tokens allowed (%d).", prompt, c.window)}}
	}
	_ = json.NewEncoder(w).Encode(answer)
}

// usages is an exporter that keeps the usages of calls: the tokens of prompts, and those
// of them that came from the cache.
type usages struct {
	mu  sync.Mutex
	all [][2]int
}

func (u *usages) Export(_ context.Context, events []trace.Event) error {
	u.mu.Lock()
	defer u.mu.Unlock()
	for i := range events {
		var data struct {
			Prompt int `json:"prompt_tokens_measured"`
			Cached int `json:"cached_tokens_measured"`
		}
		if events[i].Name != "compact.usage" {
			continue
		}
		if err := json.Unmarshal([]byte(events[i].Data.String()), &data); err != nil {
			return err
		}
		u.all = append(u.all, [2]int{data.Prompt, data.Cached})
	}
	return nil
}

func (*usages) Shutdown(context.Context) error { return nil }

func TestCachedContentIsAFixedCost(t *testing.T) {
	f := forms()[6]
	cached := func(name, ask string, rounds int) string {
		return strings.Replace(f.body(ask, rounds, 200), "{", `{"cachedContent":"`+name+`",`, 1)
	}
	c := &caching{window: 40_000, held: 25_000}
	h := httptest.NewServer(c)
	defer h.Close()
	bills := &usages{}
	r := newRig(t, compact.Config{Model: "gemini-2.5-pro", MaxContextTokens: 40_000, Exporters: []trace.Exporter{bills}})
	r.url = h.URL
	if status, answer := r.post(f, cached("cachedContents/1", "Fix it.", 2)); status != http.StatusOK {
		t.Fatal(answer)
	}
	first := r.last()
	r.post(f, cached("cachedContents/1", "Fix it.", 2))
	if again := r.last(); first.After.Overhead > 1000 || again.After.Total-first.After.Total != c.held || again.UpperBound-c.held == first.UpperBound {
		t.Errorf("first %+v up to %d, then %+v up to %d: nothing was learned of the bill", first.After, first.UpperBound, again.After, again.UpperBound)
	}
	status, answer := r.post(f, cached("cachedContents/1", "Fix it.", 60))
	res := r.last()
	if status != http.StatusOK || len(c.bodies) != 3 || !res.Triggered || res.After.Overhead < c.held || !strings.Contains(c.bodies[2], `"cachedContent":"cachedContents/1"`) {
		t.Errorf("%d %s after %d requests; compacted %v to %+v, want %d, 3 and true", status, answer, len(c.bodies), res.Triggered, res.After, http.StatusOK)
	}
	if res.UpperBound-c.held > 2*(res.After.Total-c.held) {
		t.Errorf("the upper bound is %d of %d tokens: the provider's count needs no margin", res.UpperBound, res.After.Total)
	}

	// The size of another cache is unknown until an overflow.
	c.bodies, c.held = nil, 33_000
	status, answer = r.post(f, cached("cachedContents/2", "Fix that.", 59))
	if status != http.StatusOK || len(c.bodies) != 2 {
		t.Errorf("%d %s after %d requests, want %d and 2", status, answer, len(c.bodies), http.StatusOK)
	}

	// Once it is known, an overflow says nothing about it.
	c.held = 20_000
	r.post(f, cached("cachedContents/3", "Fix the rest.", 2))
	c.bodies, c.window = nil, 24_000
	status, answer = r.post(f, cached("cachedContents/3", "Fix the rest.", 25))
	if res := r.last(); status != http.StatusOK || len(c.bodies) != 2 || res.After.Overhead < c.held {
		t.Errorf("%d %s after %d requests, with %+v; want %d and 2", status, answer, len(c.bodies), res.After, http.StatusOK)
	}
	r.quiet()
	if err := r.m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	// The first answer reports a cache that the prompt, as counted before, does not include.
	if b := bills.all; len(b) < 3 || b[0][0] > 1000 || b[0][1] != 0 || b[1] != [2]int{b[0][0] + 25_000, 25_000} {
		t.Errorf("usages: %v", b)
	}
}

// An overflow says nothing about the size of a cache if the provider counts fewer tokens than
// we do. The next bill then covers the whole prompt without the cache.
func TestAnOverflowBelowOurCountTeachesNoCacheSize(t *testing.T) {
	f := forms()[6]
	c := &caching{window: 6_000, held: 1_000, sparse: true}
	h := httptest.NewServer(c)
	defer h.Close()
	bills := &usages{}
	r := newRig(t, compact.Config{Model: "gemini-2.5-pro", MaxContextTokens: 200_000, Exporters: []trace.Exporter{bills}})
	r.url = h.URL
	status, answer := r.post(f, strings.Replace(f.body("Fix it.", 60, 200), "{", `{"cachedContent":"cachedContents/1",`, 1))
	if err := r.m.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	if status != http.StatusOK || len(c.prompts) != 2 || r.results[0].After.Total < c.prompts[0] {
		t.Fatalf("%d %s, prompts of %v, counted %+v, want %d", status, answer, c.prompts, r.results[0].After, http.StatusOK)
	}
	if want := [2]int{c.prompts[1] - c.held, 0}; len(bills.all) != 1 || bills.all[0] != want {
		t.Errorf("bills %v, want %v", bills.all, want)
	}
}

// Gemini refuses tools together with cachedContent, and most of its models refuse them together
// with a demand for JSON. So such a request without tools never gets the recall tool, not even
// after a compaction.
func TestRequestThatGeminiAllowsNoToolsGetsNoRecall(t *testing.T) {
	f := forms()[6]
	c := &caching{window: 100_000}
	h := httptest.NewServer(c)
	defer h.Close()
	r := newRig(t, compact.Config{Model: "gemini-2.5-pro", MaxContextTokens: 40_000}, transport.Recall())
	r.url = h.URL
	for with, want := range map[string]bool{
		`"generationConfig":{},"cachedContent":"cachedContents/1"`: false, `"generationConfig":{}`: true, `"generationConfig":{"responseMimeType":"text/plain"}`: true,
		`"generationConfig":{"responseMimeType":"application/json"}`: false, `"generation_config":{"response_mime_type":"text/x.enum"}`: false,
	} {
		c.bodies = nil
		body := f.body("Fix it. "+with, 160, 200)
		if status, answer := r.post(f, strings.Replace(body, `"generationConfig":{}`, with, 1)); status != http.StatusOK || !r.last().Triggered {
			t.Fatalf("%d %s, compacted %v, want %d", status, answer, r.last().Triggered, http.StatusOK)
		}
		if got := strings.Contains(c.bodies[0], `"name":"recall"`); got != want {
			t.Errorf("%s: the tool is declared: %v, want %v", with, got, want)
		}
	}
}
