package transport_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// The types of openai-go and anthropic-sdk-go, without an import of these modules.
type (
	middlewareNext = func(*http.Request) (*http.Response, error)
	middleware     = func(*http.Request, middlewareNext) (*http.Response, error)
)

var _ middleware = transport.Middleware(nil)

func TestModelCallsAreCompactedOnEachWire(t *testing.T) {
	for _, f := range forms() {
		t.Run(f.String(), func(t *testing.T) {
			r := newRig(t, compact.Config{})
			body := f.body("Fix it.", 60, 300)
			status, answer := r.post(f, body)
			if status != http.StatusOK || !strings.Contains(answer, "ok") {
				t.Fatalf("%d %s, want %d and text with %q", status, answer, http.StatusOK, "ok")
			}
			first := r.last()
			if !first.Triggered || first.After.Total >= first.Before.Total {
				t.Fatalf("triggered %v, %d to %d tokens, want true", first.Triggered, first.Before.Total, first.After.Total)
			}
			if status, _ = r.post(f, body); status != http.StatusOK {
				t.Fatal(status)
			}
			if again := r.last(); again.Triggered {
				t.Error("the same history was compacted a second time")
			}
			got := r.got()
			if len(got) != 2 || got[0] != got[1] {
				t.Errorf("%d requests; the bytes of the two are equal: %v", len(got), got[0] == got[1])
			}
			if len(got[0]) > len(body)*3/4 || !strings.Contains(got[0], `"unknown":123456789012345678901`) || !strings.Contains(got[0], "Fix it.") {
				t.Errorf("%d of %d bytes were sent: %.300s, want text with %q and text with %q", len(got[0]), len(body), got[0], `"unknown":123456789012345678901`, "Fix it.")
			}
			r.quiet()
		})
	}
}

func TestSmallRequestsGoOutByteForByte(t *testing.T) {
	for _, f := range forms() {
		r := newRig(t, compact.Config{})
		body := f.body("Fix it.", 3, 10)
		if status, answer := r.post(f, body); status != http.StatusOK {
			t.Errorf("%v: %d %s, want %d", f, status, answer, http.StatusOK)
		}
		if got := r.got(); got[0] != body {
			t.Errorf("%v: sent\n%s\nwant\n%s", f, got[0], body)
		}
		if r.last().Model == "" || r.last().Triggered {
			t.Errorf("%v: %+v, want a model and no compaction", f, r.last())
		}
		r.quiet()
	}
}

// The answer through a transport equals the answer without one.
func TestAnswersAreReturnedUnchanged(t *testing.T) {
	for _, f := range forms() {
		r := newRig(t, compact.Config{})
		r.server.Reply = func(provider.Request) provider.Answer {
			return provider.Answer{Reasoning: "hm", Text: "one two three", Calls: []provider.Call{{ID: "x", Name: "read", Args: `{"a":1}`}}, Cached: 3}
		}
		body := f.body("Fix it.", 1, 10)
		_, through := r.post(f, body)
		_, direct := r.read(http.DefaultClient.Do(r.request(context.Background(), f.path, body)))
		if norm(through) != norm(direct) {
			t.Errorf("%v: through the transport\n%s\nwithout\n%s", f, through, direct)
		}
	}
}

// norm removes the serial numbers that the server makes.
func norm(answer string) string {
	for _, id := range []string{"chatcmpl-", "resp_", "rs_", "msg_", "fc_", `"r`} {
		answer = strings.NewReplacer(id+"1", id+"N", id+"2", id+"N").Replace(answer)
	}
	for _, sig := range []string{`"signature":"`, `"thoughtSignature":"`, `"encrypted_content":"`} {
		parts := strings.Split(answer, sig)
		for i := 1; i < len(parts); i++ {
			_, parts[i], _ = strings.Cut(parts[i], `"`)
		}
		answer = strings.Join(parts, sig)
	}
	return answer
}

// An SDK sends the full body again at each attempt.
func TestRetriesOfOneRequestCostOneCompaction(t *testing.T) {
	for _, f := range forms() {
		r := newRig(t, compact.Config{})
		r.server.Fail(provider.Failure{Status: 500}, provider.Failure{Status: 529})
		body := f.body("Fix it.", 60, 300)
		var status int
		for attempts := 1; attempts <= 3; attempts++ {
			if status, _ = r.post(f, body); status == http.StatusOK {
				break
			}
		}
		got := r.got()
		if status != http.StatusOK || len(got) != 3 || got[0] != got[1] || got[1] != got[2] {
			t.Errorf("%v: status %d after %d requests, want %d and 3", f, status, len(got), http.StatusOK)
		}
		if n := r.steps(); n != 1 {
			t.Errorf("%v: %d steps in the archive, want 1", f, n)
		}
		r.quiet()
	}
}

func TestMiddlewareCompactsEachAttempt(t *testing.T) {
	r := newRig(t, compact.Config{})
	mw := transport.Middleware(r.m)
	f := forms()[0]
	for range 3 {
		req := r.request(transport.WithSession(context.Background(), "s"), f.path, f.body("Fix it.", 60, 300))
		status, answer := r.read(mw(req, http.DefaultTransport.RoundTrip))
		if status != http.StatusOK {
			t.Fatal(answer)
		}
	}
	if got := r.got(); len(got) != 3 || got[0] != got[2] || r.steps() != 1 {
		t.Errorf("%d requests, equal: %v, %d steps; want 3 and 1", len(got), got[0] == got[2], r.steps())
	}
}

func TestParallelSessionsOfAllWires(t *testing.T) {
	r := newRig(t, compact.Config{})
	var wg sync.WaitGroup
	all := forms()
	for k := range 2 * len(all) {
		wg.Go(func() {
			f := all[k%len(all)]
			ctx := transport.WithSession(context.Background(), fmt.Sprint("session-", k))
			for rounds := 20; rounds <= 60; rounds += 40 {
				resp, err := r.client.Do(r.request(ctx, f.path, f.body(fmt.Sprint("Fix bug ", k), rounds, 250)))
				if err != nil {
					t.Error(err)
					return
				}
				if status, answer := r.read(resp, err); status != http.StatusOK {
					t.Errorf("%d %s, want %d", status, answer, http.StatusOK)
				}
			}
		})
	}
	wg.Wait()
	r.quiet()
	mine := map[string]string{}
	for _, res := range r.results {
		ask := res.Messages[len(res.Messages)-1]
		for _, m := range res.Messages {
			if m.IsUser() {
				ask = m
			}
		}
		if had, ok := mine[res.Session]; ok && had != ask.Parts[0].Text {
			t.Errorf("%s holds %q and %q", res.Session, had, ask.Parts[0].Text)
		}
		mine[res.Session] = ask.Parts[0].Text
	}
	if len(mine) != 2*len(all) || r.steps() < 2*len(all) {
		t.Errorf("%d sessions, %d steps", len(mine), r.steps())
	}
}
