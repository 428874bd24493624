package transport

import (
	"errors"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
)

// A refused request for a summary tells the manager when to try again, and why it failed.
func TestRefusedAskTellsWhenAndWhy(t *testing.T) {
	const long = `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 1000 tokens."}}`
	for name, c := range map[string]struct {
		status              int
		retry, body, says   string
		after               time.Duration
		tooLong, unreadable bool
	}{
		"in seconds":       {429, "7", `{"error":{"message":"slow down"}}`, "429: slow down", 7 * time.Second, false, false},
		"at a date":        {429, "Wed, 21 Oct 2026 07:28:09 GMT", "{}", "429", 9 * time.Second, false, false},
		"in the past":      {503, "-5", "{}", "503", 0, false, false},
		"without a time":   {500, "", strings.Repeat("x", 1000), "500", 0, false, false},
		"too long":         {400, "", long, "maximum context length", 0, true, false},
		"not a chat, 200":  {200, "", "<html>", "200", 0, false, true},
		"a chatty failure": {500, "", `{"error":{"message":"` + strings.Repeat("y", 1000) + `"}}`, "yyy", 0, false, false},
	} {
		resp := &http.Response{StatusCode: c.status, Header: http.Header{}}
		if c.retry != "" {
			resp.Header.Set("Retry-After", c.retry)
			resp.Header.Set("Date", "Wed, 21 Oct 2026 07:28:00 GMT")
		}
		e := new(compact.AskError)
		if !errors.As(refusedAsk(resp, []byte(c.body)), &e) || e.Status != c.status || e.RetryAfter != c.after || e.TooLong != c.tooLong || e.Unreadable != c.unreadable {
			t.Errorf("%s: %+v, want the status and the wait of the provider", name, e)
		}
		if text := e.Err.Error(); !strings.Contains(text, c.says) || len(text) > 400 {
			t.Errorf("%s: %q, want text with %q", name, text, c.says)
		}
	}
}
