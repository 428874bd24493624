package transport_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/message/openai"
)

// long returns a chat request that would be compacted, with more fields.
func long(fields string) string {
	return strings.Replace(forms()[0].body("Fix it.", 60, 300), "{", "{"+fields, 1)
}

func TestOtherRequestsAreUntouched(t *testing.T) {
	chat, anthropic, responses := long(""), forms()[4].body("Fix it.", 60, 300), forms()[2].body("Fix it.", 60, 300)
	with := func(body, field string) string { return strings.Replace(body, "{", "{"+field+",", 1) }
	for name, c := range map[string]struct {
		method, path, body string
		header             map[string]string
		ctx                context.Context
	}{
		"get":                    {method: "GET", path: "/v1/chat/completions", body: chat},
		"put":                    {method: "PUT", path: "/v1/chat/completions", body: chat},
		"embeddings":             {path: "/v1/embeddings", body: chat},
		"a path that goes on":    {path: "/v1/chat/completions/123", body: chat},
		"batches":                {path: "/v1/messages/batches", body: anthropic},
		"count_tokens":           {path: "/v1/messages/count_tokens", body: anthropic},
		"compact":                {path: "/v1/responses/compact", body: responses},
		"threads":                {path: "/v1/threads/thread_1/messages", body: anthropic},
		"gemini count":           {path: "/v1beta/models/gemini-2.5-pro:countTokens", body: forms()[6].body("x", 60, 300)},
		"text":                   {path: "/v1/chat/completions", body: chat, header: map[string]string{"Content-Type": "text/plain"}},
		"no type":                {path: "/v1/chat/completions", body: chat, header: map[string]string{"Content-Type": ""}},
		"compressed":             {path: "/v1/chat/completions", body: chat, header: map[string]string{"Content-Encoding": "zstd"}},
		"signed for AWS":         {path: "/v1/messages", body: anthropic, header: map[string]string{"Authorization": "AWS4-HMAC-SHA256 Credential=x"}},
		"with a digest":          {path: "/v1/messages", body: anthropic, header: map[string]string{"Content-Digest": "sha-256=:x:"}},
		"with an older digest":   {path: "/v1/messages", body: anthropic, header: map[string]string{"Digest": "sha-256=x"}},
		"with its MD5":           {path: "/v1/messages", body: anthropic, header: map[string]string{"Content-MD5": "x"}},
		"signed":                 {path: "/v1/messages", body: anthropic, header: map[string]string{"Signature": "sig=:x:"}},
		"hashed for AWS":         {path: "/v1/messages", body: anthropic, header: map[string]string{"X-Amz-Content-Sha256": "x"}},
		"empty":                  {path: "/v1/chat/completions", body: ""},
		"previous_response_id":   {path: "/v1/responses", body: with(responses, `"previous_response_id":"resp_1"`)},
		"conversation":           {path: "/v1/responses", body: with(responses, `"conversation":"conv_1"`)},
		"conversation as object": {path: "/v1/responses", body: with(responses, `"conversation":{"id":"conv_1"}`)},
		"compaction":             {path: "/v1/responses", body: with(responses, `"context_management":[{"type":"compaction","compact_threshold":1000}]`)},
		"context_management":     {path: "/v1/messages", body: with(anthropic, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"input_tokens","value":10000}}]}`)},
		"clearing by calls":      {path: "/v1/messages", body: with(anthropic, `"context_management":{"edits":[{"type":"clear_tool_uses_20250919","trigger":{"type":"tool_uses","value":50}}]}`)},
		"bypass":                 {path: "/v1/chat/completions", body: chat, ctx: transport.Bypass(context.Background())},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRig(t, compact.Config{}, transport.Strict())
			r.server.Lenient = true
			if c.ctx == nil {
				c.ctx = context.Background()
			}
			req := r.request(c.ctx, c.path, c.body)
			if c.method != "" {
				req.Method = c.method
			}
			for k, v := range c.header {
				req.Header.Set(k, v)
			}
			req.Header.Set("X-Compact-Session", "s")
			req.Header.Set("X-Other", "kept")
			r.do(req)
			log := r.server.Requests()
			if len(log) != 1 || string(log[0].Body) != c.body || log[0].Path != c.path {
				t.Fatalf("%d requests, %s with %d bytes; want %s with %d", len(log), log[0].Path, len(log[0].Body), c.path, len(c.body))
			}
			if log[0].Header.Get("X-Compact-Session") != "" || log[0].Header.Get("X-Other") != "kept" {
				t.Errorf("headers: %v", log[0].Header)
			}
			if len(r.results) != 0 {
				t.Error("it was compared with the budget")
			}
		})
	}
}

func TestBodiesAboveTheLimitGoOutUnread(t *testing.T) {
	f, body := forms()[0], long("")
	for _, chunked := range []bool{false, true} {
		r := newRig(t, compact.Config{}, transport.MaxBody(10_000))
		req := r.request(context.Background(), f.path, body)
		req.Header.Set("X-Compact-Agent", "a")
		if chunked {
			req.ContentLength, req.Body, req.GetBody = -1, io.NopCloser(io.MultiReader(strings.NewReader(body[:7]), strings.NewReader(body[7:]))), nil
		}
		if status, answer := r.do(req); status != http.StatusOK {
			t.Errorf("%d %s, want %d", status, answer, http.StatusOK)
		}
		if log := r.server.Requests(); string(log[0].Body) != body || log[0].Header.Get("X-Compact-Agent") != "" {
			t.Errorf("chunked %v: the received body differs, or the header was sent", chunked)
		}
		if len(r.errs) != 1 || !errors.Is(r.errs[0], transport.ErrTooLarge) {
			t.Errorf("chunked %v: reported %v", chunked, r.errs)
		}

		strict := newRig(t, compact.Config{}, transport.MaxBody(10_000), transport.Strict())
		c := unclosed(body)
		req = strict.request(context.Background(), f.path, "")
		req.Body, req.ContentLength = c, int64(len(body))
		if chunked {
			req.ContentLength = -1
		}
		resp, err := strict.client.Do(req)
		if err := refusedBy(t, resp, err); !errors.Is(err, transport.ErrTooLarge) || resp.StatusCode != http.StatusRequestEntityTooLarge || !c.closed {
			t.Errorf("chunked %v, strict: %v, %s, closed %v; want ErrTooLarge and true", chunked, err, resp.Status, c.closed)
		}
		if n := len(strict.got()); n != 0 {
			t.Errorf("%d requests, want 0", n)
		}
	}
}

func TestChunkedBodiesAreCompacted(t *testing.T) {
	f, body := forms()[0], long("")
	r := newRig(t, compact.Config{}, transport.MaxBody(int64(len(body)))) // no byte above it
	req := r.request(context.Background(), f.path, "")
	req.ContentLength, req.Body, req.GetBody = -1, io.NopCloser(io.MultiReader(strings.NewReader(body[:7]), strings.NewReader(body[7:]))), nil
	req.TransferEncoding = []string{"chunked"}
	if status, answer := r.do(req); status != http.StatusOK || len(r.got()[0]) > len(body)/2 {
		t.Errorf("%d %s, %d bytes, want %d", status, answer, len(r.got()[0]), http.StatusOK)
	}
}

// sent is a base that records the received request.
type sent struct {
	req  *http.Request
	body string
}

func (s *sent) RoundTrip(req *http.Request) (*http.Response, error) {
	b, err := io.ReadAll(req.Body)
	s.req, s.body = req, string(b)
	return &http.Response{StatusCode: http.StatusNoContent, Header: http.Header{}, Body: http.NoBody, Request: req}, err
}

func TestTheCallersRequestIsNotModified(t *testing.T) {
	r := newRig(t, compact.Config{})
	base := &sent{}
	body, c := long(""), unclosed(long(""))
	req := r.request(context.Background(), "/v1/chat/completions", body)
	req.Body = c
	req.Header.Set("X-Compact-Session", "s")
	req.Header.Set("Content-Length", "12")
	before := req.Clone(req.Context())
	if _, err := transport.New(r.m, transport.Base(base)).RoundTrip(req); err != nil {
		t.Fatal(err)
	}
	if req.Body != c || !c.closed || req.ContentLength != before.ContentLength || len(req.Header) != len(before.Header) || req.Header.Get("X-Compact-Session") != "s" {
		t.Errorf("the request is now %+v, closed %v", req, c.closed)
	}
	if int64(len(base.body)) != base.req.ContentLength || base.req.Header.Get("Content-Length") == "12" || base.req.Header.Get("X-Compact-Session") != "" {
		t.Errorf("sent %d bytes, said %d, %v", len(base.body), base.req.ContentLength, base.req.Header)
	}
	again, err := base.req.GetBody()
	if err != nil {
		t.Fatal(err)
	}
	if b, err := io.ReadAll(again); err != nil || string(b) != base.body {
		t.Errorf("GetBody gives %d bytes, %v", len(b), err)
	}
}

func TestABodyWithAWrongLengthFailsTheCall(t *testing.T) {
	bad := errors.New("disk gone")
	for name, c := range map[string]struct {
		body   io.Reader
		length int64
		want   error
	}{
		"too short":       {strings.NewReader("{}"), 10, io.ErrUnexpectedEOF},
		"empty":           {strings.NewReader(""), 10, io.ErrUnexpectedEOF},
		"too long":        {strings.NewReader("{}{}"), 2, nil},
		"an error":        {io.MultiReader(strings.NewReader("{"), failing{bad}), 10, bad},
		"an error at end": {io.MultiReader(strings.NewReader("{}"), failing{bad}), 2, bad},
		"chunked":         {io.MultiReader(strings.NewReader("{"), failing{bad}), -1, bad},
	} {
		r := newRig(t, compact.Config{})
		body := &closer{Reader: c.body}
		req := r.request(context.Background(), "/v1/chat/completions", "")
		req.Body, req.ContentLength = body, c.length
		_, err := r.client.Do(req)
		known := (*transport.Error)(nil)
		if !errors.As(err, &known) || known.Op != "read" || c.want != nil && !errors.Is(err, c.want) || !body.closed {
			t.Errorf("%s: %v, closed %v, want true", name, err, body.closed)
		}
		if n := len(r.got()); n != 0 {
			t.Errorf("%s: %d requests, want 0", name, n)
		}
	}
}

type failing struct{ err error }

func (f failing) Read([]byte) (int, error) { return 0, f.err }

func TestCloseIdleConnectionsReachesTheBase(t *testing.T) {
	r := newRig(t, compact.Config{})
	base := &idle{}
	(&http.Client{Transport: transport.New(r.m, transport.Base(base))}).CloseIdleConnections()
	if !base.closed {
		t.Error("the base did not close its idle connections")
	}
}

type idle struct {
	http.RoundTripper
	closed bool
}

func (i *idle) CloseIdleConnections() { i.closed = true }

func TestModelComesFromTheRequest(t *testing.T) {
	chat, gemini := forms()[0], forms()[6]
	for _, c := range []struct {
		path, body, want string
		opts             []transport.Option
	}{
		{chat.path, chat.body("x", 1, 1), "gpt-4o", nil},
		{gemini.path, gemini.body("x", 1, 1), "gemini-2.5-pro", nil},
		{chat.path, strings.Replace(chat.body("x", 1, 1), `"model":"gpt-4o",`, ``, 1), "gpt-4", nil},
		{"/openai/deployments/mine/chat/completions", strings.Replace(chat.body("x", 1, 1), `"model":"gpt-4o",`, ``, 1), "gpt-4.1",
			[]transport.Option{transport.Models(func(named string) string { return map[string]string{"mine": "gpt-4.1"}[named] })}},
		{chat.path, chat.body("x", 1, 1), "o3", []transport.Option{transport.Models(func(string) string { return "o3" })}},
	} {
		r := newRig(t, compact.Config{Model: "gpt-4"}, c.opts...)
		r.server.Lenient = true
		if status, answer := r.do(r.request(context.Background(), c.path, c.body)); status != http.StatusOK {
			t.Fatal(answer)
		}
		if r.last().Model != c.want {
			t.Errorf("%s: model %q, want %q", c.path, r.last().Model, c.want)
		}
		if r.got()[0] != c.body {
			t.Errorf("the body was changed")
		}
	}
}

func TestSchemasOfToolsAreCounted(t *testing.T) {
	r := newRig(t, compact.Config{})
	f := forms()[0]
	r.post(f, f.body("x", 1, 1))
	without := r.last().Before
	tools := `"tools":[{"type":"function","function":{"name":"read","description":"` + strings.Repeat("word ", 500) + `","parameters":{"type":"object"}}}],`
	r.do(r.request(transport.WithSession(context.Background(), "t"), f.path, strings.Replace(f.body("x", 1, 1), "{", "{"+tools, 1)))
	with := r.last().Before
	if with.ToolsSchema < 500 || with.Total-without.Total != with.ToolsSchema || with.System == 0 {
		t.Errorf("with tools %+v, without %+v", with, without)
	}
}

// Some clients add a slash to the path. Their calls are compacted, too.
func TestRouteAddsPaths(t *testing.T) {
	r := newRig(t, compact.Config{}, transport.Route("/my/llm", openai.Wire))
	r.server.Lenient = true
	for k, path := range []string{"/my/llm", "/my/llm/"} {
		r.do(r.request(context.Background(), path, long("")))
		if got := r.got(); len(got[k]) > len(long(""))/2 {
			t.Errorf("%s: %d bytes were sent", path, len(got[k]))
		}
	}
}

// A conversation of the Responses API is reported once, whichever form names it.
func TestBothFormsOfAConversationAreOneConversation(t *testing.T) {
	r := newRig(t, compact.Config{})
	r.server.Lenient = true
	for _, id := range []string{`"conv_1"`, `{"id":"conv_1"}`, `{ "id": "conv_1" }`, `"conv_2"`} {
		r.do(r.request(context.Background(), "/v1/responses", `{"model":"gpt-5","input":"Go on.","conversation":`+id+`}`))
	}
	if len(r.errs) != 2 {
		t.Errorf("%d reports of two conversations: %v, want 2", len(r.errs), r.errs)
	}
}
