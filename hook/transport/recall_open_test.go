package transport_test

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// lingering keeps the stream of each answer open after its last event.
type lingering struct{ inner http.RoundTripper }

func (l lingering) RoundTrip(q *http.Request) (*http.Response, error) {
	resp, err := l.inner.RoundTrip(q)
	if err != nil {
		return nil, err
	}
	raw, err := io.ReadAll(resp.Body)
	open, end := io.Pipe()
	go func() { <-q.Context().Done(); _ = end.Close() }()
	resp.Body, resp.ContentLength = &closer{Reader: io.MultiReader(bytes.NewReader(raw), open)}, -1
	return resp, err
}

// A caller stops reading at the last event of a stream. A provider that keeps the stream
// open does not hold the next answer back.
func TestARecallDoesNotWaitForTheEndOfTheConnection(t *testing.T) {
	eachFlow(t, func(t *testing.T, f form) {
		if f.wire == provider.Gemini {
			t.Skip("no event of this wire is known to be the last")
		}
		r, body, ref := recalling(t, f)
		r.client.Transport = transport.New(r.m, transport.Recall(), transport.Base(lingering{http.DefaultTransport}))
		for _, others := range [][]provider.Call{nil, {{ID: "c900", Name: "read", Args: `{"n":900}`}}} {
			r.server.Answer(provider.Answer{Reasoning: "Hm.", Text: "Let me see.", Calls: append(others, recallOf(ref))}, provider.Answer{Text: "It is a word."})
			resp, err := r.client.Do(r.request(transport.WithSession(t.Context(), "s"), f.path, body))
			if err != nil {
				t.Fatal(err)
			}
			want := "word."
			if others != nil {
				want = "c900"
			}
			var got strings.Builder
			for last := ""; !strings.Contains(last, "message_stop") && !strings.Contains(last, "[DONE]") && !strings.Contains(last, "response.completed"); {
				buf := make([]byte, 64<<10)
				n, err := resp.Body.Read(buf)
				if err != nil {
					t.Fatalf("%v after %s", err, got.String())
				}
				last = string(buf[:n])
				got.WriteString(last)
			}
			_ = resp.Body.Close()
			if !strings.Contains(got.String(), want) || strings.Contains(got.String(), `"recall"`) {
				t.Errorf("the caller gets %s, want text with %q and text without %q", got.String(), want, `"recall"`)
			}
		}
	})
}
