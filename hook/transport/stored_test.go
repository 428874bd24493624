package transport_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// A request can name its whole input: a conversation, an earlier answer, or a stored prompt.
// It is sent unchanged, and that is no failure.
func TestARequestNeedsNoInputOfItsOwn(t *testing.T) {
	for _, name := range []string{`"previous_response_id":"ANSWER"`, `"conversation":"CONVERSATION"`, `"conversation":{"id":"CONVERSATION"}`, `"prompt":{"id":"pmpt_1"}`} {
		for _, input := range []string{"", `,"input":null`, `,"input":[]`} {
			r := newRig(t, compact.Config{}, transport.Strict(), transport.Recall())
			r.server.Store = &provider.Store{}
			f := form{wire: provider.Responses, path: "/v1/responses", fields: `"model":"gpt-5"`}.withTools()
			_, answer := r.post(f, f.body("hi", 1, 5))
			id, _ := stored(answer)
			conversation := r.server.Store.Conversation(map[string]any{"role": "user", "content": "hi"})
			body := "{" + f.fields + "," + strings.NewReplacer("ANSWER", id, "CONVERSATION", conversation).Replace(name) + input + "}"
			if status, answer := r.post(f, body); status != http.StatusOK {
				t.Errorf("%s%s: %d %s", name, input, status, answer)
			}
			for _, err := range r.errs {
				if !strings.Contains(err.Error(), "holds the history") {
					t.Errorf("%s%s: %v", name, input, err)
				}
			}
		}
	}
}

// An answer that is not stored has reasoning that nobody can send back, unless the request
// includes its encrypted content. The rounds of the recall tool are sent without it.
func TestReasoningThatIsNotStoredIsNotSentBack(t *testing.T) {
	for _, stream := range []bool{false, true} {
		f := form{provider.Responses, "/v1/responses", `"model":"gpt-5","store":false`, stream}.withTools()
		if stream {
			f.fields += `,"stream":true`
		}
		r, body, ref := recalling(t, f)
		r.server.Store = &provider.Store{}
		r.server.Answer(provider.Answer{Reasoning: "Hm.", Text: "Let me see.", Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Reasoning: "Hm.", Calls: []provider.Call{recallOf("turn:4")}},
			provider.Answer{Reasoning: "Now.", Calls: []provider.Call{recallOf(ref), {ID: "c900", Name: "read", Args: `{"n":900}`}}})
		status, answer := r.post(f, body)
		if status != http.StatusOK || !strings.Contains(answer, "c900") {
			t.Fatalf("stream %v: %d %s", stream, status, answer)
		}
		for range 2 {
			body = more(body, f.callAgain(900))
			if status, answer := r.post(f, body); status != http.StatusOK {
				t.Fatalf("stream %v: %d %s", stream, status, answer)
			}
			body = more(body, `{"role":"user","content":"next"}`)
		}
		r.allOK(f)
		if got := r.got(); strings.Contains(got[len(got)-1], `"rs_`) || strings.Contains(got[len(got)-1], `"fc_`) || stream == strings.Contains(got[len(got)-1], "Let me see.") {
			t.Errorf("stream %v: %s", stream, tail(got[len(got)-1], 2000))
		}
	}
}
