package transport_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/provider"
)

// of sends a request for a stored answer.
func (r *rig) of(method, id string) (status int, answer string) {
	req := r.request(r.t.Context(), "/v1/responses/"+id, "")
	req.Method, req.Body, req.ContentLength = method, http.NoBody, 0
	return r.do(req)
}

// The provider stores each answer of a recall. The caller reads them as the one answer that
// it received, and deletes all of them, by the one id that it knows.
func TestStoredAnswersOfARecallAreOneAnswer(t *testing.T) {
	for _, stream := range []bool{false, true} {
		for _, beside := range []bool{false, true} {
			t.Run(fmt.Sprintf("stream %v, beside a call %v", stream, beside), func(t *testing.T) {
				r, f, body, ref := chained(t, stream)
				last := provider.Answer{Reasoning: "Now.", Text: "It is a word."}
				if beside {
					last = provider.Answer{Text: "It is a word.", Calls: []provider.Call{{ID: "c900", Name: "read", Args: `{"n":900}`}, recallOf(ref)}}
				}
				r.server.Answer(provider.Answer{Reasoning: "Hm.", Text: "Let me see.", Calls: []provider.Call{recallOf(ref)}}, provider.Answer{Calls: []provider.Call{recallOf("turn:4")}}, last)
				_, answer := r.post(f, body)
				id, items := stored(answer)
				status, read := r.of(http.MethodGet, id)
				same, got := stored(read)
				if status != http.StatusOK || same != id || len(got) != len(items) || strings.Contains(read, `"recall"`) || strings.Contains(read, "Let me see.") != stream || !strings.Contains(read, "It is a word.") {
					t.Errorf("%d: the caller received %s, and reads %s", status, answer, read)
				}
				if n := r.server.Store.Responses(); n != 3 {
					t.Fatalf("%d answers are stored, want 3", n)
				}
				status, gone := r.of(http.MethodDelete, id)
				if n := r.server.Store.Responses(); status != http.StatusOK || n != 0 || !strings.Contains(gone, `"id":"`+id+`"`) {
					t.Errorf("%d %s: %d answers are left", status, gone, n)
				}
				if status, _ := r.of(http.MethodGet, id); status != http.StatusNotFound {
					t.Errorf("%d, want %d", status, http.StatusNotFound)
				}
			})
		}
	}
}

// An answer without a recall is read and deleted as it is.
func TestOtherStoredAnswersAreUntouched(t *testing.T) {
	r, f, body, _ := chained(t, false)
	_, answer := r.post(f, body)
	id, _ := stored(answer)
	if status, read := r.of(http.MethodGet, id); status != http.StatusOK || read != answer {
		t.Errorf("%d %s, want %d and %s", status, read, http.StatusOK, answer)
	}
	if status, _ := r.of(http.MethodDelete, id); status != http.StatusOK || r.server.Store.Responses() != 0 {
		t.Errorf("%d, want %d", status, http.StatusOK)
	}
}
