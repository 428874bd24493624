package transport_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// scripted answers with bodies of its own, of a known length where length says so.
func scripted(status func(n int) int, media, length string, answers ...io.Reader) http.RoundTripper {
	n := 0
	return sender(func(r *http.Request) (*http.Response, error) {
		_, err := io.Copy(io.Discard, r.Body)
		resp := &http.Response{StatusCode: status(n), Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(answers[n]), ContentLength: -1, Request: r}
		if s, ok := answers[n].(*strings.Reader); ok && length != "" {
			resp.ContentLength = s.Size()
			resp.Header.Set("Content-Length", fmt.Sprint(s.Size()))
		}
		n++
		return resp, err
	})
}

type sender func(*http.Request) (*http.Response, error)

func (f sender) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

func ok(int) int { return http.StatusOK }

const refusal = "event: error\ndata: {\"type\":\"error\",\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"too long\"}}\n\n"

func TestAStreamOfKnownLengthCanBeReplaced(t *testing.T) {
	long := "data: {\"a\":\"" + strings.Repeat("x", 500) + "\"}\n\ndata: [DONE]\n\n"
	r := newRig(t, compact.Config{})
	to, err := url.Parse("http://provider.test")
	if err != nil {
		t.Fatal(err)
	}
	proxy := httputil.NewSingleHostReverseProxy(to)
	proxy.Transport = transport.New(r.m, transport.Base(scripted(ok, "text/event-stream", "known", strings.NewReader(refusal), strings.NewReader(long))))
	h := httptest.NewServer(proxy)
	defer h.Close()
	r.url, r.client = h.URL, h.Client()
	f := form{wire: provider.Chat, path: "/v1/chat/completions", fields: `"model":"gpt-4o","stream":true`}
	if _, got := r.post(f, f.body("go", 30, 200)); got != long {
		t.Errorf("a proxy hands on %q, want %q", got, long)
	}
}

// drip gives a few bytes at a time.
type drip struct{ text string }

func (d *drip) Read(p []byte) (int, error) {
	if d.text == "" {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), 16)], d.text)
	d.text = d.text[n:]
	return n, nil
}

func TestAnnouncementsInSmallPiecesTakeTimeInProportion(t *testing.T) {
	for name, text := range map[string]string{
		"a long line":  "event: response.created\ndata: {\"x\":\"" + strings.Repeat("x", 900_000) + "\"}\n\n",
		"many lines":   "event: response.created\n" + strings.Repeat("data: x\n", 110_000) + "\n",
		"many of them": strings.Repeat("data: {\"type\":\"response.created\"}\r\n\r\n", 20_000),
	} {
		text += "data: {}\n\n"
		r := newRig(t, compact.Config{}, transport.Base(scripted(ok, "text/event-stream", "", &drip{text})))
		f := form{wire: provider.Chat, path: "/v1/chat/completions", fields: `"model":"gpt-4o","stream":true`}
		began := time.Now()
		if _, got := r.post(f, f.body("go", 1, 10)); got != text {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(text))
		}
		if took := time.Since(began); took > 10*time.Second {
			t.Errorf("%s: %v", name, took)
		}
	}
}

func TestStreamsWithOtherLineEndsAreNotHeldBack(t *testing.T) {
	read, write := io.Pipe()
	defer func() { _ = write.Close() }()
	r := newRig(t, compact.Config{}, transport.Base(scripted(ok, "text/event-stream", "", read)))
	f := form{wire: provider.Chat, path: "/v1/chat/completions", fields: `"model":"gpt-4o","stream":true`}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	resp, err := r.client.Do(r.request(ctx, f.path, f.body("go", 1, 10)))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	const text = "data: {\"choices\":[]}\r\rdata: x\r\r"
	go func() { _, _ = io.WriteString(write, text) }()
	stop := context.AfterFunc(ctx, func() { _ = read.Close() })
	defer stop()
	got := make([]byte, len(text))
	if n, err := io.ReadFull(resp.Body, got); err != nil || string(got) != text {
		t.Errorf("%q, %v", got[:n], err)
	}
}

// What the provider said was for another model behind the same name, or the
// conversation has outgrown it: the model's own window counts then.
func TestRememberedWindowDoesNotStopASession(t *testing.T) {
	said := `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8000 tokens. However, your messages resulted in 20000 tokens."}}`
	status := func(n int) int { return []int{http.StatusBadRequest, http.StatusOK, http.StatusOK}[n] }
	var sent []int
	base := scripted(status, "application/json", "", strings.NewReader(said), strings.NewReader("{}"), strings.NewReader("{}"))
	r := newRig(t, compact.Config{MaxContextTokens: 64_000}, transport.Base(sender(func(q *http.Request) (*http.Response, error) {
		sent = append(sent, int(q.ContentLength))
		return base.RoundTrip(q)
	})))
	f := form{wire: provider.Chat, path: "/v1/chat/completions", fields: `"model":"gpt-4o"`}
	if code, answer := r.post(f, f.body("go", 60, 300)); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	ask := `{"role":"user","content":"` + strings.Repeat("word ", 12_000) + `"}`
	body := strings.TrimSuffix(f.body("go", 300, 300), "]}") + "," + ask + "]}"
	if code, answer := r.post(f, body); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	r.quiet()
	if len(sent) != 3 || sent[2] > len(body)*3/4 || sent[2] < len(ask) {
		t.Errorf("%d bytes came in, what was sent: %v", len(body), sent)
	}
}

func TestGatewaysKeysTellTenantsApart(t *testing.T) {
	r := newRig(t, compact.Config{})
	f := form{wire: provider.Chat, path: "/v1/chat/completions", fields: `"model":"gpt-4o"`}
	ids := map[string]string{}
	for _, header := range []string{"", "Authorization: 1", "Authorization: 2", "X-Litellm-Api-Key: 1", "Cf-Aig-Authorization: 1", "X-Portkey-Api-Key: 1", "Ocp-Apim-Subscription-Key: 1", "Proxy-Authorization: 1", "X-Goog-User-Project: 1", "Openai-Organization: 1"} {
		req := r.request(context.Background(), f.path, f.body("hi", 0, 0))
		if name, value, ok := strings.Cut(header, ": "); ok {
			req.Header.Set(name, value)
		}
		r.do(req)
		id := r.last().Session
		if other, known := ids[id]; known {
			t.Errorf("%q and %q are one session", header, other)
		}
		ids[id] = header
	}
	req := r.request(context.Background(), f.path, f.body("hi", 0, 0))
	req.Header.Set("Idempotency-Key", "1")
	req.Header.Set("X-Request-Id", "1")
	r.do(req)
	if _, known := ids[r.last().Session]; !known {
		t.Error("what changes with each request names a session of its own")
	}
}
