package transport_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/price"
)

const handoff = "## Goals and success criteria\n- [open] the files that read returned are to be fixed\n"

// asksForSummary reports whether a request asks for a summary.
func asksForSummary(q provider.Request) bool {
	return strings.Contains(string(q.Body), "This message is from the program that runs you")
}

// cacheMarks finds the marks of Anthropic's cache.
var cacheMarks = regexp.MustCompile(`,"cache_control":\{[^{}]*\}`)

// byteCache is the cache of a provider: the requests that it has read. It compares
// bytes to find the known part of the next request.
type byteCache struct {
	off bool // the cache holds nothing

	mu     sync.Mutex
	bodies []string
}

// cached returns the number of a request's tokens in the cache, and stores the request.
// Anthropic's cache stores only marked prompts.
func (c *byteCache) cached(q provider.Request) int {
	body := string(q.Body)
	marked := cacheMarks.MatchString(body)
	body = strings.TrimSuffix(cacheMarks.ReplaceAllString(body, ""), "]}")
	c.mu.Lock()
	defer c.mu.Unlock()
	best := 0
	for _, b := range c.bodies {
		n := 0
		for n < len(b) && n < len(body) && b[n] == body[n] {
			n++
		}
		best = max(best, n)
	}
	if q.Wire == provider.Anthropic && !marked || c.off {
		return 0
	}
	c.bodies = append(c.bodies, body)
	return min(best/4, q.Prompt)
}

// agentRig returns a rig in which the agent's own model writes the summaries; summary is its
// answer.
func agentRig(t *testing.T, c compact.Config, cache *byteCache, summary func(n int) provider.Answer, opts ...transport.Option) *rig {
	t.Helper()
	c.Preset, c.Summarizer.Backend = "summarize", "agent"
	r := newRig(t, c, opts...)
	var mu sync.Mutex
	asked := 0
	r.server.Reply = func(q provider.Request) provider.Answer {
		a := provider.Answer{Text: "ok"}
		if asksForSummary(q) {
			mu.Lock()
			asked++
			n := asked
			mu.Unlock()
			a = summary(n)
		}
		a.Cached = cache.cached(q)
		return a
	}
	return r
}

// writes answers with a summary.
func writes(int) provider.Answer { return provider.Answer{Text: handoff, Output: 40} }

// marked returns a body whose newest message has a cache mark, if the wire has such
// marks.
func (f form) marked(body string) string {
	if f.wire != provider.Anthropic {
		return body
	}
	at := strings.LastIndex(body, `"}]}`)
	if at < 0 {
		return body
	}
	return body[:at+1] + `,"cache_control":{"type":"ephemeral"}` + body[at+1:]
}

// talk makes calls with ever more rounds, until a summary was asked for or there are n rounds.
// It returns the number of rounds.
func (r *rig) talk(f form, from, n, words int) int {
	r.t.Helper()
	for rounds := from; rounds <= n; rounds++ {
		status, answer := r.post(f, f.marked(f.body("hi", rounds, words)))
		if status != http.StatusOK {
			r.t.Fatalf("%v, %d rounds: %d %s, want %d", f, rounds, status, answer, http.StatusOK)
		}
		if res := r.last(); res.Summary != nil {
			return rounds
		}
	}
	return n
}

// summaries returns the requests for a summary, each with the previous request.
func (r *rig) summaries() (asked, before []provider.Request) {
	var last provider.Request
	for _, q := range r.server.Requests() {
		if !asksForSummary(q) {
			last = q
			continue
		}
		asked, before = append(asked, q), append(before, last)
	}
	return asked, before
}

func TestSummaryRequestExtendsTheLastRequest(t *testing.T) {
	for _, f := range forms() {
		f = f.withTools()
		cache := &byteCache{}
		r := agentRig(t, compact.Config{}, cache, writes)
		r.talk(f, 1, 14, 1200)
		asked, before := r.summaries()
		if len(asked) != 1 {
			t.Fatalf("%v: %d summaries were asked for; warnings %v, want 1", f, len(asked), r.last().Warnings)
		}
		prefix := strings.TrimSuffix(string(before[0].Body), "]}")
		if !strings.HasPrefix(string(asked[0].Body), prefix+",") {
			t.Errorf("%v: the summary request does not begin with the previous request", f)
		}
		behind := string(asked[0].Body)[min(len(prefix), len(asked[0].Body)):]
		if strings.Count(behind, "This message is from") != 1 || strings.Contains(behind, "word word") {
			t.Errorf("%v: more than an instruction follows it: %.200s", f, behind)
		}
		if asked[0].Status != http.StatusOK || asked[0].Path != before[0].Path {
			t.Errorf("%v: %s answered %d, want %d", f, asked[0].Path, asked[0].Status, http.StatusOK)
		}
		s := r.last().Summary
		if s.Backend != "agent" || s.Fallback != "" || !strings.Contains(s.Text, "are to be fixed") {
			t.Errorf("%v: the summary is by %s (%s): %s; %v, want %s, none and text with %q", f, s.Backend, s.Fallback, s.Text, s.Errors, "agent", "are to be fixed")
		}
		r.billed(f, asked[0], cacheOf(before[0]))
		r.quiet()
	}
}

// cacheOf returns the number of tokens that a request reads from the cache if it
// extends this one.
func cacheOf(q provider.Request) int {
	return len(strings.TrimSuffix(cacheMarks.ReplaceAllString(string(q.Body), ""), "]}")) / 4
}

// billed checks the cost of a summary.
func (r *rig) billed(f form, asked provider.Request, cached int) {
	r.t.Helper()
	b := r.last().Bill
	card, _ := price.For(r.last().Model)
	want := card.Cost(price.Usage{Cached: cached, Fresh: asked.Prompt - cached, Output: 40})
	if b == nil || math.Abs(b.SummaryUSD-want) > want/50 {
		r.t.Errorf("%v: the bill is %+v; the summary's part should be %v (%d of %d tokens cached)", f, b, want, cached, asked.Prompt)
	}
}

// After a summary the session continues from it. The next summary is requested with the
// view that was sent last.
func TestAgentsOwnModelIsRetried(t *testing.T) {
	f := forms()[4]
	r := agentRig(t, compact.Config{}, &byteCache{}, writes)
	n := r.talk(f, 1, 14, 1200)
	for rounds := n + 1; rounds < n+14; rounds++ {
		r.post(f, f.marked(f.body("hi", rounds, 1200)))
	}
	asked, before := r.summaries()
	if len(asked) < 2 {
		t.Fatalf("%d summaries were asked for; %v, want at least 2", len(asked), r.last().Warnings)
	}
	if last := len(asked) - 1; !strings.HasPrefix(string(asked[last].Body), strings.TrimSuffix(string(before[last].Body), "]}")) ||
		!strings.Contains(string(asked[last].Body), fmt.Sprint("COMPACT-SUMMARY v", last)) {
		t.Errorf("the summary request does not extend the view with the previous summary")
	}
	r.quiet()
}

func TestAgentsOwnModelThatDoesNotAnswer(t *testing.T) {
	f := forms()[5].withTools()
	for name, c := range map[string]struct {
		summary func(n int) provider.Answer
		by, why string // writer of the summary, causes of the errors
		asked   int
	}{
		"calls a tool": {func(int) provider.Answer {
			return provider.Answer{Text: handoff, Calls: []provider.Call{{Name: "read", Args: `{"n":1}`}}}
		}, "extractive", "it calls the tool read", 2},
		"calls a tool in the first attempt only": {func(n int) provider.Answer {
			if n == 1 {
				return provider.Answer{Calls: []provider.Call{{Name: "read", Args: `{"n":1}`}}}
			}
			return provider.Answer{Text: "- the files that read returned are to be fixed\n"}
		}, "agent", "", 2},
		"goes on with its task": {func(int) provider.Answer { return provider.Answer{Text: "I have read all of it. Shall I go on?"} }, "extractive", "none of the sections", 2},
		"makes things up": {func(int) provider.Answer {
			return provider.Answer{Text: "## Goals and success criteria\n- [open] the files that read returned are to be fixed\n- [done] deployed /srv/made/up.go at 4f5e6d7c8b9a\n"}
		}, "agent", "", 1},
	} {
		r := agentRig(t, compact.Config{}, &byteCache{}, c.summary)
		r.talk(f, 1, 14, 1200)
		s := r.last().Summary
		asked, _ := r.summaries()
		if s == nil || s.Backend != c.by || len(asked) != c.asked || !strings.Contains(strings.Join(s.Errors, "\n"), c.why) {
			t.Errorf("%s: asked %d times, %+v, want %d", name, len(asked), s, c.asked)
			continue
		}
		if strings.Contains(s.Text, "/srv/made/up.go") || s.Text == "" {
			t.Errorf("%s: %s, want text without %q", name, s.Text, "/srv/made/up.go")
		}
	}
}

func TestAgentsOwnModelIsDisabledWithoutACache(t *testing.T) {
	f := forms()[4]
	cache := &byteCache{}
	r := agentRig(t, compact.Config{}, cache, nil)
	reply := r.server.Reply
	r.server.Reply = func(q provider.Request) provider.Answer {
		if asksForSummary(q) {
			return provider.Answer{Text: handoff} // no part of the request was cached
		}
		return reply(q)
	}
	n := r.talk(f, 1, 14, 1200)
	if s := r.last().Summary; s.Backend != "agent" || !said(r.last(), "no token of its prompt was read from a cache") {
		t.Errorf("%s wrote it, and the warning is %q", s.Backend, r.last().Warnings)
	}
	for rounds := n + 1; rounds < n+14; rounds++ {
		r.post(f, f.marked(f.body("hi", rounds, 1200)))
		if s := r.last().Summary; s != nil && s.Version > 1 {
			break
		}
	}
	asked, _ := r.summaries()
	if s := r.last().Summary; s == nil || s.Backend != "extractive" || len(asked) != 1 || said(r.last(), "cache") {
		t.Errorf("asked %d times; the next summary is %+v, warnings %q", len(asked), s, r.last().Warnings)
	}
}

func said(res *compact.Result, what string) bool {
	return strings.Contains(strings.Join(res.Warnings, "\n"), what)
}

// A provider is not asked for a summary if its cache was never read or is cold.
func TestAgentsOwnModelIsNotUsedWithAColdCache(t *testing.T) {
	f := forms()[0]
	r := agentRig(t, compact.Config{}, &byteCache{off: true}, writes)
	r.talk(f, 1, 14, 1200)
	if asked, _ := r.summaries(); len(asked) > 0 || r.last().Summary.Backend != "extractive" || !said(r.last(), "no token of the last prompts was read from a cache") {
		t.Errorf("asked %d times, %q, want none", len(asked), r.last().Warnings)
	}

	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	r = agentRig(t, compact.Config{Now: func() time.Time { return now }}, &byteCache{}, writes)
	for rounds := 1; rounds <= 14; rounds++ {
		now = now.Add(time.Hour)
		r.post(f, f.body("hi", rounds, 1200))
		if r.last().Summary != nil {
			break
		}
	}
	if asked, _ := r.summaries(); len(asked) > 0 || r.last().Summary == nil || r.last().Summary.Backend != "extractive" || len(r.last().Warnings) > 0 {
		t.Errorf("after pauses: asked %d times, %q, want none", len(asked), r.last().Warnings)
	}
	r.quiet()
}

// If the answers report no usage of the cache, the agent's model is asked for only one
// summary, and a warning has the reason.
func TestAgentsOwnModelIsDisabledWithoutAUsage(t *testing.T) {
	f := forms()[1]
	f.fields = `"model":"gpt-4o","stream":true`
	r := agentRig(t, compact.Config{}, &byteCache{}, writes)
	r.talk(f, 1, 14, 1200)
	if !said(r.last(), "stream_options.include_usage") || r.last().Summary.Backend != "agent" || r.last().Bill.SummaryUSD <= 0 {
		t.Errorf("%+v; %q, want a summary of the agent and a warning about the usage", r.last().Bill, r.last().Warnings)
	}
}

// A request that was refused in its stream was never accepted: no summary request extends
// it, because the extended request would be refused as well.
func TestSummaryRequestNeverExtendsARefusedRequest(t *testing.T) {
	f := forms()[3].withTools()
	r := agentRig(t, compact.Config{}, &byteCache{}, writes)
	r.server.Window, r.server.InStream = 8_000, true
	for _, rounds := range []int{1, 60, 61} {
		if status, answer := r.post(f, f.body("hi", rounds, 200)); status != http.StatusOK {
			t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
		}
	}
	asked, before := r.summaries()
	for i, q := range asked {
		if before[i].Prompt > r.server.Window {
			t.Errorf("a summary request of %d bytes extends a request of %d tokens, above the provider's limit of %d", len(q.Body), before[i].Prompt, r.server.Window)
		}
	}
}

// A refused request is forgotten. The request before it, which the provider accepted, is
// kept, and the summary is requested at its end.
func TestSummaryRequestExtendsTheRequestBeforeARefusedOne(t *testing.T) {
	f := forms()[3].withTools()
	r := agentRig(t, compact.Config{}, &byteCache{}, writes)
	r.server.Window = 10_600
	r.talk(f, 1, 20, 1500)
	asked, before := r.summaries()
	if len(asked) != 1 || r.last().Summary.Backend != "agent" {
		t.Fatalf("%d summaries were asked for, %+v; warnings %v", len(asked), r.last().Summary, r.last().Warnings)
	}
	accepted, all := "", r.server.Requests()
	for _, q := range all[:slices.IndexFunc(all, asksForSummary)] {
		if q.Status == http.StatusOK {
			accepted = strings.TrimSuffix(string(q.Body), "]}")
		}
	}
	if before[0].Status == http.StatusOK || !strings.HasPrefix(string(asked[0].Body), accepted+",") {
		t.Errorf("the provider answered the previous request with %d, and the summary request does not extend the last accepted one", before[0].Status)
	}
}

// If a session moves to another provider, that provider is not asked to extend a
// request that it has never seen.
func TestAgentsOwnModelIsNotUsedAtAnotherEndpoint(t *testing.T) {
	f := forms()[5]
	for _, moved := range []bool{false, true} {
		r := agentRig(t, compact.Config{}, &byteCache{}, writes)
		other := httptest.NewServer(r.server)
		t.Cleanup(other.Close)
		ctx := transport.WithSession(context.Background(), "s")
		home, words := r.url, 1200
		for rounds := 1; rounds <= 14 && (rounds == 1 || r.last().Summary == nil); rounds++ {
			if r.url = home; moved && rounds%2 == 0 { // back and forth
				r.url = other.URL
			}
			r.do(r.request(ctx, f.path, f.marked(f.body("hi", rounds, words))))
		}
		asked, _ := r.summaries()
		if s := r.last().Summary; s == nil || (s.Backend == "agent") == moved || (len(asked) == 0) != moved {
			t.Errorf("moved %v: %d summaries are asked for, %+v", moved, len(asked), s)
		}
		r.quiet()
	}
}

// For concurrent sub-agents, each summary is requested with the last request of its own
// agent.
func TestAgentsOwnModelWorksWithOtherModels(t *testing.T) {
	f := forms()[5]
	r := agentRig(t, compact.Config{}, &byteCache{}, writes)
	const agents = 3
	var wg sync.WaitGroup
	for a := range agents {
		wg.Go(func() {
			for rounds := 1; rounds <= 14; rounds++ {
				ctx := transport.WithSession(context.Background(), "s")
				r.do(r.request(ctx, f.path, f.marked(f.body(fmt.Sprintf("I am agent %d.", a), rounds, 1200))))
			}
		})
	}
	wg.Wait()
	counts := map[string]int{}
	all := r.server.Requests()
	for _, q := range all {
		if !asksForSummary(q) {
			continue
		}
		who := regexp.MustCompile(`I am agent \d`).FindString(string(q.Body))
		if counts[who]++; strings.Count(string(q.Body), "I am agent") != 1 {
			t.Errorf("the summary request of %s extends another's request", who)
		}
		behind := false
		for _, p := range all {
			behind = behind || !asksForSummary(p) && strings.HasPrefix(string(q.Body), strings.TrimSuffix(string(p.Body), "]}")+",")
		}
		if !behind {
			t.Errorf("%s: the summary request extends no sent request", who)
		}
	}
	if len(counts) == 0 { // an agent whose lane's last request was replaced by another gets an extractive summary
		t.Error("no summary was requested")
	}
	r.quiet()
}

// failsAsked makes requests for summaries fail.
type failsAsked struct {
	base http.RoundTripper
	fail func(*http.Request) (*http.Response, error)
}

func (f failsAsked) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(body)
	if err == nil && asksForSummary(provider.Request{Body: raw}) {
		return f.fail(req)
	}
	return f.base.RoundTrip(req)
}

// If the agent's model fails, the call continues with a summary without a model.
func TestCallContinuesIfTheAgentsModelFails(t *testing.T) {
	f := forms()[4]
	status := func(code int) func(*http.Request) (*http.Response, error) {
		return func(req *http.Request) (*http.Response, error) {
			return &http.Response{StatusCode: code, Header: http.Header{}, Body: io.NopCloser(strings.NewReader(`{"error":{"message":"no"}}`)), Request: req}, nil
		}
	}
	for name, c := range map[string]struct {
		fail func(*http.Request) (*http.Response, error)
		why  string
	}{
		"refuses":        {status(403), "rejects"},
		"is overloaded":  {status(529), "overloaded"},
		"says nothing":   {status(200), "answered 200"},
		"panics":         {func(*http.Request) (*http.Response, error) { panic("no") }, "panic"},
		"is unreachable": {func(*http.Request) (*http.Response, error) { return nil, errors.New("no route") }, "can't be reached"},
		"hangs": {func(req *http.Request) (*http.Response, error) {
			<-req.Context().Done()
			return nil, req.Context().Err()
		}, "time for the summary"},
	} {
		timeout := time.Minute
		if name == "hangs" {
			timeout = 50 * time.Millisecond
		}
		r := agentRig(t, compact.Config{Summarizer: compact.SummarizerConfig{Timeout: timeout, MaxAttempts: 1}}, &byteCache{}, writes,
			transport.Base(failsAsked{http.DefaultTransport, c.fail}))
		r.talk(f, 1, 14, 1200)
		s := r.last().Summary
		if s == nil || s.Backend != "extractive" || s.Fallback != "extractive" || !strings.Contains(strings.Join(s.Errors, "\n"), c.why) {
			t.Errorf("%s: %+v, want an extractive summary with the reason", name, s)
		}
		if all := r.server.Requests(); all[len(all)-1].Status != http.StatusOK {
			t.Errorf("%s: the call itself was answered %d, want %d", name, all[len(all)-1].Status, http.StatusOK)
		}
	}
}

// The model's answer is redacted before it enters the view, and a request for a summary
// causes no further one.
func TestAgentsOwnSummaryIsRedacted(t *testing.T) {
	f := forms()[0]
	secret := "ghp_" + strings.Repeat("a1", 18)
	r := agentRig(t, compact.Config{}, &byteCache{}, func(int) provider.Answer {
		return provider.Answer{Text: "## Goals and success criteria\n- [open] the files that read returned are to be fixed\n- [open] the token is " + secret + "\n"}
	})
	r.talk(f, 1, 14, 1200)
	if s := r.last().Summary; s.Backend != "agent" || strings.Contains(s.Text, secret) {
		t.Errorf("%+v, want a summary of the agent without the secret", s)
	}
	if got := r.got(); strings.Contains(got[len(got)-1], secret) {
		t.Error("the view holds the secret")
	}
}
