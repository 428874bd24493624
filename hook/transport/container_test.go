package transport_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/hook/transport"
	"github.com/agentcompact/compact/internal/provider"
)

// ownRecall is a call of the recall tool by the model, not by its waiting program.
func ownRecall(ref string) provider.Call {
	c := recallOf(ref)
	c.Direct = true
	return c
}

// A program of the model waits in a container while the model recalls. The next request
// names that container, and the caller gets a call of the program with its result, so that
// every process can send both back.
func TestAProgramWaitsDuringARecall(t *testing.T) {
	for _, f := range []form{forms()[4], forms()[5]} {
		for field, want := range map[string]string{
			"": `"container":"container_1"`, `,"container":null`: `"container":"container_1"`, `,"container":"container_0"`: `"container":"container_1"`,
			`,"container":{"id":null,"skills":[{"skill_id":"pptx"}]}`: `"container":{"id":"container_1","skills":[{"skill_id":"pptx"}]}`,
		} {
			f := f.withTools()
			f.fields += field
			r, body, ref := recalling(t, f)
			r.server.Answer(
				provider.Answer{Reasoning: "Hm.", Text: "I run it.", Code: "print(1)", Calls: []provider.Call{ownRecall(ref)}},
				provider.Answer{Calls: []provider.Call{ownRecall("turn:3")}, Waiting: true},
				provider.Answer{Text: "It is a word."})
			before := len(r.got())
			status, answer := r.post(f, body)
			if status != http.StatusOK || !strings.Contains(answer, "word") || strings.Contains(answer, `"recall"`) {
				t.Fatalf("%v %s: %d %s, want %d, text with %q and text without %q", f, field, status, answer, http.StatusOK, "word", `"recall"`)
			}
			for i, sent := range r.got()[before+1:] {
				if !strings.Contains(sent, want) {
					t.Errorf("%v %s: request %d names no container: %.400s, want text with %q", f, field, i, sent, want)
				}
			}
			r.allOK(f)
			next := more(body, strings.Join(append(sentBack(t, f, answer), nextQuestion[f.wire]), ","))
			restarted := newRigAt(t, r.server, compact.Config{}, transport.Recall())
			for _, of := range []*rig{r, restarted} {
				if status, answer := of.post(f, next); status != http.StatusOK {
					t.Errorf("%v %s: %d %s, want %d", f, field, status, answer, http.StatusOK)
				}
			}
		}
	}
}

// The program calls a tool of the caller, while the model recalls.
func TestAProgramCallsAToolBesideARecall(t *testing.T) {
	for _, f := range []form{forms()[4], forms()[5]} {
		f := f.withTools()
		r, body, ref := recalling(t, f)
		read := provider.Call{ID: "c900", Name: "read", Args: `{"n":900}`}
		r.server.Answer(
			provider.Answer{Text: "I run it.", Code: "print(1)", Calls: []provider.Call{ownRecall(ref)}},
			provider.Answer{Waiting: true, Calls: []provider.Call{read, ownRecall("turn:3")}})
		status, answer := r.post(f, body)
		if status != http.StatusOK || !strings.Contains(answer, "c900") || strings.Contains(answer, `"recall"`) || !strings.Contains(answer, `"container_1"`) {
			t.Fatalf("%v: %d %s, want %d, text with %q, text without %q and text with %q", f, status, answer, http.StatusOK, "c900", `"recall"`, `"container_1"`)
		}
		result := `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c900","content":"what was read"}]}`
		next := more(body, strings.Join(append(sentBack(t, f, answer), result), ","))
		restarted := newRigAt(t, r.server, compact.Config{}, transport.Recall())
		for _, of := range []*rig{r, restarted} {
			if status, answer := of.post(f, adding(next, `"container":"container_1"`)); status != http.StatusOK {
				t.Errorf("%v: %d %s, want %d", f, status, answer, http.StatusOK)
			}
		}
		r.allOK(f)
	}
}

// A program of the model calls tools in several rounds before it has a result. A compaction
// between these rounds would leave a result without its call, or a call without its program.
func TestRoundsOfAProgramStayTogether(t *testing.T) {
	for _, preset := range []string{"graduated", "summarize", "history-reducer", "gateway"} {
		f := forms()[4].withTools()
		r := newRig(t, compact.Config{Preset: preset}, transport.Recall())
		body := f.body("hi", 0, 0)
		send := func(more string) {
			body = strings.TrimSuffix(body, "]}") + "," + more + "]}"
			if status, answer := r.post(f, adding(body, `"container":"container_1"`)); status != http.StatusOK {
				t.Fatalf("%s: %d %s, want %d", preset, status, answer, http.StatusOK)
			}
		}
		for n := range 24 {
			program := fmt.Sprintf(`{"type":"server_tool_use","id":"s%d","name":"code_execution","input":{"code":"await read()"}},`, n)
			for k := range 4 {
				send(fmt.Sprintf(`{"role":"assistant","content":[%s{"type":"tool_use","id":"c%d_%d","name":"read","input":{},"caller":{"type":"code_execution_20250825","tool_id":"s%d"}}]},`+
					`{"role":"user","content":[{"type":"tool_result","tool_use_id":"c%d_%d","content":%q}]}`, program, n, k, n, n, k, strings.Repeat("word ", 250)))
				program = ""
			}
			send(fmt.Sprintf(`{"role":"assistant","content":[{"type":"code_execution_tool_result","tool_use_id":"s%d","content":{"type":"code_execution_result","stdout":"42"}},{"type":"text","text":"It is %d."}]},{"role":"user","content":"next"}`, n, n))
		}
		if r.steps() == 0 && preset != "gateway" {
			t.Errorf("%s: no compaction", preset)
		}
		r.quiet()
	}
}

// A turn that the provider paused (pause_turn) is sent back unchanged at the end of the request,
// and the provider continues it. A compaction must not remove it.
func TestAPausedTurnGoesOn(t *testing.T) {
	for _, preset := range []string{"graduated", "summarize", "economy"} {
		for _, f := range []form{forms()[4], forms()[5]} {
			f := f.withTools()
			r := newRig(t, compact.Config{Preset: preset}, transport.Recall())
			paused := `{"role":"assistant","content":[{"type":"text","text":"I search."},{"type":"server_tool_use","id":"srvtoolu_1","name":"web_search","input":{"query":"q"}}]}`
			body := more(f.body("hi", 60, 300), `{"role":"assistant","content":[{"type":"text","text":"Done."}]},{"role":"user","content":"Search for q."},`+paused)
			for range 2 {
				if status, answer := r.post(f, body); status != http.StatusOK {
					t.Fatalf("%s: %d %s, want %d", preset, status, answer, http.StatusOK)
				}
			}
			got := r.got()
			if !strings.HasSuffix(got[0], paused+"]}") || len(got[0]) > len(body)/2 || got[1] != got[0] {
				t.Errorf("%s: %d of %d bytes, %s", preset, len(got[0]), len(body), tail(got[0], 500))
			}
			found := `{"role":"assistant","content":[{"type":"web_search_tool_result","tool_use_id":"srvtoolu_1","content":[]},{"type":"text","text":"Found."}]},{"role":"user","content":"next"}`
			if status, answer := r.post(f, more(body, found)); status != http.StatusOK {
				t.Fatalf("%s: %d %s, want %d", preset, status, answer, http.StatusOK)
			}
			if !strings.Contains(r.got()[2], paused+","+found) {
				t.Errorf("the paused turn and its result are not sent: %s: %s", preset, tail(r.got()[2], 900))
			}
			r.allOK(f)
		}
	}
}
