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
)

// A history with reasoning that Recall has marked, by path.
var marked = map[string]string{
	"/v1/messages": `{"model":"m","max_tokens":9, "messages":[{"role":"user","content":"hi"},
{"role":"assistant","content":[{"type":"thinking","thinking":"Hm.","signature":"compact:recalled"},{"type":"text","text":"Ho."}]},
{"role":"user","content":"and?"}]}`,
	"/v1/responses": `{"model":"m", "store":false,"input":[{"role":"user","content":"hi"},
{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"compact:recalled"},
{"type":"message","role":"assistant","content":[{"type":"output_text","text":"Ho."}]},{"role":"user","content":"and?"}]}`,
}

// strictTap is a provider that refuses requests with a text chosen by the test.
type strictTap struct {
	refuses func(body string) (status int, err error)
	bodies  []string
	heads   []http.Header
}

func (s *strictTap) RoundTrip(req *http.Request) (*http.Response, error) {
	body, err := io.ReadAll(req.Body)
	if err != nil {
		return nil, err
	}
	s.bodies, s.heads = append(s.bodies, string(body)), append(s.heads, req.Header.Clone())
	status, err := s.refuses(string(body))
	if err != nil {
		return nil, err
	}
	h := http.Header{"Content-Type": {"application/json"}}
	return &http.Response{StatusCode: status, Header: h, Body: io.NopCloser(strings.NewReader(`{"status":"` + http.StatusText(status) + `"}`)), Request: req}, nil
}

func observedBy(t *testing.T, tap *strictTap, path, coding, body string) (status int, answer string) {
	t.Helper()
	m, err := compact.New(t.Context(), compact.Config{Model: "gpt-4o"})
	if err != nil {
		t.Fatal(err)
	}
	rt := transport.New(m, transport.Base(tap), transport.Observe(), transport.OnError(func(context.Context, error) {}))
	defer func() {
		if err := errors.Join(rt.Settle(context.Background()), m.Close(context.Background())); err != nil {
			t.Error(err)
		}
	}()
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "https://example.test"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Content-Type", "application/json")
	if coding != "" {
		req.Header.Set("Content-Encoding", coding)
	}
	resp, err := rt.RoundTrip(req)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	b, err := io.ReadAll(resp.Body)
	if err != nil {
		t.Fatal(err)
	}
	return resp.StatusCode, string(b)
}

// refusesMarks refuses a body that has a mark, compressed or not.
func refusesMarks(body string) (int, error) {
	if strings.Contains(body, "compact:recalled") || strings.HasPrefix(body, "\x1f\x8b") {
		return http.StatusBadRequest, nil
	}
	return http.StatusOK, nil
}

// A session that recalled continues under Observe. Its request is sent unchanged. If
// the provider refuses it because of a recall mark, it is sent once more without the
// marks.
func TestObservedMarksAreRemovedOnlyIfTheyAreRefused(t *testing.T) {
	for path, body := range marked {
		for coding, sent := range map[string]string{"": body, "gzip": zipped(t, body)} {
			tap := &strictTap{refuses: refusesMarks}
			status, answer := observedBy(t, tap, path, coding, sent)
			if status != http.StatusOK || answer != `{"status":"OK"}` || len(tap.bodies) != 2 {
				t.Fatalf("%s %s: %d %s after %d requests, want %d, %s and 2", path, coding, status, answer, len(tap.bodies), http.StatusOK, `{"status":"OK"}`)
			}
			second := tap.bodies[1]
			if tap.bodies[0] != sent || strings.Contains(second, "Hm.") || !strings.Contains(second, "Ho.") || !strings.Contains(second, `"and?"`) || tap.heads[1].Get("Content-Encoding") != "" {
				t.Errorf("%s %s: %q, then %q, %v; want %q, text without %q, text with %q and text with %q", path, coding, tap.bodies[0], second, tap.heads[1], sent, "Hm.", "Ho.", `"and?"`)
			}
		}
		took := &strictTap{refuses: func(string) (int, error) { return http.StatusOK, nil }}
		if status, _ := observedBy(t, took, path, "", body); status != http.StatusOK || len(took.bodies) != 1 || took.bodies[0] != body {
			t.Errorf("%s: the accepted request was sent %d times", path, len(took.bodies))
		}
	}
}

// Other refusals, and refusals of requests that can't be sent again, reach the caller
// unchanged.
func TestOtherObservedRefusalsAreReturned(t *testing.T) {
	const path = "/v1/messages"
	always := func(status int) func(string) (int, error) { return func(string) (int, error) { return status, nil } }
	first := true
	for name, c := range map[string]struct {
		body     string
		refuses  func(string) (int, error)
		status   int
		requests int
	}{
		"no mark":                        {strings.ReplaceAll(marked[path], "compact:recalled", "c2ln"), always(400), 400, 1},
		"the mark in a text of the user": {strings.ReplaceAll(strings.ReplaceAll(marked[path], "compact:recalled", "c2ln"), "and?", "compact:recalled"), always(400), 400, 1},
		"no key":                         {marked[path], always(401), 401, 1},
		"overloaded":                     {marked[path], always(529), 529, 1},
		"broken off": {marked[path], func(string) (int, error) {
			if first {
				first = false
				return 400, nil
			}
			return 0, errors.New("gone")
		}, 400, 2},
		"not JSON": {"compact:recalled", always(400), 400, 1},
	} {
		tap := &strictTap{refuses: c.refuses}
		if status, _ := observedBy(t, tap, path, "", c.body); status != c.status || len(tap.bodies) != c.requests {
			t.Errorf("%s: %d after %d requests, want %d and %d", name, status, len(tap.bodies), c.status, c.requests)
		}
	}
}
