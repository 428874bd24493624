package serve_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// For requests that are not model calls, and for the headers of model calls,
// only the fields of this module are removed, and nothing is added.
func TestOtherRequestsPassUnchanged(t *testing.T) {
	r := newRigTo(t, echo(t), compact.Config{}, serve.Config{})
	for _, c := range []struct{ method, path, kind, body string }{
		{"POST", "/openai/v1/embeddings", "application/json", ` { "input" : "x" } `}, {"POST", "/v1/files", "multipart/form-data; boundary=b", "--b\r\n\r\n\x00\xff\r\n--b--"},
		{"PUT", "/openai/v1/chat/completions", "application/json", "{}"}, {"DELETE", "/v1/files/f", "", ""}, {"GET", "/anthropic/v1/models?limit=2", "", ""},
		{"PATCH", "/gemini/v1beta/cachedContents/c", "application/json", "{}"}, {"POST", "/openai/v1/threads/t/messages", "application/json", `{"role":"user","content":"x"}`},
		{"POST", "/anthropic/v1/messages/batches", "application/json", `{"requests":[]}`}, {"OPTIONS", "/openai/v1/x", "", ""}, {"POST", "/anthropic/unknown", "text/x", strings.Repeat("x", 200_000)},
	} {
		req := r.request(c.method, c.path, c.body, "Authorization", "Bearer k", "X-Other", "o", "X-Compact-Session", "s", "X-Forwarded-For", "10.0.0.1", "Forwarded", "for=x", "Accept-Encoding", "br", "User-Agent", "agent/1")
		if c.kind != "" {
			req.Header.Set("Content-Type", c.kind)
		}
		resp, answer := r.do(req)
		if answer != c.body || !strings.HasPrefix(resp.Header.Get("X-Seen"), c.method+" ") {
			t.Errorf("%s %s: %d bytes arrived as %s", c.method, c.path, len(answer), resp.Header.Get("X-Seen"))
		}
		want := req.Header.Clone()
		want.Del("X-Compact-Session")
		for k := range want {
			if resp.Header.Get("X-Got-"+k) != want.Get(k) {
				t.Errorf("%s %s: %s is %q", c.method, c.path, k, resp.Header.Get("X-Got-"+k))
			}
		}
		for k := range resp.Header {
			if k, ok := strings.CutPrefix(k, "X-Got-"); ok && want[k] == nil && k != "Content-Length" {
				t.Errorf("%s %s: %s was added", c.method, c.path, k)
			}
		}
	}
	req := r.request("GET", "/openai/v1/models", "")
	req.Header["User-Agent"] = nil
	if resp, _ := r.do(req); resp.Header["X-Got-User-Agent"] != nil || resp.Header["X-Got-Accept-Encoding"] != nil {
		t.Errorf("headers were added: %v", resp.Header)
	}
}

func TestHeadersOfAnswersAreReturned(t *testing.T) {
	up := upstream(t, func(w http.ResponseWriter, _ *http.Request) {
		w.Header()["Set-Cookie"] = []string{"a=1", "b=2"}
		w.Header().Set("Location", "https://elsewhere.test/x")
		w.Header().Set("Content-Encoding", "br")
		w.WriteHeader(http.StatusTemporaryRedirect)
		_, _ = w.Write([]byte("\x0b\x00"))
	})
	r := newRigTo(t, up, compact.Config{}, serve.Config{})
	r.client.CheckRedirect = func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse }
	resp, answer := r.do(r.request("GET", "/openai/v1/x", ""))
	if resp.StatusCode != 307 || len(resp.Header["Set-Cookie"]) != 2 || resp.Header.Get("Location") != "https://elsewhere.test/x" || resp.Header.Get("Content-Encoding") != "br" || answer != "\x0b\x00" {
		t.Errorf("%s %v %q", resp.Status, resp.Header, answer)
	}
}

// A request for the provider's own compaction is sent whole, with any size.
func TestHistoryCompactedByTheProviderIsSentWhole(t *testing.T) {
	r := newRigTo(t, echo(t), compact.Config{}, serve.Config{})
	for _, f := range forms() {
		if !strings.HasSuffix(f.path, "/responses") || f.stream {
			continue
		}
		body := f.body("hi", 60, 300)
		for _, path := range []string{"/openai/v1/responses/compact", "/v1/responses/compact"} {
			resp, answer := r.do(r.request("POST", path, body, "X-Compact-Session", "s"))
			if answer != body || resp.Header.Get("X-Got-X-Compact-Session") != "" {
				t.Errorf("%s: %d of %d bytes arrived", path, len(answer), len(body))
			}
		}
		if r.steps() != 0 {
			t.Error("the request was compacted here, too")
		}
		return
	}
	t.Fatal("the shorthand form needs Responses")
}
