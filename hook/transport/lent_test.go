package transport_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// Requests with the history that are not model calls are sent without marks of this package. The
// provider refuses reasoning with a mark also when it compacts or counts the history.
func TestOtherRequestsSendHistoriesWithoutMarks(t *testing.T) {
	for path, f := range map[string]form{
		"/v1/responses/compact": forms()[3], "/v1/responses/input_tokens": forms()[3], "/v1/messages/count_tokens": forms()[5],
		"/v1/conversations": forms()[3], "/v1/conversations/conv_1/items": forms()[3],
	} {
		f = f.withTools()
		r, body, ref := recalling(t, f)
		r.server.Answer(provider.Answer{Reasoning: "Hm.", Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Reasoning: "Now.", Text: "It is a word."})
		_, answer := r.post(f, body)
		if !strings.Contains(answer, "compact:recalled") {
			t.Fatal(answer)
		}
		marked := more(body, strings.Join(append(sentBack(t, f, answer), nextQuestion[f.wire]), ","))
		for _, recalls := range []bool{true, false} { // the program can leave the option out later
			if !recalls {
				r.client.Transport = transport.New(r.m)
			}
			for _, body := range []string{marked, f.body("another", 3, 10)} {
				is := body == marked
				if strings.Contains(path, "conversations") {
					body = strings.Replace(body, `"input":`, `"items":`, 1)
				}
				r.do(r.request(t.Context(), path, body))
				sent := r.got()[len(r.got())-1]
				if strings.Contains(sent, "compact:recalled") || !strings.Contains(sent, "Now.") && is || !is && sent != body {
					t.Errorf("%s, recalls %v: %s", path, recalls, tail(sent, 1000))
				}
			}
		}
	}
}

// Requests that count or compact a chain continue the stored answer, as model calls do.
func TestOtherRequestsContinueStoredAnswers(t *testing.T) {
	for _, opts := range [][]transport.Option{nil, {transport.Counts()}} {
		for _, path := range []string{"/v1/responses/compact", "/v1/responses/input_tokens"} {
			r, f, body, ref := chained(t, true)
			r.client.Transport = transport.New(r.m, append(slices.Clone(opts), transport.Recall())...)
			r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Text: "It is a word."})
			_, answer := r.post(f, body)
			id, _ := stored(answer)
			r.do(r.request(t.Context(), path, fmt.Sprintf(`{"model":"gpt-5","previous_response_id":%q}`, id)))
			sent := r.got()[len(r.got())-1]
			_, after, _ := strings.Cut(sent, `"previous_response_id":"`)
			last, _, _ := strings.Cut(after, `"`)
			if last == id || len(r.server.Store.History(last)) == 0 {
				t.Errorf("%s: the request names %s in place of %s", path, last, id)
			}
		}
	}
}
