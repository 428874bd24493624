package transport_test

import (
	"context"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
)

// losing is a connection that is lost in the middle of a body, so that the request is
// sent again.
type losing struct {
	again string
	req   *http.Request
}

func (l *losing) RoundTrip(req *http.Request) (*http.Response, error) {
	l.req = req
	if _, err := io.ReadFull(req.Body, make([]byte, 10)); err != nil {
		return nil, err
	}
	_ = req.Body.Close()
	body, err := req.GetBody()
	if err != nil {
		return nil, err
	}
	again, err := io.ReadAll(body)
	l.again = string(again)
	return &http.Response{
		StatusCode: 200, Header: http.Header{"Content-Type": {"application/json"}, "X-Request-Id": {"r1"}},
		Body: io.NopCloser(strings.NewReader(longAnswer)), Request: req,
	}, err
}

var longAnswer = `{"choices":[{"message":{"role":"assistant","content":"` + strings.Repeat("said ", 500) + `"}}],"usage":{"prompt_tokens":9}}` + "\n\n"

// The other parts of an observed request, its retries and its answers are also the same
// as without the transport.
func TestObservedRequestDiffersInNothingElse(t *testing.T) {
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4o", MaxContextTokens: 16_000, Observe: true})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(context.Background()) }()
	for _, f := range forms() {
		body := spaced(f.body("Fix it.", 60, 400))
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.test"+f.path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header = http.Header{
			"Content-Type": {"application/json"}, "Authorization": {"Bearer k"}, "User-Agent": {"agent/1"}, "Accept-Encoding": {"gzip"}, "X-Stainless-Lang": {"go"},
			"Anthropic-Beta": {"a", "b"}, "x-lower": {"kept"},
		}
		heads, base, observed := req.Header.Clone(), &losing{}, 0
		tr := transport.New(m, transport.Base(base), transport.OnResult(func(context.Context, *compact.Result) { observed++ }))
		resp, err := tr.RoundTrip(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if err != nil || string(answer) != longAnswer || resp.Header.Get("X-Request-Id") != "r1" {
			t.Errorf("%v: %d bytes of %d came back, %v", f, len(answer), len(longAnswer), err)
		}
		if err := tr.Settle(t.Context()); err != nil || observed != 1 { // of the body that was read to its end
			t.Errorf("%v: sent once more, it is observed %d times, %v; want 1 and no error", f, observed, err)
		}
		if base.again != body {
			t.Errorf("%v: sent once more, %d bytes of %d sent", f, len(base.again), len(body))
		}
		if base.req.ContentLength != int64(len(body)) || base.req.Method != req.Method || base.req.URL.String() != req.URL.String() || base.req.Host != req.Host {
			t.Errorf("%v: %d bytes are announced for %s %s, want %s", f, base.req.ContentLength, base.req.Method, base.req.URL, req.Method)
		}
		if len(base.req.Header) != len(heads) {
			t.Errorf("%v: the headers are %v", f, base.req.Header)
		}
		for name, want := range heads {
			if !slices.Equal(base.req.Header[name], want) {
				t.Errorf("%v: the header %s is %q, want %q", f, name, base.req.Header[name], want)
			}
		}
	}
}
