package provider

import (
	"fmt"
	"net/http"
	"strings"
	"sync"
)

// A Store is the memory of the Responses API: answers, their items, and conversations. A
// server with a Store judges a request together with the history that the request names,
// and bills this history. The zero Store is empty and ready. It is safe for concurrent use.
type Store struct {
	mu            sync.Mutex
	answers       map[string][]any // response id → its conversation with its items
	documents     map[string]object
	items         map[string]object
	conversations map[string][]any
}

// Conversation creates a conversation with items, and returns its id.
func (s *Store) Conversation(items ...any) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
	id := fmt.Sprintf("conv_%d", len(s.conversations)+1)
	s.conversations[id] = append([]any{}, items...)
	return id
}

// Items returns the items of a conversation.
func (s *Store) Items(conversation string) []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]any(nil), s.conversations[conversation]...)
}

// History returns the conversation that ends with an answer.
func (s *Store) History(response string) []any {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]any(nil), s.answers[response]...)
}

func (s *Store) begin() {
	if s.answers == nil {
		s.answers, s.documents, s.items, s.conversations = map[string][]any{}, map[string]object{}, map[string]object{}, map[string][]any{}
	}
}

// conversationOf returns the id of the conversation that a request names; "" = none.
func conversationOf(body object) string {
	if o, ok := body["conversation"].(object); ok {
		return str(o, "id")
	}
	return str(body, "conversation")
}

// whole returns a request with the history that it names, and with the items that it refers
// to. The error is nil if the store has all of them.
func (s *Store) whole(body object) (object, *errorAnswer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.begin()
	before, conversation := str(body, "previous_response_id"), conversationOf(body)
	var past []any
	switch {
	case before != "" && conversation != "":
		return nil, notFound(http.StatusBadRequest, "previous_response_id", "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Ensure you are only providing one of: 'previous_response_id' or 'conversation'.")
	case before != "":
		kept, ok := s.answers[before]
		if !ok {
			t := notFound(http.StatusBadRequest, "previous_response_id", fmt.Sprintf("Previous response with id '%s' not found.", before))
			t.code = "previous_response_not_found"
			return nil, t
		}
		past = kept
	case conversation != "":
		kept, ok := s.conversations[conversation]
		if !ok {
			return nil, notFound(http.StatusNotFound, "conversation", fmt.Sprintf("Conversation with id '%s' not found.", conversation))
		}
		past = kept
	}
	items, missing := s.resolved(body["input"])
	if missing != nil {
		return nil, missing
	}
	out := without(body, "previous_response_id", "conversation")
	out["input"] = append(append([]any{}, past...), items...)
	return out, nil
}

// resolved returns the input as items, with stored items in place of references.
func (s *Store) resolved(input any) ([]any, *errorAnswer) {
	if text, ok := input.(string); ok {
		return []any{object{"role": "user", "content": text}}, nil
	}
	list, _ := input.([]any)
	out := append([]any(nil), list...)
	for i, it := range objects(input) {
		if itemType(it) != "item_reference" && (itemType(it) != "" || str(it, "id") == "") {
			continue
		}
		stored, ok := s.items[str(it, "id")]
		if !ok {
			return nil, notFound(http.StatusNotFound, "input", fmt.Sprintf("Item with id '%s' not found. Items are not persisted when `store` is set to false. Try again with `store` set to true, or remove this item from your input.", str(it, "id")))
		}
		out[i] = stored
	}
	return out, nil
}

func notFound(status int, param, text string) *errorAnswer {
	return &errorAnswer{status: status, kind: "invalid_request_error", param: param, text: text}
}

// keep stores an answer to a request; whole is the request with its history.
func (s *Store) keep(body, whole object, response object) {
	s.mu.Lock()
	defer s.mu.Unlock()
	output, _ := response["output"].([]any)
	past, _ := whole["input"].([]any)
	all := append(append([]any{}, past...), output...)
	if id := conversationOf(body); id != "" {
		s.conversations[id] = all
	}
	if body["store"] == false {
		return
	}
	s.answers[str(response, "id")], s.documents[str(response, "id")] = all, response
	for _, it := range objects(output) {
		s.items[str(it, "id")] = it
	}
}

// serve answers requests for stored answers and conversations. It returns false for any other
// request.
func (s *Store) serve(w http.ResponseWriter, q *http.Request, body []byte) bool {
	_, path, _ := strings.Cut(q.URL.Path, "/v1/")
	parts := strings.Split(path, "/")
	switch {
	case q.Method == http.MethodPost && path == "conversations":
		o, _ := decode(body)
		items, _ := o["items"].([]any)
		writeJSON(w, http.StatusOK, object{"object": "conversation", "id": s.Conversation(items...)})
	case q.Method == http.MethodGet && len(parts) == 3 && parts[0] == "conversations" && parts[2] == "items":
		writeJSON(w, http.StatusOK, object{"object": "list", "data": s.Items(parts[1])})
	case (q.Method == http.MethodGet || q.Method == http.MethodDelete) && len(parts) == 2 && parts[0] == "responses":
		s.response(w, q.Method, parts[1])
	default:
		return false
	}
	return true
}

// response answers a request for a stored answer, or deletes it.
func (s *Store) response(w http.ResponseWriter, method, id string) {
	s.mu.Lock()
	found := s.documents[id]
	if method == http.MethodDelete {
		delete(s.documents, id)
	}
	s.mu.Unlock()
	switch {
	case found == nil:
		writeJSON(w, http.StatusNotFound, notFound(http.StatusNotFound, "", fmt.Sprintf("Response with id '%s' not found.", id)).shaped(Responses))
	case method == http.MethodDelete:
		writeJSON(w, http.StatusOK, object{"id": id, "object": "response", "deleted": true})
	default:
		writeJSON(w, http.StatusOK, found)
	}
}

// Responses returns the number of stored answers.
func (s *Store) Responses() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.documents)
}
