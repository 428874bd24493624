package provider_test

import (
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/provider"
)

func (c client) get(path string) string {
	c.t.Helper()
	res, err := http.Get(c.url + path) //nolint:noctx // a test
	if err != nil {
		c.t.Fatal(err)
	}
	defer func() { _ = res.Body.Close() }()
	b, err := io.ReadAll(res.Body)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(b)
}

// A request names what the provider stores, and is judged and billed together with it.
func TestStoreContinuesWhatARequestNames(t *testing.T) {
	s := provider.NewServer()
	s.Store = &provider.Store{}
	c := serve(t, s)
	call := provider.Answer{Reasoning: "why not", Calls: []provider.Call{{ID: "c1", Name: "f", Args: `{}`}}}
	ask := func(status int, body string, parts ...string) {
		t.Helper()
		got, _, answer := c.post("/v1/responses", `{"model":"m",`+body+`}`)
		if got != status {
			t.Errorf("%s: %d %s", body, got, answer)
		}
		wants(t, body, answer, parts...)
	}
	output := `{"type":"function_call_output","call_id":"c1","output":"x"}`

	s.Answer(call)
	ask(200, `"input":"Q"`, `"id":"resp_1"`, `"id":"rs_1"`)
	ask(400, `"previous_response_id":"resp_1","input":"and?"`, "No tool output found for function call c1.")
	ask(200, `"previous_response_id":"resp_1","input":[`+output+`]`, `"input_tokens":`)
	if log := s.Requests(); log[2].Prompt <= log[0].Prompt {
		t.Error("the history of a chain is not billed")
	}
	ask(400, `"previous_response_id":"resp_9","input":"Q"`, "previous_response_not_found")
	ask(400, `"previous_response_id":"resp_1","conversation":"conv_1","input":"Q"`, "Mutually exclusive parameters")
	ask(400, `"input":[]`, "must be provided")

	ask(200, `"input":[{"role":"user","content":"Q"},{"type":"item_reference","id":"rs_1"},{"id":"fc_1_0"},`+output+`]`)
	ask(400, `"input":[{"role":"user","content":"Q"},{"type":"item_reference","id":"rs_1"},{"role":"user","content":"and?"}]`, "without its required following item")
	ask(404, `"input":[{"type":"item_reference","id":"rs_9"}]`, "Item with id 'rs_9' not found.")

	_, _, answer := c.post("/v1/conversations", `{"items":[{"role":"user","content":"before"}]}`)
	wants(t, "conversation", answer, `"id":"conv_1"`)
	s.Answer(call)
	ask(200, `"conversation":{"id":"conv_1"},"input":"Q"`)
	ask(400, `"conversation":"conv_1"`, "No tool output found")
	ask(200, `"conversation":"conv_1","input":[`+output+`]`)
	ask(404, `"conversation":"conv_7"`, "Conversation with id 'conv_7' not found.")
	wants(t, "items", c.get("/v1/conversations/conv_1/items"), "before", "why not", `"call_id":"c1"`, `"ok"`)

	_, _, answer = c.post("/v1/responses", `{"model":"m","background":true,"input":"Q"}`)
	wants(t, "background", answer, `"status":"queued"`, `"output":[]`, `"usage":null`)
	id := answer[strings.Index(answer, "resp_"):]
	wants(t, "background", c.get("/v1/responses/"+id[:strings.IndexByte(id, '"')]), `"status":"completed"`, `"ok"`)
	ask(400, `"background":true,"store":false,"input":"Q"`, "store")

	_, _, answer = c.post("/v1/responses", `{"model":"m","store":false,"input":"Q"}`)
	id = answer[strings.Index(answer, "resp_"):]
	ask(400, fmt.Sprintf(`"previous_response_id":%q,"input":"Q"`, id[:strings.IndexByte(id, '"')]), "not found")
}

// The encrypted content of reasoning is in an answer only if the request includes it.
func TestReasoningOfAnAnswerThatIsNotStored(t *testing.T) {
	s := provider.NewServer()
	c := serve(t, s)
	s.Answer(script, script)
	_, _, answer := c.post("/v1/responses", `{"model":"m","store":false,"input":"Q"}`)
	if strings.Contains(answer, "encrypted_content") {
		t.Error(answer)
	}
	status, _, refused := c.post("/v1/responses", `{"model":"m","store":false,"input":[{"role":"user","content":"Q"},{"type":"reasoning","id":"rs_1","summary":[]},{"role":"user","content":"Q"}]}`)
	if status != 400 || !strings.Contains(refused, "Items are not persisted") {
		t.Errorf("%d %s", status, refused)
	}
	status, _, answer = c.post("/v1/responses", `{"model":"m","store":false,"input":[{"role":"user","content":"Q"},{"type":"function_call","call_id":"c1","name":"f","arguments":"{}"},{"type":"function_call_output","call_id":"c1","output":"x"}]}`)
	if status != 200 {
		t.Errorf("a call without this reasoning: %s", answer)
	}
}
