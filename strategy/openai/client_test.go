package openai

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/strategy"
)

func TestClientSendsTemperatureZeroSeedAndKey(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) { completion(w, good, "", "stop") })
	sum, _, err := write(t, s, nil)
	if err != nil {
		t.Fatal(err)
	}
	r := s.requests()[0]
	if r.Temperature == nil || *r.Temperature != 0 || !strings.Contains(r.raw, `"temperature":0,`) {
		t.Errorf("temperature %v, want 0, in %.200s", r.Temperature, r.raw)
	}
	if r.Seed == nil || *r.Seed != 42 || r.auth != "Bearer test-key" || r.Model != "gpt-4o-mini" || r.MaxTokens != 1500 {
		t.Errorf("request %+v, want the seed 42, the key, the model and the limit", r)
	}
	if sum.Calls != 1 || sum.Attempts != 1 || sum.Prompt != 900 || sum.Completion != 50 || sum.Backend != Name || sum.Model != "gpt-4o-mini" {
		t.Errorf("summary %+v, want 1 call, 1 attempt and the usage", sum)
	}
	if !strings.Contains(sum.Text, "[open] the loader still skips rows") {
		t.Errorf("summary text %q, want the open item", sum.Text)
	}
}

func TestClientAdaptsRequestsToReasoningModels(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) { completion(w, good, "", "stop") })
	c, err := New(Config{Model: "gpt-5-mini", BaseURL: s.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := c.Summarize(t.Context(), strategy.Request{Strategy: named("task_state"), Messages: history(2), First: 1, MaxTokens: 700, Count: count}); err != nil {
		t.Fatal(err)
	}
	r := s.requests()[0]
	if r.MaxTokens != 0 || r.MaxCompletionTokens != 700+thinking || r.Temperature != nil || r.ReasoningEffort != "low" || r.auth != "" {
		t.Errorf("request %+v, want the parameters of a reasoning model", r)
	}
}

func TestClientRemembersRejectedParameters(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r request, _ int) {
		switch {
		case r.MaxTokens > 0:
			failure(w, 400, "unsupported_parameter", "invalid_request_error", "max_tokens", "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.")
		case r.Temperature != nil:
			failure(w, 400, "unsupported_value", "invalid_request_error", "temperature", "Unsupported value: 'temperature' does not support 0 with this model.")
		case r.Seed != nil:
			failure(w, 400, "", "invalid_request_error", "", "Unrecognized request argument supplied: seed")
		default:
			completion(w, good, "", "stop")
		}
	})
	c, err := New(Config{Model: "house-model", BaseURL: s.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	r := strategy.Request{Strategy: named("brief"), Messages: history(2), First: 1, MaxTokens: 700, Count: count}
	for range 2 {
		if _, err := c.Summarize(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.requests()); n != 5 {
		t.Errorf("%d requests, want 4 for the first draft and 1 for the second", n)
	}
}

func TestClientTriesEachNameOfTheLimitOnce(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ request, n int) {
		if n > 2 {
			completion(w, good, "", "stop") // ends an endless loop of requests
			return
		}
		failure(w, 400, "unsupported_parameter", "invalid_request_error", "", "max_tokens and max_completion_tokens are not supported")
	})
	c, err := New(Config{Model: "house-model", BaseURL: s.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = c.Summarize(t.Context(), strategy.Request{Strategy: named("brief"), Messages: history(2), First: 1, MaxTokens: 700, Count: count})
	if n := len(s.requests()); n != 2 || !errors.Is(err, strategy.ErrRejected) {
		t.Errorf("%d requests, error %v; want one request per name, and the server's error", n, err)
	}
}

// Each case has the behavior of the server and the required outcome.
func TestWriterHandlesEachFailure(t *testing.T) {
	long := "## Decisions\n" + strings.Repeat("- the loader skips rows and nobody knows why that is so\n", 200)
	always := func(f func(w http.ResponseWriter)) answer {
		return func(w http.ResponseWriter, _ request, _ int) { f(w) }
	}
	once := func(f func(w http.ResponseWriter)) answer {
		return func(w http.ResponseWriter, _ request, n int) {
			if n == 1 {
				f(w)
				return
			}
			completion(w, good, "", "stop")
		}
	}
	for _, c := range []struct {
		name     string
		answer   answer
		attempts int
		reason   error // reason of the first failure
		action   string
		fails    bool
		strategy string // default task_state
		fallback string
	}{
		{"429 with Retry-After", once(func(w http.ResponseWriter) {
			w.Header().Set("Retry-After", "0.05")
			failure(w, 429, "rate_limit_exceeded", "requests", "", "Rate limit reached")
		}), 2, strategy.ErrTransient, "retry in 50ms", false, "", ""},
		{"500", once(func(w http.ResponseWriter) {
			failure(w, 500, "", "server_error", "", "The server had an error")
		}), 2, strategy.ErrTransient, "retry in 1ms", false, "", ""},
		{"503 without JSON", once(func(w http.ResponseWriter) {
			w.WriteHeader(503)
			_, _ = w.Write([]byte("<html>Service Unavailable</html>"))
		}), 2, strategy.ErrTransient, "retry in 1ms", false, "", ""},
		{"500 for ever", always(func(w http.ResponseWriter) { failure(w, 500, "", "server_error", "", "down") }),
			5, strategy.ErrTransient, "retry in 1ms", true, "", ""},
		{"connection cut", once(func(w http.ResponseWriter) { hijack(w) }),
			2, strategy.ErrTransient, "retry in 1ms", false, "", ""},
		{"malformed JSON", once(func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"choices":[{"message":`)) }),
			2, strategy.ErrMalformed, "retry in 1ms", false, "", ""},
		{"no choices", once(func(w http.ResponseWriter) { _, _ = w.Write([]byte(`{"id":"x","choices":[]}`)) }),
			2, strategy.ErrEmpty, "ask again", false, "", ""},
		{"empty content", always(func(w http.ResponseWriter) { completion(w, " \n", "", "stop") }),
			3, strategy.ErrEmpty, "ask again", true, "brief", "brief"},
		{"refusal set", once(func(w http.ResponseWriter) { completion(w, "", "I can't help with that.", "stop") }),
			2, strategy.ErrRefused, "brief", false, "brief", "brief"},
		{"refusal in the text", once(func(w http.ResponseWriter) { completion(w, "I'm sorry, but I can't summarize this.", "", "stop") }),
			2, strategy.ErrRefused, "brief", false, "brief", "brief"},
		{"refusal for ever", always(func(w http.ResponseWriter) { completion(w, "", "No.", "stop") }),
			2, strategy.ErrRefused, "brief", true, "brief", "brief"},
		{"finish_reason content_filter", once(func(w http.ResponseWriter) { completion(w, "## Dec", "", "content_filter") }),
			2, strategy.ErrFiltered, "brief", false, "brief", "brief"},
		{"finish_reason length", once(func(w http.ResponseWriter) { completion(w, good[:40], "", "length") }),
			2, strategy.ErrCutOff, "half the limit", false, "", ""},
		{"longer than the limit, for ever", always(func(w http.ResponseWriter) { completion(w, long, "", "stop") }),
			3, summarize.ErrTooLong, "half the limit", true, "", ""},
		{"401", always(func(w http.ResponseWriter) {
			failure(w, 401, "invalid_api_key", "invalid_request_error", "", "Incorrect API key provided: test-key.")
		}), 1, strategy.ErrRejected, "give up", true, "", ""},
		{"429 without quota", always(func(w http.ResponseWriter) {
			failure(w, 429, "insufficient_quota", "insufficient_quota", "", "You exceeded your current quota")
		}), 1, strategy.ErrRejected, "give up", true, "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, c.answer)
			sum, infos, err := write(t, s, nil)
			if (err != nil) != c.fails {
				t.Fatalf("error %v, want one: %v", err, c.fails)
			}
			if err != nil && (!errors.Is(err, summarize.ErrNoSummary) || !errors.Is(err, c.reason)) {
				t.Errorf("error %v does not wrap ErrNoSummary and %v", err, c.reason)
			}
			if sum.Attempts != c.attempts || len(s.requests()) != c.attempts {
				t.Errorf("%d attempts, %d requests, want %d", sum.Attempts, len(s.requests()), c.attempts)
			}
			first := infos[1]
			if !errors.Is(first.Err, c.reason) || first.Action != c.action {
				t.Errorf("first failure %v, action %q; want %v, %q", first.Err, first.Action, c.reason, c.action)
			}
			if want := orString(c.strategy, "task_state"); sum.Strategy != want || sum.Fallback != c.fallback {
				t.Errorf("strategy %s fallback %q, want %s %q", sum.Strategy, sum.Fallback, want, c.fallback)
			}
			for _, e := range sum.Errors {
				if strings.Contains(e.Error(), "test-key") {
					t.Errorf("the key is in %q", e)
				}
			}
		})
	}
}

func orString(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

func hijack(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err == nil {
		_ = conn.Close()
	}
}

func TestWriterReportsMissingNetwork(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) { completion(w, good, "", "stop") })
	s.Close() // no server listens at the address now
	sum, infos, err := write(t, s, func(w *summarize.Writer) { w.Retries = 2 })
	if !errors.Is(err, strategy.ErrTransient) || !errors.Is(err, summarize.ErrNoSummary) || sum.Attempts != 3 {
		t.Errorf("error %v after %d attempts, want ErrTransient and ErrNoSummary after 3 attempts", err, sum.Attempts)
	}
	if infos[1].Action != "retry in 1ms" || len(s.requests()) > 0 {
		t.Errorf("action %q, %d requests, want a retry in 1ms and no request", infos[1].Action, len(s.requests()))
	}
}

func TestRefusalLeadsToBriefAndThenToTheFallback(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) { completion(w, "", "No.", "stop") })
	sum, infos, err := write(t, s, func(w *summarize.Writer) { w.Fallback = summarize.FallbackExtractive })
	if err != nil {
		t.Fatal(err)
	}
	if sum.Backend != summarize.BackendExtractive || sum.Fallback != summarize.FallbackExtractive || sum.Strategy != "task_state" || sum.Text == "" {
		t.Errorf("summary %+v, want one of the extractive fallback", sum)
	}
	var told []string
	for _, i := range infos {
		if i.Err != nil && i.Phase == summarize.Answered {
			told = append(told, i.Strategy+": "+i.Action)
		}
	}
	if fmt.Sprint(told) != "[task_state: brief brief: give up]" {
		t.Errorf("observed %q, want brief after task_state, and then the end", told)
	}
	if len(sum.Errors) < 2 || !errors.Is(sum.Errors[0], strategy.ErrRefused) || !errors.Is(sum.Errors[1], strategy.ErrRefused) {
		t.Errorf("errors %v, want two refusals", sum.Errors)
	}
}

func TestWriterHalvesTheLimitAtMostTwice(t *testing.T) {
	long := "## Decisions\n" + strings.Repeat("- the loader skips rows and nobody knows why that is so\n", 200)
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) { completion(w, long, "", "stop") })
	if _, _, err := write(t, s, nil); !errors.Is(err, summarize.ErrTooLong) {
		t.Fatalf("error %v, want ErrTooLong", err)
	}
	var limits []int
	for _, r := range s.requests() {
		limits = append(limits, r.limit())
	}
	if fmt.Sprint(limits) != "[1500 750 375]" {
		t.Errorf("limits %v, want [1500 750 375]", limits)
	}
}

func TestWriterRefusesAnswerLongerThanItsSource(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) {
		completion(w, "## Decisions\n"+strings.Repeat("- nothing was decided at all\n", 40), "", "stop")
	})
	c, err := New(Config{Model: "gpt-4o-mini", BaseURL: s.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	w := summarize.Writer{Summarizer: c}
	_, err = w.Write(t.Context(), summarize.Input{Messages: history(1), Count: count})
	if !errors.Is(err, summarize.ErrNotSmaller) {
		t.Errorf("error %v, want ErrNotSmaller", err)
	}
}

func TestWriterMakesSmallerPiecesForASmallerWindow(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r request, _ int) {
		if len(r.Messages[1].Content)/4 > 2500 {
			failure(w, 400, "context_length_exceeded", "invalid_request_error", "messages", "This model's maximum context length is 2500 tokens.")
			return
		}
		completion(w, good, "", "stop")
	})
	sum, infos, err := write(t, s, func(w *summarize.Writer) {
		c, err := New(Config{Model: "gpt-4o-mini", BaseURL: s.URL + "/v1", Window: 16_000})
		if err != nil {
			t.Fatal(err)
		}
		w.Summarizer = c
		w.MaxTokens = 400
	})
	if err != nil {
		t.Fatal(err)
	}
	if infos[1].Action != "smaller pieces" || !errors.Is(infos[1].Err, strategy.ErrContextLength) {
		t.Errorf("first answer %+v", infos[1])
	}
	if sum.Text == "" {
		t.Error("no text")
	}
}

func TestWriterGivesUpAtItsDeadline(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(http.ResponseWriter, request, int) { <-release })
	defer close(release)
	_, _, err := write(t, s, func(w *summarize.Writer) { w.Timeout, w.Attempt, w.Retries = 150*time.Millisecond, time.Minute, -1 })
	if !errors.Is(err, summarize.ErrDeadline) || !errors.Is(err, summarize.ErrNoSummary) {
		t.Errorf("error %v, want ErrDeadline and ErrNoSummary", err)
	}
}

func TestWriterRetriesAfterSlowCall(t *testing.T) {
	release := make(chan struct{})
	s := serve(t, func(w http.ResponseWriter, _ request, n int) {
		if n == 1 {
			<-release
			return
		}
		completion(w, good, "", "stop")
	})
	defer close(release)
	sum, infos, err := write(t, s, func(w *summarize.Writer) { w.Attempt = 100 * time.Millisecond })
	if err != nil || sum.Attempts < 2 { // a busy machine makes more attempts
		t.Fatalf("attempts %d, error %v, want at least 2 and none", sum.Attempts, err)
	}
	if !errors.Is(infos[1].Err, strategy.ErrTransient) {
		t.Errorf("first answer %v, want ErrTransient", infos[1].Err)
	}
}

func TestWriterDoesNotWaitLongerThanItsDeadline(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) {
		w.Header().Set("Retry-After", "3600")
		failure(w, 429, "rate_limit_exceeded", "requests", "", "slow down")
	})
	sum, infos, err := write(t, s, nil)
	if !errors.Is(err, strategy.ErrTransient) || sum.Attempts != 1 || !strings.HasPrefix(infos[1].Action, "give up") {
		t.Errorf("error %v after %d attempts, then %q, want ErrTransient after 1 attempt, then the end", err, sum.Attempts, infos[1].Action)
	}
}

func TestCancelEndsTheSummaryAtOnce(t *testing.T) {
	arrived, release := make(chan struct{}), make(chan struct{})
	s := serve(t, func(http.ResponseWriter, request, int) { close(arrived); <-release })
	defer close(release)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-arrived; cancel() }()
	c, err := New(Config{Model: "gpt-4o-mini", BaseURL: s.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = summarize.Writer{Summarizer: c, Fallback: summarize.FallbackExtractive}.Write(ctx, summarize.Input{Messages: history(30), Count: count})
	if !errors.Is(err, context.Canceled) {
		t.Errorf("error %v, want context.Canceled", err)
	}
}

func TestClientFollowsNoRedirectToAnotherHost(t *testing.T) {
	other := serve(t, func(w http.ResponseWriter, _ request, _ int) { completion(w, good, "", "stop") })
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) {
		w.Header().Set("Location", other.URL+"/v1/chat/completions")
		w.WriteHeader(http.StatusTemporaryRedirect)
	})
	sum, _, err := write(t, s, nil)
	if !errors.Is(err, strategy.ErrRejected) || sum.Attempts != 1 || len(other.requests()) > 0 {
		t.Errorf("error %v after %d attempts, %d requests elsewhere, want ErrRejected after 1 attempt and no request elsewhere", err, sum.Attempts, len(other.requests()))
	}
}

func TestSummaryOmitsThinkingOfOpenModels(t *testing.T) {
	for _, c := range []struct{ content, want string }{
		{"<think>the user wants\nx</think>\n" + good, good},
		{"<think>never ends", ""},
		{good, good},
	} {
		s := serve(t, func(w http.ResponseWriter, _ request, _ int) { completion(w, c.content, "", "stop") })
		client, err := New(Config{Model: "m", BaseURL: s.URL + "/v1"})
		if err != nil {
			t.Fatal(err)
		}
		draft, err := client.Summarize(t.Context(), strategy.Request{Strategy: named("brief"), Messages: history(2), First: 1, MaxTokens: 700, Count: count})
		if draft.Text != c.want || (c.want == "") != errors.Is(err, strategy.ErrEmpty) {
			t.Errorf("got %q, error %v, want %q", draft.Text, err, c.want)
		}
	}
}

func TestClientLimitsTheSizeOfAnAnswer(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) {
		completion(w, strings.Repeat("x", maxResponse), "", "stop")
	})
	client, err := New(Config{Model: "m", BaseURL: s.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = client.Summarize(t.Context(), strategy.Request{Strategy: named("brief"), Messages: history(2), First: 1, MaxTokens: 700, Count: count})
	if !errors.Is(err, strategy.ErrMalformed) {
		t.Errorf("error %v, want ErrMalformed", err)
	}
}

func TestNewRequiresAModel(t *testing.T) {
	if _, err := New(Config{}); !errors.Is(err, ErrModel) {
		t.Errorf("error %v, want ErrModel", err)
	}
}

func TestKeyNeverPrints(t *testing.T) {
	c := Config{Model: "m", APIKey: Key("sk-" + strings.Repeat("a", 20))}
	js, err := json.Marshal(c.APIKey)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range []string{fmt.Sprint(c), fmt.Sprintf("%+v %#v %s", c, c, c.APIKey), string(js)} {
		if strings.Contains(s, "sk-aaa") {
			t.Errorf("the key is in %s", s)
		}
	}
}

func TestRetryAfterReadsSecondsDatesAndMilliseconds(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		name, value string
		want        time.Duration
	}{
		{"Retry-After", "2", 2 * time.Second},
		{"Retry-After", "0.5", 500 * time.Millisecond},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:15 GMT", 10 * time.Second},
		{"Retry-After", "Fri, 02 Jan 2026 03:04:00 GMT", 0},
		{"Retry-After", "soon", 0},
		{"Retry-After-Ms", "250", 250 * time.Millisecond},
		{"Retry-After-Ms", "1e300", 0}, // more than a time.Duration can hold
		{"Retry-After", "1e300", 0},
	} {
		if got := retryAfter(http.Header{http.CanonicalHeaderKey(c.name): {c.value}}, now); got != c.want {
			t.Errorf("%s: %s gives %v, want %v", c.name, c.value, got, c.want)
		}
	}
}

// The error for a rejected key names the origin of the key.
func TestErrorNamesOriginOfRejectedKey(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, _ request, _ int) {
		failure(w, 401, "invalid_api_key", "invalid_request_error", "", "Incorrect API key provided: "+strings.Repeat("x", 400))
	})
	for want, c := range map[string]Config{
		"; the key came from APIKey of the openai.Config in Config.Summarize":    {APIKey: "test-key"},
		"; no key was sent; set APIKey of the openai.Config in Config.Summarize": {},
		"; the key came from OPENAI_API_KEY in the environment":                  {APIKey: "test-key", KeyFrom: "OPENAI_API_KEY in the environment"},
	} {
		c.Model, c.BaseURL = "gpt-4o-mini", s.URL+"/v1"
		client, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		_, err = client.Summarize(t.Context(), strategy.Request{Strategy: named("task_state"), MaxTokens: 100, Count: func(s string) int { return len(s) }})
		if !errors.Is(err, strategy.ErrRejected) || !strings.HasSuffix(err.Error(), want) || strings.Contains(err.Error(), "test-key") {
			t.Errorf("error %v, want one that ends with %q and does not show the key", err, want)
		}
	}
}

// named returns a built-in strategy.
func named(name string) strategy.Strategy {
	s, err := strategy.Lookup(name)
	if err != nil {
		panic(err)
	}
	return s
}
