package render_test

import (
	"bytes"
	"fmt"
	"os"
	"testing"

	"github.com/agentcompact/compact/internal/corpus"
	"github.com/agentcompact/compact/internal/provider"
	"github.com/agentcompact/compact/internal/provider/render"
	"github.com/agentcompact/compact/internal/samples"
)

// every yields each n-th recorded session.
func every(t *testing.T, n int) map[string][]render.Row {
	t.Helper()
	out := map[string][]render.Row{}
	i := 0
	for _, dir := range []string{"chat", "chat_asis"} {
		for name, data := range corpus.Some(t, dir, func() bool { i++; return i%n == 0 }) {
			rows, err := render.Rows(data)
			if err != nil {
				t.Fatalf("%s/%s: %v", dir, name, err)
			}
			out[dir+"/"+name] = rows
		}
	}
	return out
}

// judged returns the provider's refusals for a session up to one cut, with the
// model's output in it as genuine.
func judged(w provider.Wire, seed uint64, rows []render.Row, n int) []provider.Refusal {
	s := render.New(w, seed, rows)
	body := s.Body(n)
	j := provider.NewJudge(w)
	j.Issue(body)
	return j.Judge(body)
}

// twice reports whether two calls of a session have one id.
func twice(rows []render.Row) bool {
	seen := map[any]bool{}
	for _, r := range rows {
		calls, _ := r["tool_calls"].([]any)
		for _, c := range calls {
			id := c.(map[string]any)["id"]
			if seen[id] {
				return true
			}
			seen[id] = true
		}
	}
	return false
}

func TestSweepSessionsThatAreLegalInChatAreLegalOnEachWire(t *testing.T) {
	step, seeds := 32, uint64(2) // fewer sessions would not reach the least number below
	if samples.All() {
		step = 8
	}
	if os.Getenv("COMPACT_SOAK") == "1" {
		step, seeds = 1, 12
	}
	legal, broken, repeated, bodies := 0, 0, 0, 0
	for label, rows := range every(t, step) {
		cuts := render.New(provider.Chat, 0, rows).Cuts()
		if len(cuts) == 0 {
			continue
		}
		if twice(rows) {
			repeated++ // Anthropic refuses it, and Gemini can't distinguish it
			continue
		}
		for seed := range seeds {
			n := cuts[len(cuts)-1-int(seed)%len(cuts)]
			if len(judged(provider.Chat, seed, rows, n)) > 0 {
				broken++
				continue
			}
			legal++
			for _, w := range provider.Wires()[1:] {
				bodies++
				for _, r := range judged(w, seed, rows, n) {
					t.Errorf("%s, %s, seed %d: %s: %s: %s", label, w, seed, r.Path, r.Rule, r.Text)
					break
				}
			}
		}
	}
	t.Logf("%d prefixes are legal in chat, %d are not, %d sessions use a call id twice; %d renderings of the legal ones judged on the other wires", legal, broken, repeated, bodies)
	if legal < 10 {
		t.Errorf("only %d sessions are legal in chat", legal)
	}
}

var rows = []render.Row{
	{"role": "system", "content": "You fix bugs."},
	{"role": "user", "content": "Fix it."},
	{"role": "assistant", "content": "I look.", "reasoning_content": "Look first.", "tool_calls": []any{
		map[string]any{"id": "c1", "type": "function", "function": map[string]any{"name": "read", "arguments": `{"path":"a"}`}},
		map[string]any{"id": "c2", "type": "function", "function": map[string]any{"name": "read", "arguments": `{"path":"b"}`}},
	}},
	{"role": "tool", "tool_call_id": "c1", "content": "one"},
	{"role": "tool", "tool_call_id": "c2", "content": ""},
	{"role": "user", "content": "And?"},
	{"role": "assistant", "content": "Fixed."},
	{"role": "user", "content": "Good."},
}

func TestSameSeedGivesTheSameBytes(t *testing.T) {
	for _, w := range provider.Wires() {
		different := 0
		for seed := range uint64(40) {
			a, b := render.New(w, seed, rows).Body(8), render.New(w, seed, rows).Body(8)
			if !bytes.Equal(a, b) {
				t.Fatalf("%s, seed %d: two bodies", w, seed)
			}
			if !bytes.Equal(a, render.New(w, 0, rows).Body(8)) {
				different++
			}
		}
		if different < 30 {
			t.Errorf("%s: %d of 40 seeds differ from the first", w, different)
		}
	}
}

func TestCutsAreBeforeAnswersAndAtTheEnd(t *testing.T) {
	if got := fmt.Sprint(render.New(provider.Chat, 0, rows).Cuts()); got != "[2 6 8]" {
		t.Errorf("cuts %s", got)
	}
}

// An agent that keeps its request and continues sends the same as an agent that
// renders the whole session again.
func TestExtendAddsToTheEndOfABody(t *testing.T) {
	for _, w := range provider.Wires() {
		for seed := range uint64(40) {
			s := render.New(w, seed, rows)
			body := s.Body(2)
			for _, step := range [][2]int{{2, 6}, {6, 8}} {
				var err error
				if body, err = s.Extend(body, step[0], step[1]); err != nil {
					t.Fatal(err)
				}
			}
			if want := s.Body(8); !bytes.Equal(body, want) {
				t.Fatalf("%s, seed %d:\n%s\n%s", w, seed, body, want)
			}
		}
	}
	if _, err := render.New(provider.Chat, 0, rows).Extend([]byte(`{"messages":`), 2, 6); err == nil {
		t.Error("Extend accepts an incomplete body")
	}
}

// The seeds together must cover all differences between agents.
func TestSeedsCoverTheBehaviorOfAgents(t *testing.T) {
	for w, wants := range map[provider.Wire][]string{
		provider.Chat:      {`"thought_signature"`, `"type":"text"`, "\n  \"messages\""},
		provider.Responses: {`"instructions"`, `"encrypted_content"`, `"summary":[]`, `"id":"fc_`, `"output":[{`, `"role":"system"`, `"output_text"`},
		provider.Anthropic: {`"cache_control"`, `"signature"`, `"redacted_thinking"`, `"is_error"`, `"system":"`, `"content":[{"text":"one"`, `"content":"one"`},
		provider.Gemini:    {`"thoughtSignature"`, `"thought_signature"`, `"id":"c1"`, `"result":"one"`, `"output":"one"`, `"thought":true`},
	} {
		var all bytes.Buffer
		for seed := range uint64(200) {
			all.Write(render.New(w, seed, rows).Body(8))
		}
		for _, want := range wants {
			if !bytes.Contains(all.Bytes(), []byte(want)) {
				t.Errorf("%s: no seed shows %s", w, want)
			}
		}
		if w == provider.Gemini && !bytes.Contains(all.Bytes(), []byte(`"functionCall":{"args":{"path":"a"},"name":"read"}`)) {
			t.Error("gemini: no seed leaves ids out")
		}
	}
}

func TestRowsNamesTheRowThatCantBeRead(t *testing.T) {
	if _, err := render.Rows([]byte("{\"role\":\"user\",\"meta\":1}\n{")); err == nil || err.Error() == "" {
		t.Error("half a row was read")
	}
	got, err := render.Rows([]byte("{\"role\":\"user\",\"meta\":1}\n"))
	if err != nil || len(got) != 1 || len(got[0]) != 1 {
		t.Errorf("%v, %v", got, err)
	}
}
