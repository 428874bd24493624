package openai

import (
	"errors"
	"net/http"
	"testing"

	"github.com/agentcompact/compact/strategy"
)

func TestTryAsksForOneWord(t *testing.T) {
	for body, want := range map[string]error{
		`{"choices":[{"message":{"content":"yes"},"finish_reason":"stop"}]}`:  nil,
		`{"choices":[{"message":{"content":"we"},"finish_reason":"length"}]}`: nil,
		`{"choices":[{"message":{"content":""},"finish_reason":"length"}]}`:   nil,
		`{"choices":[{"message":{"refusal":"no"},"finish_reason":"stop"}]}`:   nil,
		`not JSON`: strategy.ErrMalformed,
	} {
		s := serve(t, func(w http.ResponseWriter, _ request, _ int) { _, _ = w.Write([]byte(body)) })
		c, err := New(Config{Model: "gpt-4", BaseURL: s.URL + "/v1"})
		if err != nil {
			t.Fatal(err)
		}
		if err := c.Try(t.Context()); !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", body, err, want)
		}
		if len(s.seen) != 1 || s.seen[0].limit() != tryTokens {
			t.Errorf("asked %d times or with another limit, want once with tryTokens", len(s.seen))
		}
	}
}
