package transport_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// stored returns the id and the items of a complete answer.
func stored(answer string) (id string, output []json.RawMessage) {
	var r struct {
		ID       string
		Output   []json.RawMessage
		Response json.RawMessage
	}
	at := strings.LastIndex(answer, "data: ") // the last event of a stream has the response
	if at < 0 {
		_ = json.Unmarshal([]byte(answer), &r)
		return r.ID, r.Output
	}
	_ = json.Unmarshal([]byte(answer[at+len("data: "):]), &r)
	_ = json.Unmarshal(r.Response, &r)
	return r.ID, r.Output
}

// chained returns a rig whose provider stores answers, and a request with a reference in
// its view.
func chained(t *testing.T, stream bool) (r *rig, f form, body, ref string) {
	f = form{provider.Responses, "/v1/responses", `"model":"gpt-5"`, stream}.withTools()
	if stream {
		f.fields += `,"stream":true`
	}
	r, body, ref = recalling(t, f)
	r.server.Store = &provider.Store{}
	return r, f, body, ref
}

// historyOf returns the conversation that the provider stores with an answer.
func (r *rig) historyOf(answer string) string {
	id, _ := stored(answer)
	history, _ := json.Marshal(r.server.Store.History(id))
	return string(history)
}

// next returns a request that continues a stored answer.
func (f form) next(id, items string) string {
	return fmt.Sprintf(`{%s,"previous_response_id":%q,"input":[%s]}`, f.fields, id, items)
}

func TestARecallLeavesNoOpenCallInAChain(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for name, c := range map[string]struct {
			answers func(ref string) []provider.Answer
			calls   bool // the caller's tool is called
		}{
			"alone": {func(ref string) []provider.Answer {
				return []provider.Answer{{Text: "Let me see.", Calls: []provider.Call{recallOf(ref)}}, {Text: "It is a word."}}
			}, false},
			"beside a call": {func(ref string) []provider.Answer {
				return []provider.Answer{{Calls: []provider.Call{recallOf(ref), {ID: "c900", Name: "read", Args: `{"n":900}`}}}}
			}, true},
			"alone, then beside a call": {func(ref string) []provider.Answer {
				return []provider.Answer{{Calls: []provider.Call{recallOf(ref)}}, {Calls: []provider.Call{{ID: "c900", Name: "read", Args: `{"n":900}`}, recallOf(ref)}}}
			}, true},
			"too often": {func(ref string) []provider.Answer {
				return slices.Repeat([]provider.Answer{{Calls: []provider.Call{recallOf(ref)}}}, 10)
			}, false},
		} {
			t.Run(fmt.Sprintf("%s, stream %v", name, stream), func(t *testing.T) {
				r, f, body, ref := chained(t, stream)
				r.server.Answer(c.answers(ref)...)
				status, answer := r.post(f, body)
				id, _ := stored(answer)
				if status != http.StatusOK || id == "" || strings.Contains(answer, ref) {
					t.Fatalf("%d %s, want %d and text without %q", status, answer, http.StatusOK, ref)
				}
				items := `{"role":"user","content":"next"}`
				if c.calls {
					items = `{"type":"function_call_output","call_id":"c900","output":"what was read"},` + items
				}
				for range 2 { // two branches
					if status, answer = r.post(f, f.next(id, items)); status != http.StatusOK {
						t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
					}
				}
				if name == "alone" && !strings.Contains(r.historyOf(answer), "It is a word.") {
					t.Error("the chain lost the last answer")
				}
				next, _ := stored(answer)
				if status, answer = r.post(f, f.next(next, `{"role":"user","content":"and then"}`)); status != http.StatusOK {
					t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
				}
			})
		}
	}
}

// A chain of another client with an equal id is sent unchanged.
func TestALinkBelongsToItsCredentials(t *testing.T) {
	r, f, body, ref := chained(t, false)
	r.server.Answer(provider.Answer{Calls: []provider.Call{recallOf(ref), {ID: "c900", Name: "read", Args: `{"n":900}`}}})
	_, answer := r.post(f, body)
	id, _ := stored(answer)
	before := len(r.got())
	body = f.next(id, `{"type":"function_call_output","call_id":"c900","output":"x"}`)
	q := r.request(t.Context(), f.path, body)
	q.Header.Set("Authorization", "Bearer sk-another")
	_, _ = r.do(q)
	if sent := r.got()[before]; sent != body {
		t.Errorf("the request of another client was changed: %s", tail(sent, 800))
	}
}

// A request that continues an answer may have words in place of a list, or no input.
func TestALinkedRequestNeedsNoListOfItems(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, input := range []string{`,"input":"next"`, `,"input":null`, `,"input":[]`, ``} {
			r, f, body, ref := chained(t, stream)
			r.server.Answer(slices.Repeat([]provider.Answer{{Calls: []provider.Call{recallOf(ref)}}}, 10)...)
			_, answer := r.post(f, body)
			id, _ := stored(answer)
			if status, answer := r.post(f, fmt.Sprintf(`{%s,"previous_response_id":%q%s}`, f.fields, id, input)); status != http.StatusOK {
				t.Errorf("stream %v%s: %d %s, want %d", stream, input, status, answer, http.StatusOK)
			}
		}
	}
}

// The caller fetches the answer of a background request later, past the transport.
func TestBackgroundRequestsDoNotDeclareTheRecallTool(t *testing.T) {
	f := forms()[2].withTools()
	f.fields += `,"background":true`
	r := newRig(t, compact.Config{}, transport.Recall())
	r.server.Lenient = true
	if r.post(f, f.body("hi", 3, 10)); strings.Contains(r.got()[0], `"recall"`) {
		t.Error("the request declares the tool")
	}
}
