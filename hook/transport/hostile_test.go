package transport_test

import (
	"context"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/storage/memory"
)

// scripted answers with given bodies, with a Content-Length if length is set.
func scripted(status func(n int) int, media, length string, answers ...io.Reader) http.RoundTripper {
	n := 0
	return sender(func(r *http.Request) (*http.Response, error) {
		_, err := io.Copy(io.Discard, r.Body)
		resp := &http.Response{StatusCode: status(n), Header: http.Header{"Content-Type": {media}}, Body: io.NopCloser(answers[n]), ContentLength: -1, Request: r}
		if c, ok := answers[n].(io.ReadCloser); ok {
			resp.Body = c
		}
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
	if _, got := r.post(streamed, streamed.body("go", 30, 200)); got != long {
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

// announcements returns about n bytes of events that only announce an answer, and one
// event of an answer.
func announcements(n int) map[string]string {
	const answer = "data: {}\n\n"
	return map[string]string{
		"a long line":  "event: response.created\ndata: {\"x\":\"" + strings.Repeat("x", n) + "\"}\n\n" + answer,
		"many lines":   "event: response.created\n" + strings.Repeat("data: x\n", n/8) + "\n" + answer,
		"many of them": strings.Repeat("data: {\"type\":\"response.created\"}\r\n\r\n", n/38) + answer,
	}
}

var streamed = form{wire: provider.Chat, path: "/v1/chat/completions", fields: `"model":"gpt-4o","stream":true`}

func TestAnnouncementsInSmallPiecesArrive(t *testing.T) {
	for name, text := range announcements(20_000) {
		r := newRig(t, compact.Config{}, transport.Base(scripted(ok, "text/event-stream", "", &drip{text})))
		if _, got := r.post(streamed, streamed.body("go", 1, 10)); got != text {
			t.Errorf("%s: %d bytes, want %d", name, len(got), len(text))
		}
	}
}

// BenchmarkAnnouncementsInSmallPieces reads streams whose first bytes are held
// back: the time per byte must not grow with their number.
func BenchmarkAnnouncementsInSmallPieces(b *testing.B) {
	m, err := compact.New(b.Context(), compact.Config{Archive: memory.New(), MaxContextTokens: window})
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	ctx := transport.WithSession(b.Context(), "s")
	for _, n := range []int{50_000, 200_000, 800_000} {
		streams := announcements(n)
		for _, name := range slices.Sorted(maps.Keys(streams)) {
			text := streams[name]
			b.Run(fmt.Sprintf("%s/%d", strings.ReplaceAll(name, " ", "_"), n), func(b *testing.B) {
				for b.Loop() {
					rt := transport.New(m, transport.Base(scripted(ok, "text/event-stream", "", &drip{text})))
					req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://provider.test"+streamed.path, strings.NewReader(streamed.body("go", 1, 10)))
					if err != nil {
						b.Fatal(err)
					}
					req.Header.Set("Content-Type", "application/json")
					resp, err := rt.RoundTrip(req)
					if err != nil {
						b.Fatal(err)
					}
					if got, err := io.Copy(io.Discard, resp.Body); err != nil || got != int64(len(text)) {
						b.Fatalf("%d bytes of %d: %v", got, len(text), err)
					}
					_ = resp.Body.Close()
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*len(text)), "ns/byte")
			})
		}
	}
}

// once is a body with its whole text available. It counts the reads.
type once struct {
	text  string
	asked int
}

func (o *once) Read(p []byte) (int, error) {
	if o.asked++; o.asked > 1 {
		return 0, io.EOF
	}
	return copy(p, o.text), nil
}

func TestStreamsThatCantBeReadAreNotHeldBack(t *testing.T) {
	for name, c := range map[string]struct{ text, encoding string }{
		"with other line ends": {"data: {\"choices\":[]}\r\rdata: x\r\r", ""},
		"compressed":           {"\x1f\x8b\x08 and so on", "gzip"},
	} {
		body := &once{text: c.text}
		base := scripted(ok, "text/event-stream", "", body)
		r := newRig(t, compact.Config{}, transport.Base(sender(func(q *http.Request) (*http.Response, error) {
			resp, err := base.RoundTrip(q)
			resp.Header.Set("Content-Encoding", c.encoding)
			return resp, err
		})))
		resp, err := r.client.Do(r.request(context.Background(), streamed.path, streamed.body("go", 1, 10)))
		if err != nil {
			t.Fatal(err)
		}
		got := make([]byte, len(c.text))
		if n, err := io.ReadFull(resp.Body, got); err != nil || string(got) != c.text || body.asked != 1 {
			t.Errorf("%s: %q, %v, after %d reads of the provider's stream", name, got[:n], err, body.asked)
		}
		_ = resp.Body.Close()
	}
}

// A window that the provider named can belong to another model of the same name, and
// a conversation can outgrow it. Then the model's own window counts.
func TestLearnedWindowDoesNotStopASession(t *testing.T) {
	said := `{"error":{"code":"context_length_exceeded","message":"This model's maximum context length is 8000 tokens. However, your messages resulted in 20000 tokens."}}`
	status := func(n int) int { return []int{http.StatusBadRequest, http.StatusOK, http.StatusOK}[n] }
	var sent []int
	refused := unclosed(said)
	base := scripted(status, "application/json", "", refused, strings.NewReader("{}"), strings.NewReader("{}"))
	r := newRig(t, compact.Config{MaxContextTokens: 64_000}, transport.Base(sender(func(q *http.Request) (*http.Response, error) {
		sent = append(sent, int(q.ContentLength))
		return base.RoundTrip(q)
	})))
	f := form{wire: provider.Chat, path: "/v1/chat/completions", fields: `"model":"gpt-4o"`}
	if code, answer := r.post(f, f.body("go", 60, 300)); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	if !refused.closed {
		t.Error("the answer that was given up was not closed")
	}
	ask := `{"role":"user","content":"` + strings.Repeat("word ", 12_000) + `"}`
	body := strings.TrimSuffix(f.body("go", 300, 300), "]}") + "," + ask + "]}"
	if code, answer := r.post(f, body); code != http.StatusOK {
		t.Fatal(code, answer)
	}
	r.quiet()
	if len(sent) != 3 || sent[2] > len(body)*3/4 || sent[2] < len(ask) {
		t.Errorf("%d bytes came in, the request was sent: %v", len(body), sent)
	}
}

func TestGatewayKeysDistinguishTenants(t *testing.T) {
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
		t.Error("a value that changes with each request names a session")
	}
}
