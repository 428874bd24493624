package transport_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/storage/memory"
)

// journal is a log that is read back.
type journal struct {
	mu  sync.Mutex
	buf bytes.Buffer
}

func (j *journal) Write(p []byte) (int, error) {
	j.mu.Lock()
	defer j.mu.Unlock()
	return j.buf.Write(p)
}

func (j *journal) logger() *slog.Logger { return slog.New(slog.NewJSONHandler(j, nil)) }

// records returns the log records since the last call.
func (j *journal) records(t *testing.T) (out []map[string]any) {
	t.Helper()
	j.mu.Lock()
	defer j.mu.Unlock()
	for d := json.NewDecoder(&j.buf); d.More(); {
		var r map[string]any
		if err := d.Decode(&r); err != nil {
			t.Fatal(err)
		}
		out = append(out, r)
	}
	j.buf.Reset()
	return out
}

// silent returns a rig whose program discards the log.
func silent(t *testing.T, c compact.Config, opts ...transport.Option) *rig {
	r := newRig(t, c, append([]transport.Option{transport.OnError(nil)}, opts...)...)
	r.server.Lenient = true
	return r
}

// hourglass is a clock that advances only on demand.
type hourglass struct{ at time.Time }

func (h *hourglass) now() time.Time { return h.at }

func TestFailuresAreLoggedOnceAMinutePerCause(t *testing.T) {
	j, clock := &journal{}, &hourglass{time.Unix(1e9, 0)}
	before := slog.Default()
	slog.SetDefault(j.logger())
	defer slog.SetDefault(before)
	r := silent(t, compact.Config{Archive: full{memory.New()}}, transport.Clock(clock.now))
	f := forms()[0]
	call := func(body string) {
		if status, answer := r.do(r.request(transport.WithSession(t.Context(), "s"), f.path, body)); status != http.StatusOK {
			t.Fatal(answer)
		}
	}
	for range 5 {
		call(long(""))
	}
	call(`{"messages":[`)
	got := j.records(t)
	if len(got) != 2 || got[0]["op"] != "compact" || got[1]["op"] != "parse" || got[0]["session"] != "s" || got[0]["path"] != f.path || got[0]["level"] != "WARN" {
		t.Fatalf("logged %v", got)
	}
	if text := fmt.Sprint(got[0]["error"]); !strings.Contains(text, "no space left") {
		t.Errorf("the record does not say why: %s", text)
	}
	clock.at = clock.at.Add(59 * time.Second)
	call(long(""))
	if got := j.records(t); len(got) != 0 {
		t.Errorf("within the minute: %v", got)
	}
	clock.at = clock.at.Add(time.Second)
	call(long(""))
	if got := j.records(t); len(got) != 1 || got[0]["not_logged_since"] != float64(5) {
		t.Errorf("after the failure: %v", got)
	}
}

func TestTheLogCanBeReplacedOrSilenced(t *testing.T) {
	standard, own := &journal{}, &journal{}
	before := slog.Default()
	slog.SetDefault(standard.logger())
	defer slog.SetDefault(before)
	told := 0
	for name, c := range map[string]struct {
		opts                []transport.Option
		standard, own, told int
	}{
		"no option":       {nil, 1, 0, 0},
		"its own logger":  {[]transport.Option{transport.Logger(own.logger())}, 0, 1, 0},
		"no logger":       {[]transport.Option{transport.Logger(nil)}, 0, 0, 0},
		"a callback":      {[]transport.Option{transport.OnError(func(context.Context, error) { told++ })}, 0, 0, 1},
		"both":            {[]transport.Option{transport.Logger(own.logger()), transport.OnError(func(context.Context, error) { told++ })}, 0, 1, 1},
		"only a callback": {[]transport.Option{transport.Logger(nil), transport.OnError(func(context.Context, error) { told++ })}, 0, 0, 1},
	} {
		told = 0
		r := silent(t, compact.Config{}, c.opts...)
		r.do(r.request(t.Context(), "/v1/chat/completions", `[]`))
		if a, b := len(standard.records(t)), len(own.records(t)); a != c.standard || b != c.own || told != c.told {
			t.Errorf("%s: %d records in the standard log, %d in the own, reported %d; want %d, %d and %d", name, a, b, told, c.standard, c.own, c.told)
		}
	}
}

// The log has no unredacted text of a request or an error.
func TestTheLogIsRedacted(t *testing.T) {
	j := &journal{}
	secret := "ghp_" + "aB3dE5fG7hJ9kL1mN2" + "pQ4rS6tU8vW0xY1zA2"
	r := silent(t, compact.Config{})
	base := transport.New(r.m, transport.Logger(j.logger()), transport.Base(&sent{}), transport.Models(func(string) string { panic("with " + secret) }))
	req := r.request(transport.WithSession(t.Context(), secret), "/v1/chat/completions", long(""))
	resp, err := base.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	_ = resp.Body.Close()
	text := fmt.Sprint(j.records(t))
	if strings.Contains(text, secret) || !strings.Contains(text, "panic") || !strings.Contains(text, "goroutine") {
		t.Errorf("logged %s, want text without %q, text with %q and text with %q", text, secret, "panic", "goroutine")
	}
}

func TestPassedRequestsAreLoggedOncePerConversation(t *testing.T) {
	responses, anthropic := forms()[2], forms()[4]
	with := func(body, field string) string { return strings.Replace(body, "{", "{"+field+",", 1) }
	named := func(id string) map[string]string { return map[string]string{"X-Compact-Session": id} }
	for name, c := range map[string]struct {
		path          string
		one, two      string // bodies of two conversations, or of one
		first, second map[string]string
		says          string
		times         int
	}{
		"previous_response_id": {path: responses.path, one: with(responses.body("a", 1, 1), `"previous_response_id":"resp_1"`), two: with(responses.body("b", 1, 1), `"previous_response_id":"resp_2"`), says: "previous_response_id", times: 1},
		"previous_response_id in two sessions": {path: responses.path, one: with(responses.body("a", 1, 1), `"previous_response_id":"resp_1"`), two: with(responses.body("a", 1, 1), `"previous_response_id":"resp_2"`),
			first: named("s"), second: named("t"), says: "previous_response_id", times: 2},
		"conversation":         {path: responses.path, one: with(responses.body("a", 1, 1), `"conversation":"conv_1"`), two: with(responses.body("b", 1, 1), `"conversation":"conv_1"`), says: "conversation", times: 1},
		"two of them":          {path: responses.path, one: with(responses.body("a", 1, 1), `"conversation":{"id":"conv_1"}`), two: with(responses.body("b", 1, 1), `"conversation":{"id":"conv_2"}`), says: "conversation", times: 2},
		"context_management":   {path: anthropic.path, one: with(anthropic.body("a", 1, 1), `"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":9000}}]}`), two: with(anthropic.body("b", 9, 1), `"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":9000}}]}`), says: "context_management", times: 2},
		"encoded":              {path: anthropic.path, one: "x", two: "y", first: map[string]string{"Content-Encoding": "br"}, says: `encoded as \"br\"`, times: 1},
		"signed for AWS":       {path: anthropic.path, one: "x", two: "y", first: map[string]string{"Authorization": "AWS4-HMAC-SHA256 Credential=x, Signature=1"}, second: map[string]string{"Authorization": "AWS4-HMAC-SHA256 Credential=x, Signature=2"}, says: "signature", times: 1},
		"with a digest":        {path: anthropic.path, one: "x", two: "y", first: map[string]string{"Content-Digest": "sha-256=:x:"}, second: map[string]string{"Content-Digest": "sha-256=:y:"}, says: "signature", times: 1},
		"no JSON":              {path: anthropic.path, one: "x", two: "y", first: map[string]string{"Content-Type": "text/plain"}, says: "Content-Type", times: 1},
		"huge":                 {path: anthropic.path, one: strings.Repeat("x", 9000), two: strings.Repeat("y", 9000), says: "MaxBody", times: 1},
		"huge, of two tenants": {path: anthropic.path, one: strings.Repeat("x", 9000), two: strings.Repeat("y", 9000), first: map[string]string{"X-Api-Key": "a"}, second: map[string]string{"X-Api-Key": "b"}, says: "MaxBody", times: 2},
	} {
		t.Run(name, func(t *testing.T) {
			j := &journal{}
			told := []error{}
			r := silent(t, compact.Config{}, transport.MaxBody(8000), transport.Logger(j.logger()), transport.OnError(func(_ context.Context, err error) { told = append(told, err) }))
			for range 3 {
				for i, body := range []string{c.one, c.two} {
					req := r.request(context.Background(), c.path, body)
					headers := c.first
					if i == 1 && c.second != nil {
						headers = c.second
					}
					for k, v := range headers {
						req.Header.Set(k, v)
					}
					if status, answer := r.do(req); status != http.StatusOK {
						t.Fatal(answer)
					}
				}
			}
			for i, body := range r.got() {
				if body != []string{c.one, c.two}[i%2] {
					t.Errorf("request %d was sent with another body", i)
				}
			}
			got := j.records(t)
			if len(got) != c.times || len(told) != c.times || len(r.got()) != 6 {
				t.Fatalf("logged %v, reported %v, of %d requests, want 6", got, told, len(r.got()))
			}
			if text := fmt.Sprintf("%q", got[0]["error"]); !strings.Contains(text, c.says) {
				t.Errorf("said %s, want text with %q", text, c.says)
			}
			if !strings.HasPrefix(name, "huge") && !errors.Is(told[0], transport.ErrPassed) {
				t.Errorf("reported %v", told[0])
			}
		})
	}
}

func TestWebsocketsAreReported(t *testing.T) {
	r := newRig(t, compact.Config{}, transport.Base(&sent{}))
	for range 2 {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, r.url+"/v1/responses", http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Upgrade", "WebSocket")
		resp, err := r.client.Transport.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
	}
	if len(r.errs) != 1 || !errors.Is(r.errs[0], transport.ErrPassed) {
		t.Errorf("reported %v", r.errs)
	}
}

func TestTheGuessOfAWindowIsLoggedOnceAModel(t *testing.T) {
	j := &journal{}
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4o", Archive: memory.New()})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	f, r := forms()[0], newRig(t, compact.Config{})
	r.client.Transport = transport.New(m, transport.Logger(j.logger()))
	for range 3 {
		for _, model := range []string{"gpt-4o", "my-own-7b", "my-other-7b"} {
			r.do(r.request(t.Context(), f.path, strings.Replace(f.body("x", 1, 1), "gpt-4o", model, 1)))
		}
	}
	got := j.records(t)
	if len(got) != 2 || !strings.Contains(fmt.Sprint(got[0]["warning"]), "my-own-7b") || !strings.Contains(fmt.Sprint(got[1]["warning"]), "my-other-7b") {
		t.Errorf("logged %v", got)
	}
}
