package transport_test

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
)

// countPaths are the paths of the wires for counting the tokens of a request.
var countPaths = map[string]string{
	"anthropic": "/v1/messages/count_tokens?beta=true", "responses": "/v1/responses/input_tokens", "gemini": "/v1beta/models/gemini-2.5-pro:countTokens",
}

// The count equals the count of the next call's prompt, before and after the
// compaction, and counting itself compacts nothing.
func TestCountRequestsCountTheView(t *testing.T) {
	for _, f := range forms() {
		path := countPaths[string(f.wire)]
		if path == "" || f.stream {
			continue
		}
		r := newRig(t, compact.Config{}, transport.Counts(), transport.Recall())
		r.server.Lenient = true
		for _, rounds := range []int{3, 60, 61} {
			body := f.body("Fix it.", rounds, 300)
			steps := r.steps()
			for range 2 {
				r.do(r.request(transport.WithSession(context.Background(), "s"), path, body))
			}
			if got := r.steps(); got != steps {
				t.Errorf("%v, %d rounds: counting made %d compactions", f, rounds, got-steps)
			}
			counted := r.got()
			if counted[len(counted)-2] != counted[len(counted)-1] {
				t.Errorf("%v, %d rounds: counted twice, asked about two bodies", f, rounds)
			}
			r.post(f, body)
			if sent := r.got(); sent[len(sent)-1] != counted[len(counted)-1] {
				t.Errorf("%v, %d rounds: %d bytes were counted, %d sent", f, rounds, len(counted[len(counted)-1]), len(sent[len(sent)-1]))
			}
		}
		if r.steps() == 0 {
			t.Errorf("%v: nothing was compacted", f)
		}
		r.quiet()
	}
}

func TestCountRequestsCountAWrappedRequest(t *testing.T) {
	f := forms()[6]
	for _, name := range []string{"generateContentRequest", "generate_content_request"} {
		r := newRig(t, compact.Config{}, transport.Counts())
		body := f.body("Fix it.", 60, 300)
		r.do(r.request(transport.WithSession(context.Background(), "s"), countPaths["gemini"], `{"`+name+`": `+body+` , "x":1}`))
		r.post(f, body)
		got := r.got()
		if want := `{"` + name + `": ` + got[1] + ` , "x":1}`; got[0] != want || len(want) >= len(body) {
			t.Errorf("%s: %d of %d bytes were counted, %d sent", name, len(got[0]), len(body), len(got[1]))
		}
	}
}

// A request that can't be read or can't be made small enough is counted unchanged.
func TestARequestThatCannotBeCompactedIsCountedUnchanged(t *testing.T) {
	f := forms()[4]
	for name, body := range map[string]string{"no JSON": "{", "an empty object": "{}", "no object": " [1]", "a string": `"x"`, "too large": f.body(strings.Repeat("word ", 30_000), 2, 10)} {
		r := newRig(t, compact.Config{}, transport.Counts())
		if status, answer := r.do(r.request(context.Background(), countPaths["anthropic"], body)); status != http.StatusOK || r.got()[0] != body {
			t.Errorf("%s: %d %s, want %d", name, status, answer, http.StatusOK)
		}
		strict := newRig(t, compact.Config{}, transport.Counts(), transport.Strict())
		resp, err := strict.client.Do(strict.request(context.Background(), countPaths["anthropic"], body))
		if err != nil {
			t.Fatal(err)
		}
		_ = resp.Body.Close()
		if failed := resp.StatusCode != http.StatusOK; failed != (len(r.errs) > 0) {
			t.Errorf("%s: strict returned %s, and %d errors were reported", name, resp.Status, len(r.errs))
		}
	}
}

func TestObservedCountsAreSentUnchanged(t *testing.T) {
	f := forms()[4]
	r := newRig(t, compact.Config{}, transport.Counts(), transport.Observe())
	body := f.body("Fix it.", 60, 300)
	r.do(r.request(context.Background(), countPaths["anthropic"], body))
	if r.got()[0] != body {
		t.Error("a different body was sent")
	}
}
