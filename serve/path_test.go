package serve_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/serve"
)

// echo answers with its request.
func echo(t *testing.T) string {
	up := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		w.Header().Set("X-Seen", r.Method+" "+r.RequestURI)
		w.Header().Set("X-Seen-Host", r.Host)
		for k, v := range r.Header {
			w.Header()["X-Got-"+k] = v
		}
		_, _ = w.Write(body)
	}))
	t.Cleanup(up.Close)
	return up.URL
}

func TestPathsGoToTheUpstreamOfTheirProvider(t *testing.T) {
	up := echo(t)
	r := newRigTo(t, "", compact.Config{}, serve.Config{Upstreams: map[string]string{
		"openai": up + "/o/v1", "anthropic": up + "/a/", "gemini": up, "azure": up + "/openai?api-version=2", "groq": up + "/q/openai",
	}})
	for path, want := range map[string]string{
		"/openai/v1/models":             "/o/v1/models",
		"/openai/v1":                    "/o/v1",
		"/openai/v1x/models":            "/o/v1/v1x/models",
		"/openai/models?a=b;c&d=%zz":    "/o/v1/models?a=b;c&d=%zz",
		"/openai":                       "/o/v1/",
		"/v1/models":                    "/o/v1/models",
		"/v1/files/a%2Fb%20c/content":   "/o/v1/files/a%2Fb%20c/content",
		"/v1/models/ft:gpt-4o:me::1":    "/o/v1/models/ft:gpt-4o:me::1",
		"/responses":                    "/o/v1/responses",
		"/anthropic/v1/messages":        "/a/v1/messages",
		"/anthropic//x":                 "/a//x",
		"/v1/messages/batches/b":        "/a/v1/messages/batches/b",
		"/v1/complete":                  "/a/v1/complete",
		"/gemini/v1beta/models":         "/v1beta/models",
		"/gemini//evil.test/v1":         "//evil.test/v1",
		"/v1beta/models/g:embedContent": "/v1beta/models/g:embedContent",
		"/v1/models/gemini-2.5-pro:streamGenerateContent": "/v1/models/gemini-2.5-pro:streamGenerateContent",
		"/upload/v1beta/files":                            "/upload/v1beta/files",
		"/azure/deployments/d/embeddings?x=1":             "/openai/deployments/d/embeddings?api-version=2&x=1",
		"/groq/v1/models":                                 "/q/openai/v1/models",
	} {
		resp, _ := r.do(r.request("GET", path, ""))
		if got := resp.Header.Get("X-Seen"); got != "GET "+want || resp.Header.Get("X-Seen-Host") != strings.TrimPrefix(up, "http://") {
			t.Errorf("%s: %s, %s at %q", path, resp.Status, got, resp.Header.Get("X-Seen-Host"))
		}
	}
}

// No request, with any content, reaches a server other than the configured ones.
func TestNoRequestChoosesAnUpstream(t *testing.T) {
	evil := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { t.Error("another upstream was asked") }))
	defer evil.Close()
	at := strings.TrimPrefix(evil.URL, "http://")
	r := newRigTo(t, echo(t)+"/base", compact.Config{}, serve.Config{})
	for _, line := range []string{
		"GET %s/openai/v1/models HTTP/1.1", "GET /openai//HOST/v1/models HTTP/1.1", "GET //HOST/openai/v1 HTTP/1.1",
		"GET /openai/@HOST/v1 HTTP/1.1", "GET /openai/http://HOST/v1 HTTP/1.1", "CONNECT HOST HTTP/1.1", "GET /openai/../HOST HTTP/1.1",
		"GET /openai/%%2e%%2e/x HTTP/1.1", "GET /openai/a%%2f..%%2f..%%2fx HTTP/1.1", "OPTIONS * HTTP/1.1", "GET /HOST/v1/models HTTP/1.1",
	} {
		if strings.Contains(line, "%") {
			line = fmt.Sprintf(line, evil.URL)
			line, _, _ = strings.Cut(line, "%!(EXTRA")
		}
		line = strings.ReplaceAll(line, "HOST", at)
		c, err := net.Dial("tcp", strings.TrimPrefix(r.url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(c, line+"\r\nHost: "+at+"\r\nForwarded: host="+at+"\r\nX-Forwarded-Host: "+at+"\r\nX-Upstream: "+evil.URL+"\r\nX-Compact-Upstream: "+evil.URL+"\r\nConnection: close\r\n\r\n")
		resp, err := http.ReadResponse(bufio.NewReader(c), nil)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		if seen := resp.Header.Get("X-Seen"); seen != "" && !strings.Contains(seen, " /base/") || seen == "" && resp.StatusCode < 400 {
			t.Errorf("%s: %s, %s", line, resp.Status, seen)
		}
		if up := strings.Contains(line, "..") || strings.Contains(line, "%2e"); up != (resp.StatusCode == http.StatusBadRequest) {
			t.Errorf("%s: %s", line, resp.Status)
		}
		_ = c.Close()
	}
}

func TestKeysReachOnlyTheirUpstream(t *testing.T) {
	r := newRigTo(t, echo(t), compact.Config{}, serve.Config{})
	for _, c := range []struct {
		path, header string
		status       int
	}{
		{"/v1/models", "X-Api-Key", 404}, {"/v1/models", "Anthropic-Version", 404}, {"/v1/models", "X-Goog-Api-Key", 404}, {"/v1/models", "Authorization", 200},
		{"/v1/messages", "X-Api-Key", 200}, {"/v1/messages", "X-Goog-Api-Key", 404}, {"/v1beta/models", "X-Api-Key", 404}, {"/v1beta/models", "X-Goog-Api-Key", 200},
		{"/openai/v1/models", "X-Api-Key", 200}, {"/nothing", "Authorization", 404}, {"/", "Authorization", 200},
		{"/v1/models?key=AIza-1", "X-Other", 404}, {"/v1beta/models?key=AIza-1", "X-Other", 200}, {"/openai/v1/models?key=1", "X-Other", 200},
	} {
		if resp, answer := r.do(r.request("GET", c.path, "", c.header, "key-1")); resp.StatusCode != c.status || c.status != 200 && resp.Header.Get("X-Compact-Error") == "" {
			t.Errorf("%s with %s: %s %s", c.path, c.header, resp.Status, answer)
		}
	}
}

func TestInvalidUpstreamsAreMistakes(t *testing.T) {
	m, err := compact.New(t.Context(), compact.Config{})
	if err != nil {
		t.Fatal(err)
	}
	for name, url := range map[string]string{
		"openai": "127.0.0.1:8000", "anthropic": "ftp://x", "gemini": "https://user:secret-1@host", "Upper": "http://x", "metrics": "http://x", "v1": "http://x", "x": "http://host/#f", "no-port": "http://host:/v1", "no-host": "http://:8000", "y": "http://h:secret-1/",
	} {
		_, err := serve.New(m, serve.Config{Upstreams: map[string]string{name: url}})
		if err == nil || !strings.Contains(err.Error(), `"`+name+`"`) || strings.Contains(err.Error(), "secret-1") {
			t.Errorf("%s=%s: %v", name, url, err)
		}
	}
	if _, err := serve.New(nil, serve.Config{}); err == nil {
		t.Error("New without a manager returns no error")
	}
}
