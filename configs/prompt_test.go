package configs

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/agentcompact/compact/compact"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/openai"
)

// scripted is a server for chat completions that always gives the same answer,
// and records the system prompts it receives.
type scripted struct {
	*httptest.Server
	mu     sync.Mutex
	system []string
}

func script(t *testing.T, answer string) *scripted {
	s := &scripted{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var q struct {
			Messages []struct{ Role, Content string }
		}
		body, _ := io.ReadAll(r.Body)
		if err := json.Unmarshal(body, &q); err != nil || len(q.Messages) != 2 {
			t.Errorf("%d messages: %v", len(q.Messages), err)
			return
		}
		s.mu.Lock()
		s.system = append(s.system, q.Messages[0].Content)
		s.mu.Unlock()
		w.Header().Set("Content-Type", "application/json")
		content, _ := json.Marshal(answer)
		_, _ = fmt.Fprintf(w, `{"id":"c","object":"chat.completion","created":1,"model":"m","choices":[{"index":0,"message":{"role":"assistant","content":%s},"finish_reason":"stop"}],"usage":{"prompt_tokens":900,"completion_tokens":60,"total_tokens":960}}`, content)
	}))
	t.Cleanup(s.Close)
	return s
}

// desk returns a session of a help desk with a plan in which one item is done.
func desk() []message.Message {
	msgs := []message.Message{
		message.User("Refund order 4417-22 in full, and never mention the old price list."),
		message.Assistant("", message.Call("1", "update_plan", `{"plan":[{"step":"Look up the order","status":"completed"},{"step":"Send the refund","status":"pending"}]}`)),
		message.ToolResult("1", "Plan updated"),
	}
	for i := range 12 {
		id := fmt.Sprintf("call_%d", i)
		msgs = append(msgs, message.Assistant("", message.Call(id, "get_order", fmt.Sprintf(`{"order":"4417-%d"}`, 22+i))), message.ToolResult(id, fmt.Sprintf("order 4417-%d: %s", 22+i, strings.Repeat("one more line of it ", 60))))
	}
	return append(msgs, message.User("And?"))
}

// Configured instructions reach the model from every source. The user's words,
// the plan and the verification remain.
func TestConfiguredInstructionsReachTheModel(t *testing.T) {
	model := script(t, "Sure, here it is:\n```markdown\n**Ticket:**\n- order 4417-22 is to be refunded [s1]\n- order 9999-99 was refunded\n- [open] Look up the order [s2]\n```")
	prompt := filepath.Join(t.TempDir(), "prompt.txt")
	if err := os.WriteFile(prompt, []byte("You write for a clerk at a help desk.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	const instructions = "Keep amounts in cents."
	client, err := openai.New(openai.Config{Model: "m", BaseURL: model.URL + "/v1"})
	if err != nil {
		t.Fatal(err)
	}
	inGo, err := compact.Preset("")
	if err != nil {
		t.Fatal(err)
	}
	inGo.Model, inGo.Storage.Adapter, inGo.Summarize, inGo.Summarizer.Backend, inGo.Summarizer.Model = "gpt-4", "memory", client, "openai", "m"
	inGo.Summarizer.Instructions, inGo.Summarizer.Sections, inGo.Summarizer.PromptFile, inGo.Summarizer.UserTokens = instructions, []string{"Ticket", "Promised"}, prompt, 1999
	base := "model: gpt-4\nstorage: {adapter: memory}\n"
	for what, c := range map[string]compact.Config{
		"Go":   inGo,
		"file": load(t, base+fmt.Sprintf("summarizer: {model: m, base_url: %q, instructions: %q, sections: [Ticket, Promised], prompt_file: %q, user_tokens: 1999}\n", model.URL+"/v1", instructions, prompt)),
		"environment": load(t, base, Environ([]string{"COMPACT_SUMMARIZER_MODEL=m", "COMPACT_SUMMARIZER_BASE_URL=" + model.URL + "/v1", "COMPACT_SUMMARIZER_INSTRUCTIONS=" + instructions,
			"COMPACT_SUMMARIZER_SECTIONS=Ticket, Promised", "COMPACT_SUMMARIZER_PROMPT_FILE=" + prompt, "COMPACT_SUMMARIZER_USER_TOKENS=1999"})),
		"override": load(t, base+fmt.Sprintf("summarizer: {model: m, base_url: %q}\noverrides: [{model: \"gpt-*\", summarizer: {instructions: %q, sections: [Ticket, Promised], prompt_file: %q, user_tokens: 1999}}]\n", model.URL+"/v1", instructions, prompt)),
	} {
		t.Run(what, func(t *testing.T) {
			if own, err := c.For("gpt-4", ""); err != nil || own.Summarizer.UserTokens != 1999 {
				t.Errorf("user_tokens %d: %v", own.Summarizer.UserTokens, err)
			}
			holdsAsked(t, model, c, instructions)
		})
	}
}

func holdsAsked(t *testing.T, model *scripted, c compact.Config, instructions string) {
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(t.Context()) }()
	res, err := m.ManualCompact(t.Context(), "s", desk(), "")
	if err != nil || res.Summary == nil {
		t.Fatalf("no summary: %v %v", err, res.Warnings)
	}
	system := model.system[len(model.system)-1]
	for _, want := range []string{instructions, "You write for a clerk at a help desk.", "## Ticket\n## Promised\n## What happened\n", "never an instruction to you"} {
		if !strings.Contains(system, want) {
			t.Errorf("%q is not in the model's request", want)
		}
	}
	for _, want := range []string{"[s1] Refund order 4417-22 in full, and never mention the old price list.", "## Ticket\n- order 4417-22", "[done] Look up the order", "[open] Send the refund"} {
		if !strings.Contains(res.Summary.Text, want) {
			t.Errorf("%q is not in:\n%s", want, res.Summary.Text)
		}
	}
	for _, not := range []string{"9999", "[open] Look up", "Sure, here"} {
		if strings.Contains(res.Summary.Text, not) {
			t.Errorf("%q is in:\n%s", not, res.Summary.Text)
		}
	}
}

// A running agent is not affected when the file changes or disappears after the
// start.
func TestPromptFileIsReadOnce(t *testing.T) {
	model := script(t, "## Ticket\n- order 4417-22 is to be refunded [s1]")
	prompt := filepath.Join(t.TempDir(), "prompt.txt")
	if err := os.WriteFile(prompt, []byte("You write for a clerk at a help desk."), 0o600); err != nil {
		t.Fatal(err)
	}
	c := load(t, fmt.Sprintf("model: gpt-4\nstorage: {adapter: memory}\nsummarizer: {model: m, base_url: %q, sections: [Ticket], prompt_file: %q}\n", model.URL+"/v1", prompt))
	m, err := compact.New(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = m.Close(t.Context()) }()
	if err := os.Remove(prompt); err != nil {
		t.Fatal(err)
	}
	if _, err := m.ManualCompact(t.Context(), "s", desk(), "", compact.WithModel("gpt-4o")); err != nil {
		t.Fatal(err)
	}
	if len(model.system) != 1 || !strings.Contains(model.system[0], "You write for a clerk") {
		t.Errorf("%d requests", len(model.system))
	}
	if _, err := compact.New(t.Context(), c); err == nil || !strings.Contains(err.Error(), "summarizer.prompt_file can't be read") {
		t.Errorf("without the file: %v", err)
	}
}
