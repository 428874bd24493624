package provider_test

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
	"time"

	"github.com/agentcompact/compact/internal/provider"
)

// paths holds the paths of the wires, as their SDKs use them.
var paths = map[provider.Wire]string{
	provider.Chat:      "/v1/chat/completions",
	provider.Responses: "/openai/v1/responses?api-version=1",
	provider.Anthropic: "/v1/messages?beta=true",
	provider.Gemini:    "/v1beta/models/gemini-3-pro:generateContent",
}

var questions = map[provider.Wire]string{
	provider.Chat:      `{"model":"m","messages":[{"role":"user","content":"Q"}]%s}`,
	provider.Responses: `{"model":"m","include":["reasoning.encrypted_content"],"input":[{"role":"user","content":"Q"}]%s}`,
	provider.Anthropic: `{"model":"m","max_tokens":20,"messages":[{"role":"user","content":"Q"}]%s}`,
	provider.Gemini:    `{"contents":[{"role":"user","parts":[{"text":"Q"}]}]%s}`,
}

var script = provider.Answer{Reasoning: "why not", Text: "one two", Calls: []provider.Call{{ID: "c1", Name: "f", Args: `{"x":1}`}, {ID: "c2", Name: "g", Args: `{}`}}, Cached: 3, Created: 2, Output: 11}

type client struct {
	t   *testing.T
	url string
}

func serve(t *testing.T, s *provider.Server) client {
	t.Helper()
	h := httptest.NewServer(s)
	t.Cleanup(h.Close)
	return client{t, h.URL}
}

func (c client) post(path, body string) (status int, header http.Header, answer string) {
	c.t.Helper()
	q, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+path, strings.NewReader(body))
	if err != nil {
		c.t.Fatal(err)
	}
	res, err := http.DefaultClient.Do(q)
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return res.StatusCode, res.Header, string(b)
}

func wants(t *testing.T, label, answer string, parts ...string) {
	t.Helper()
	for _, p := range parts {
		if !strings.Contains(answer, p) {
			t.Errorf("%s: %s is not in\n%s", label, p, answer)
		}
	}
}

func TestServerAnswersInTheProvidersForm(t *testing.T) {
	for w, parts := range map[provider.Wire][]string{
		provider.Chat: {`"object":"chat.completion"`, `"content":"one two"`, `"reasoning_content":"why not"`, `{"function":{"arguments":"{\"x\":1}","name":"f"},"id":"c1","type":"function"}`,
			`"finish_reason":"tool_calls"`, `"prompt_tokens":100`, `"completion_tokens":11`, `"cached_tokens":3`},
		provider.Responses: {`"status":"completed"`, `"type":"reasoning"`, `"encrypted_content":"`, `"text":"one two","type":"output_text"`, `"call_id":"c2"`, `"input_tokens":100`, `"cached_tokens":3`},
		provider.Anthropic: {`"type":"thinking"`, `"signature":"`, `{"text":"one two","type":"text"}`, `{"caller":{"type":"direct"},"id":"c1","input":{"x":1},"name":"f","type":"tool_use"}`,
			`"stop_reason":"tool_use"`, `"input_tokens":95`, `"cache_creation_input_tokens":2`, `"cache_read_input_tokens":3`, `"output_tokens":11`},
		provider.Gemini: {`"finishReason":"STOP"`, `"thoughtSignature":"`, `{"functionCall":{"args":{},"id":"c2","name":"g"}}`, `"promptTokenCount":100`, `"candidatesTokenCount":11`, `"cachedContentTokenCount":3`, `"modelVersion":"gemini-3-pro"`},
	} {
		s := provider.NewServer()
		s.Count = func([]byte) int { return 100 }
		s.Answer(script)
		c := serve(t, s)
		status, header, answer := c.post(paths[w], fmt.Sprintf(questions[w], ""))
		if status != 200 || header.Get("Content-Type") != "application/json" || !json.Valid([]byte(answer)) {
			t.Errorf("%s: %d %s", w, status, answer)
		}
		wants(t, string(w), answer, parts...)
		if _, _, next := c.post(paths[w], fmt.Sprintf(questions[w], "")); !strings.Contains(next, `"ok"`) {
			t.Errorf("%s: after the script: %s", w, next)
		}
		log := s.Requests()
		if len(log) != 2 || log[0].Wire != w || log[0].Status != 200 || log[0].Prompt != 100 || string(log[0].Body) != fmt.Sprintf(questions[w], "") || log[0].Path != paths[w] {
			t.Errorf("%s: the log is %+v", w, log)
		}
	}
}

func TestServerStreamsUsageLikeTheProvider(t *testing.T) {
	for w, c := range map[provider.Wire]struct {
		path, more string
		parts      []string
	}{
		provider.Chat: {paths[provider.Chat], `,"stream":true,"stream_options":{"include_usage":true}`, []string{
			`"delta":{"content":"one "}`, `"delta":{"content":"two"}`, `"finish_reason":"tool_calls"`, `"usage":null`, `"choices":[],"created":1`, `"prompt_tokens":100`, "data: [DONE]\n\n"}},
		provider.Responses: {paths[provider.Responses], `,"stream":true`, []string{
			"event: response.created\ndata: {", `"content":[],"id":"msg_1"`, `"item":{"arguments":"","call_id":`, `"status":"in_progress","type":"function_call"`, `"part":{"annotations":[],"text":"","type":"output_text"},"sequence_number":`, `"type":"response.content_part.done"`, `"delta":"one "`, `"type":"response.output_text.done"`, `"type":"response.function_call_arguments.done"`, "event: response.completed\n", `"input_tokens":100`, `"sequence_number":3`}},
		provider.Anthropic: {paths[provider.Anthropic], `,"stream":true`, []string{
			"event: message_start\ndata: {", `"input_tokens":95,"output_tokens":1}`, "event: ping\n", `{"text":"one ","type":"text_delta"}`, `"type":"signature_delta"`, `{"partial_json":"{\"x\":1}","type":"input_json_delta"}`, "event: content_block_stop\n",
			`"usage":{"output_tokens":11}`, "event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"}},
		provider.Gemini: {"/v1/models/g:streamGenerateContent?alt=sse", "", []string{
			"data: {\"candidates\":[{\"content\":{\"parts\":[{\"text\":\"one two\"}]", `"finishReason":"STOP"`, `"candidatesTokenCount":11`, `"promptTokenCount":100`}},
	} {
		s := provider.NewServer()
		s.Count = func([]byte) int { return 100 }
		s.Answer(script)
		status, header, answer := serve(t, s).post(c.path, fmt.Sprintf(questions[w], c.more))
		if status != 200 || !strings.HasPrefix(header.Get("Content-Type"), "text/event-stream") {
			t.Errorf("%s: %d %v", w, status, header)
		}
		wants(t, string(w), answer, c.parts...)
	}
}

func TestServerStreamsGeminiAsAnArrayAndChatWithoutUsage(t *testing.T) {
	s := provider.NewServer()
	s.Answer(script)
	var chunks []map[string]any
	_, _, answer := serve(t, s).post("/v1/models/g:streamGenerateContent", fmt.Sprintf(questions[provider.Gemini], ""))
	if err := json.Unmarshal([]byte(answer), &chunks); err != nil || len(chunks) != 4 {
		t.Errorf("%d chunks, %v", len(chunks), err)
	}
	_, _, answer = serve(t, s).post(paths[provider.Chat], fmt.Sprintf(questions[provider.Chat], `,"stream":true`))
	if strings.Contains(answer, "usage") || !strings.HasSuffix(answer, "data: [DONE]\n\n") {
		t.Error(answer)
	}
}

func TestServerRefusesInTheProvidersForm(t *testing.T) {
	for w, c := range map[provider.Wire]struct{ body, want string }{
		provider.Chat:      {`{"model":"m","messages":[{"role":"tool","tool_call_id":"x","content":"A"}]}`, `{"error":{"code":null,"message":"Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls'.","param":"messages.[0].role","type":"invalid_request_error"}}`},
		provider.Responses: {`{"model":"m","input":[{"type":"function_call_output","call_id":"x","output":"A"}]}`, `{"error":{"code":null,"message":"No tool call found for function call output with call_id x.","param":"input[0]","type":"invalid_request_error"}}`},
		provider.Anthropic: {`{"model":"m","max_tokens":1,"messages":[{"role":"user","content":""}]}`, `{"error":{"message":"messages.0: all messages must have non-empty content except for the optional final assistant message","type":"invalid_request_error"},"request_id":"req_test","type":"error"}`},
		provider.Gemini:    {`{"contents":[]}`, `{"error":{"code":400,"message":"* GenerateContentRequest.contents: contents is not specified","status":"INVALID_ARGUMENT"}}`},
	} {
		s := provider.NewServer()
		status, _, answer := serve(t, s).post(paths[w], c.body)
		if status != 400 || answer != c.want {
			t.Errorf("%s: %d %s", w, status, answer)
		}
		s.Lenient = true
		if status, _, _ := serve(t, s).post(paths[w], c.body); status != 200 {
			t.Errorf("%s: a lenient server answers %d", w, status)
		}
	}
}

func TestServerReportsATooLongPrompt(t *testing.T) {
	for w, want := range map[provider.Wire]string{
		provider.Chat:      `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 90 tokens. However, your messages resulted in 100 tokens. Please reduce the length of the messages.","param":"messages","type":"invalid_request_error"}}`,
		provider.Responses: `{"error":{"code":"context_length_exceeded","message":"Your input exceeds the context window of this model. Please adjust your input and try again.","param":"input","type":"invalid_request_error"}}`,
		provider.Anthropic: `"message":"prompt is too long: 100 tokens \u003e 90 maximum"`,
		provider.Gemini:    `{"error":{"code":400,"message":"The input token count (100) exceeds the maximum number of tokens allowed (90).","status":"INVALID_ARGUMENT"}}`,
	} {
		s := provider.NewServer()
		s.Window, s.Count = 90, func([]byte) int { return 100 }
		status, _, answer := serve(t, s).post(paths[w], fmt.Sprintf(questions[w], ""))
		if status != 400 || !strings.Contains(answer, want) {
			t.Errorf("%s: %d %s", w, status, answer)
		}
		s.Window = 100
		if status, _, answer := serve(t, s).post(paths[w], fmt.Sprintf(questions[w], "")); w != provider.Anthropic && status != 200 {
			t.Errorf("%s: a request that fits is answered with %d %s", w, status, answer)
		}
	}
	s := provider.NewServer()
	s.Window, s.Count = 110, func([]byte) int { return 100 }
	_, _, answer := serve(t, s).post(paths[provider.Anthropic], fmt.Sprintf(questions[provider.Anthropic], ""))
	wants(t, "max_tokens", answer, "exceed context limit: 100 + 20 \\u003e 110, decrease input length or `max_tokens` and try again")
	s.Window, s.InStream = 90, true
	status, _, answer := serve(t, s).post(paths[provider.Responses], fmt.Sprintf(questions[provider.Responses], `,"stream":true`))
	wants(t, "in the stream", answer, "event: response.failed\n", `"code":"context_length_exceeded"`)
	if status != 200 {
		t.Errorf("in the stream: %d", status)
	}
}

func TestServerFailsOnDemand(t *testing.T) {
	for w, want := range map[provider.Wire][2]string{
		provider.Chat:      {`"code":"rate_limit_exceeded"`, `"type":"server_error"`},
		provider.Responses: {`"code":"rate_limit_exceeded"`, `"type":"server_error"`},
		provider.Anthropic: {`"type":"rate_limit_error"`, `"type":"api_error"`},
		provider.Gemini:    {`"status":"RESOURCE_EXHAUSTED"`, `"status":"INTERNAL"`},
	} {
		s := provider.NewServer()
		s.Fail(provider.Failure{Status: 429, RetryAfter: 1500 * time.Millisecond}, provider.Failure{Status: 500})
		c := serve(t, s)
		status, header, answer := c.post(paths[w], fmt.Sprintf(questions[w], ""))
		if status != 429 || header.Get("Retry-After") != "2" || !strings.Contains(answer, want[0]) {
			t.Errorf("%s: %d %v %s", w, status, header, answer)
		}
		status, _, answer = c.post(paths[w], fmt.Sprintf(questions[w], ""))
		if status != 500 || !strings.Contains(answer, want[1]) {
			t.Errorf("%s: %d %s", w, status, answer)
		}
		if status, _, _ := c.post(paths[w], fmt.Sprintf(questions[w], "")); status != 200 {
			t.Errorf("%s: after the failures %d", w, status)
		}
	}
}

func TestServerHangsUntilTheClientDisconnects(t *testing.T) {
	s := provider.NewServer()
	s.Fail(provider.Failure{Hang: true})
	c := serve(t, s)
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	q, err := http.NewRequestWithContext(ctx, http.MethodPost, c.url+paths[provider.Chat], strings.NewReader(fmt.Sprintf(questions[provider.Chat], "")))
	if err != nil {
		t.Fatal(err)
	}
	if res, err := http.DefaultClient.Do(q); err == nil {
		_ = res.Body.Close()
		t.Errorf("answered with %d", res.StatusCode)
	}
}

func TestServerRecognizesOtherRequests(t *testing.T) {
	s := provider.NewServer()
	c := serve(t, s)
	if status, _, answer := c.post("/v1/messages/count_tokens", `{"a":"bcdefgh"}`); status != 200 || answer != `{"input_tokens":3}` {
		t.Errorf("%d %s", status, answer)
	}
	for _, path := range []string{"/v1/responses/compact", "/v1/embeddings", "/v1beta/models/m:countTokens"} {
		if status, _, answer := c.post(path, `{}`); status != 404 || !strings.Contains(answer, "Invalid URL (POST "+path) {
			t.Errorf("%s: %d %s", path, status, answer)
		}
	}
	for _, r := range s.Requests() {
		if r.Wire != "" {
			t.Errorf("%s is on wire %s", r.Path, r.Wire)
		}
	}
}

// A server accepts its own output in a later request, but only unchanged.
func TestServerKnowsItsOwnReasoning(t *testing.T) {
	s := provider.NewServer()
	s.Answer(script)
	c := serve(t, s)
	_, _, answer := c.post(paths[provider.Anthropic], fmt.Sprintf(questions[provider.Anthropic], ""))
	var said struct {
		Content json.RawMessage `json:"content"`
	}
	if err := json.Unmarshal([]byte(answer), &said); err != nil {
		t.Fatal(err)
	}
	next := `{"model":"m","max_tokens":20,"messages":[{"role":"user","content":"Q"},{"role":"assistant","content":%s},{"role":"user","content":[{"type":"tool_result","tool_use_id":"c1","content":"A"},{"type":"tool_result","tool_use_id":"c2","content":"B"}]}]}`
	if status, _, answer := c.post(paths[provider.Anthropic], fmt.Sprintf(next, said.Content)); status != 200 {
		t.Errorf("the server refuses its own reasoning: %d %s", status, answer)
	}
	changed := strings.Replace(fmt.Sprintf(next, said.Content), "why not", "why", 1)
	if status, _, answer := c.post(paths[provider.Anthropic], changed); status != 400 || !strings.Contains(answer, "Invalid `signature` in `thinking` block") {
		t.Errorf("other words: %d %s", status, answer)
	}
}

func TestServerAnswersConcurrently(t *testing.T) {
	s := provider.NewServer()
	s.Reply = func(q provider.Request) provider.Answer { return provider.Answer{Text: "to " + q.Header.Get("X-Who")} }
	c := serve(t, s)
	var wg sync.WaitGroup
	for i := range 20 {
		wg.Go(func() {
			q, err := http.NewRequestWithContext(context.Background(), http.MethodPost, c.url+paths[provider.Chat], strings.NewReader(fmt.Sprintf(questions[provider.Chat], "")))
			if err != nil {
				t.Error(err)
				return
			}
			q.Header.Set("X-Who", fmt.Sprint("<", i, ">"))
			res, err := http.DefaultClient.Do(q)
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = res.Body.Close() }()
			var answer struct {
				Choices []struct{ Message struct{ Content string } }
			}
			if err := json.NewDecoder(res.Body).Decode(&answer); err != nil || len(answer.Choices) != 1 || answer.Choices[0].Message.Content != fmt.Sprint("to <", i, ">") {
				t.Errorf("%d: %+v, %v", i, answer, err)
			}
		})
	}
	wg.Wait()
	if n := len(s.Requests()); n != 20 {
		t.Errorf("%d requests", n)
	}
}
