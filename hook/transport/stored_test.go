package transport_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// A request can name its whole input: a conversation, an earlier answer, or a stored prompt. It
// is sent unchanged, and no failure is reported.
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
				t.Errorf("%s%s: %d %s, want %d", name, input, status, answer, http.StatusOK)
			}
			for _, err := range r.errs {
				if !strings.Contains(err.Error(), "holds the history") {
					t.Errorf("%s%s: %v, want an error with %q", name, input, err, "holds the history")
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
			t.Fatalf("stream %v: %d %s, want %d and text with %q", stream, status, answer, http.StatusOK, "c900")
		}
		for range 2 {
			body = more(body, f.callAgain(900))
			if status, answer := r.post(f, body); status != http.StatusOK {
				t.Fatalf("stream %v: %d %s, want %d", stream, status, answer, http.StatusOK)
			}
			body = more(body, `{"role":"user","content":"next"}`)
		}
		r.allOK(f)
		if got := r.got(); strings.Contains(got[len(got)-1], `"rs_`) || strings.Contains(got[len(got)-1], `"fc_`) || stream == strings.Contains(got[len(got)-1], "Let me see.") {
			t.Errorf("stream %v: %s", stream, tail(got[len(got)-1], 2000))
		}
	}
}

// references returns an answer as a caller that refers to stored items sends it back.
func references(t *testing.T, answer string) string {
	t.Helper()
	_, output := stored(answer)
	var refs []string
	for _, item := range output {
		var o struct{ ID string }
		if err := json.Unmarshal(item, &o); err != nil {
			t.Fatal(err)
		}
		refs = append(refs, fmt.Sprintf(`{"type":"item_reference","id":%q}`, o.ID))
	}
	return strings.Join(refs, ",")
}

// A caller refers to the items of an answer that it got without its recall calls. The
// references to reasoning that led only to these calls are left out, and the rounds keep
// their places.
func TestReferencesToAnAnswerWithARecall(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, calls := range []bool{false, true} {
			r, f, body, ref := chained(t, stream)
			last := provider.Answer{Reasoning: "Now.", Text: "It is a word."}
			if calls {
				last = provider.Answer{Reasoning: "Now.", Calls: []provider.Call{recallOf(ref), {ID: "c900", Name: "read", Args: `{"n":900}`}}}
			}
			r.server.Answer(provider.Answer{Reasoning: "Hm.", Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Reasoning: "So.", Text: "Let me see.", Calls: []provider.Call{recallOf("turn:3")}}, last)
			status, answer := r.post(f, body)
			if status != http.StatusOK {
				t.Fatalf("%d %s, want %d", status, answer, http.StatusOK)
			}
			body = more(body, references(t, answer))
			if calls {
				body = more(body, `{"type":"function_call_output","call_id":"c900","output":"what was read"}`)
			} else {
				body = more(body, `{"role":"user","content":"next"}`)
			}
			for range 2 {
				if status, answer := r.post(f, body); status != http.StatusOK {
					t.Fatalf("stream %v, calls %v: %d %s, want %d", stream, calls, status, answer, http.StatusOK)
				}
				if got := r.got(); !strings.Contains(got[len(got)-1], "turn:3") {
					t.Errorf("stream %v, calls %v: the round is lost: %s", stream, calls, tail(got[len(got)-1], 1500))
				}
				body = more(body, `{"role":"user","content":"and then"}`)
			}
			r.allOK(f)
		}
	}
}

// A round with a secret is not kept. The references to its reasoning are left out
// nevertheless.
func TestReferencesToReasoningOfARoundThatIsNotKept(t *testing.T) {
	secret := "ghp_" + "x8Kq2LmZ0pWv7Rt3" + "Yb9Nc5Hd1Fg4Js6Aa0Qe"
	for _, stream := range []bool{false, true} {
		r, f, body, ref := chained(t, stream)
		r.server.Answer(provider.Answer{Reasoning: "Hm.", Calls: []provider.Call{{Name: "recall", Args: `{"ref":"` + ref + `","pattern":"` + secret + `"}`}}}, provider.Answer{Reasoning: "Now.", Text: "It is a word."})
		_, answer := r.post(f, body)
		if status, answer := r.post(f, more(body, references(t, answer)+`,{"role":"user","content":"next"}`)); status != http.StatusOK {
			t.Errorf("stream %v: %d %s, want %d", stream, status, answer, http.StatusOK)
		}
	}
}

// Reasoning directly before a recall call led to that call, even if the answer has other
// calls. A process that does not know the round sends neither.
func TestReasoningBesideACallGoesWithItsRecall(t *testing.T) {
	for _, stream := range []bool{false, true} {
		f := forms()[2]
		if stream {
			f = forms()[3]
		}
		f = f.withTools()
		r, body, ref := recalling(t, f)
		r.server.Answer(provider.Answer{Reasoning: "Hm.", Calls: []provider.Call{recallOf(ref), {ID: "c900", Name: "read", Args: `{"n":900}`}}})
		_, answer := r.post(f, body)
		next := more(body, strings.Join(sentBack(t, f, answer), ",")+`,{"type":"function_call_output","call_id":"c900","output":"what was read"}`)
		restarted := newRigAt(t, r.server, compact.Config{}, transport.Recall())
		for _, of := range []*rig{r, restarted} {
			if status, answer := of.post(f, next); status != http.StatusOK {
				t.Errorf("%v: %d %s, want %d", f, status, answer, http.StatusOK)
			}
		}
		if got := r.got(); !strings.Contains(got[2], `"rs_2"`) || strings.Contains(got[3], `"rs_2"`) {
			t.Errorf("%v: reasoning is in %s, and in %s", f, tail(got[2], 800), tail(got[3], 500))
		}
	}
}

// An approval of a call on an MCP server, and a search for tools that the caller makes, wait
// for the caller like its own calls: the answer reaches the caller, and the recall call goes
// back to its place.
func TestRequestsForAnApprovalReachTheCaller(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for item, reply := range map[string]string{
			`{"type":"mcp_approval_request","id":"mcpr_1","name":"delete","arguments":"{}","server_label":"files"}`:                 `{"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true}`,
			`{"type":"tool_search_call","id":"ts_1","call_id":"search_1","execution":"client","arguments":{},"status":"completed"}`: `{"type":"tool_search_output","call_id":"search_1","execution":"client","tools":[],"status":"completed"}`,
		} {
			r, f, body, ref := chained(t, stream)
			r.server.Answer(provider.Answer{Reasoning: "Hm.", Items: []string{item}, Calls: []provider.Call{recallOf(ref)}})
			before := len(r.got())
			status, answer := r.post(f, body)
			if status != http.StatusOK || len(r.got()) != before+1 || strings.Contains(answer, `"recall"`) {
				t.Fatalf("stream %v: %d after %d requests: %s, want %d and text without %q", stream, status, len(r.got())-before, answer, http.StatusOK, `"recall"`)
			}
			id, _ := stored(answer)
			if status, answer := r.post(f, f.next(id, reply)); status != http.StatusOK {
				t.Errorf("stream %v: a chain: %d %s, want %d", stream, status, answer, http.StatusOK)
			}
			body = more(body, strings.Join(sentBack(t, f, answer), ",")+","+reply)
			for range 2 {
				if status, answer := r.post(f, body); status != http.StatusOK {
					t.Errorf("stream %v: %d %s, want %d", stream, status, answer, http.StatusOK)
				}
				sent := r.got()[len(r.got())-1]
				if at, result := strings.Index(sent, reply), strings.LastIndex(sent, `"function_call_output"`); result > at || !strings.Contains(sent, `"recall","status"`) && !strings.Contains(sent, `"name":"recall"`) {
					t.Errorf("stream %v: the result of the recall is at %d, after the reply at %d: %s", stream, result, at, tail(sent, 900))
				}
				body = more(body, `{"role":"user","content":"next"}`)
			}
		}
	}
}
