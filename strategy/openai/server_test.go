package openai

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
)

// A request is a chat completion request as the server receives it.
type request struct {
	Model               string    `json:"model"`
	Temperature         *float64  `json:"temperature"`
	Seed                *int      `json:"seed"`
	MaxTokens           int       `json:"max_tokens"`
	MaxCompletionTokens int       `json:"max_completion_tokens"`
	ReasoningEffort     string    `json:"reasoning_effort"`
	Messages            []wireMsg `json:"messages"`

	auth string
	raw  string
}

type wireMsg struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

func (r request) limit() int { return r.MaxTokens + r.MaxCompletionTokens }

// server answers chat completions by a script and records the requests.
type server struct {
	*httptest.Server
	mu   sync.Mutex
	seen []request
}

// answer writes one response; n counts the requests from 1.
type answer func(w http.ResponseWriter, r request, n int)

func serve(t *testing.T, a answer) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, hr *http.Request) {
		body, err := io.ReadAll(hr.Body)
		if err != nil {
			return
		}
		r := request{auth: hr.Header.Get("Authorization"), raw: string(body)}
		if err := json.Unmarshal(body, &r); err != nil {
			t.Errorf("the request is not JSON: %v", err)
		}
		if hr.URL.Path != "/v1/chat/completions" {
			t.Errorf("path %s, want /v1/chat/completions", hr.URL.Path)
		}
		s.mu.Lock()
		s.seen = append(s.seen, r)
		n := len(s.seen)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		a(w, r, n)
	}))
	t.Cleanup(s.Close)
	return s
}

func (s *server) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]request(nil), s.seen...)
}

// completion writes a chat completion.
func completion(w http.ResponseWriter, content, refusal, finish string) {
	msg := map[string]any{"role": "assistant", "content": content}
	if refusal != "" {
		msg["refusal"] = refusal
		msg["content"] = nil
	}
	body, err := json.Marshal(map[string]any{
		"id": "chatcmpl-1", "object": "chat.completion", "created": 1700000000, "model": "gpt-4o-mini",
		"choices": []any{map[string]any{"index": 0, "message": msg, "finish_reason": finish, "logprobs": nil}},
		"usage":   map[string]any{"prompt_tokens": 900, "completion_tokens": 50, "total_tokens": 950},
	})
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(body)
}

func failure(w http.ResponseWriter, status int, code, kind, param, text string) {
	w.WriteHeader(status)
	body, err := json.Marshal(map[string]any{"error": map[string]any{"message": text, "type": kind, "code": code, "param": param}})
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(body)
}

const good = "## Goals and success criteria\n- Fix service/importer.go [s1]\n## Outstanding actions and blockers\n- [open] the loader still skips rows [s2]"

func count(s string) int { return (len(s) + 3) / 4 }

// history returns n rounds, long enough that every answer of these tests is smaller.
func history(n int) []message.Message {
	msgs := []message.Message{message.User("Fix service/importer.go. Never touch db/schema.sql.")}
	for i := range n {
		id := fmt.Sprintf("c%d", i)
		msgs = append(msgs,
			message.Assistant(fmt.Sprintf("I edit pkg%d/handler%d.go because the loader skips rows.", i, i),
				message.Call(id, "bash", fmt.Sprintf(`{"command":"go test ./pkg%d"}`, i))),
			message.ToolResult(id, strings.Repeat(fmt.Sprintf("--- FAIL: TestLoad%d (0.00s) got %d\n", i, 1000+i), 12)+"exit code: 1"))
	}
	return msgs
}

// write summarizes history with a client of s.
func write(t *testing.T, s *server, change func(*summarize.Writer)) (summarize.Summary, []summarize.CallInfo, error) {
	t.Helper()
	c, err := New(Config{Model: "gpt-4o-mini", BaseURL: s.URL + "/v1/", APIKey: "test-key"})
	if err != nil {
		t.Fatal(err)
	}
	var infos []summarize.CallInfo
	w := summarize.Writer{Summarizer: c, Backoff: time.Millisecond, Observe: func(i summarize.CallInfo) { infos = append(infos, i) }}
	if change != nil {
		change(&w)
	}
	sum, err := w.Write(t.Context(), summarize.Input{Messages: history(30), Count: count})
	return sum, infos, err
}
