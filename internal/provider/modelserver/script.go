package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"sync"

	"github.com/agentcompact/compact/internal/provider"
)

// script is a server that answers with the steps of a task.
type script struct {
	*provider.Server
	steps, lines int
	help         bool      // the first step starts another agent
	record       *recorder // nil = requests are not recorded

	mu   sync.Mutex
	done int
}

func newScript(steps, window, lines int) *script {
	s := &script{Server: provider.NewServer(), steps: steps, lines: lines}
	s.Window, s.Reply = window, s.reply
	return s
}

// shells lists the names of agents' shell tools, with the member that holds the
// command.
var shells = []struct{ name, member string }{
	{"Bash", "command"}, {"bash", "command"}, {"exec_command", "cmd"}, {"shell_command", "command"}, {"run_shell_command", "command"},
}

// reply returns the next step. It answers requests without tools (titles,
// summaries, quota checks) with a text.
func (s *script) reply(req provider.Request) provider.Answer {
	if bytes.Contains(req.Body, []byte(`{"type":"compaction_trigger"}`)) {
		return provider.Answer{Compaction: true}
	}
	if summaries.Match(req.Body) {
		return provider.Answer{Text: summary}
	}
	tools := toolNames(req.Body)
	if len(tools) == 0 {
		return provider.Answer{Text: "A title"}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.done >= s.steps {
		return provider.Answer{Text: "All steps are done."}
	}
	s.done++
	a := s.step(tools)
	if req.Wire == provider.Gemini && len(a.Calls) > 0 { // Gemini CLI adds an id to a signed call without one
		a.Calls[0].ID = fmt.Sprintf("call_%d", s.done)
	}
	if thinks.Match(req.Body) {
		a.Reasoning = fmt.Sprintf("Step %d is next.", s.done)
	}
	return a
}

// thinks matches requests that ask for the model's reasoning and can send it
// back.
var thinks = regexp.MustCompile(`"thinking":\{"type":"(enabled|adaptive)"|"reasoning\.encrypted_content"`)

// summaries matches requests in which an agent asks for a summary of its
// history.
var summaries = regexp.MustCompile(`Your task is to create a detailed summary of|You are performing a CONTEXT CHECKPOINT COMPACTION|distilling chat history into`)

// summary is an answer that agents accept as a summary.
const summary = "<analysis>It is long.</analysis><summary>Some steps are done.</summary><state_snapshot>Some steps are done.</state_snapshot>"

// helpers lists the tools with which agents start other agents, with arguments.
var helpers = []struct{ name, namespace, args string }{
	{"Agent", "", `{"description":"Go through some","prompt":"Go through some of the steps.","subagent_type":"general-purpose"}`},
	{"task", "", `{"description":"Go through some","prompt":"Go through some of the steps.","subagent_type":"general"}`},
	{"spawn_agent", "collaboration", `{"task_name":"some","message":"Go through some of the steps."}`},
	{"invoke_agent", "", `{"agent_name":"generalist","prompt":"Go through some of the steps."}`},
}

// step returns the call of a step.
func (s *script) step(tools map[string]bool) provider.Answer {
	for _, h := range helpers {
		if s.help && s.done == 1 && tools[h.name] {
			return provider.Answer{Calls: []provider.Call{{Name: h.name, Namespace: h.namespace, Args: h.args}}}
		}
	}
	for _, sh := range shells {
		if tools[sh.name] {
			args, _ := json.Marshal(map[string]string{sh.member: s.command(), "description": fmt.Sprintf("Step %d", s.done)})
			return provider.Answer{Text: fmt.Sprintf("Step %d.", s.done), Calls: []provider.Call{{Name: sh.name, Args: string(args)}}}
		}
	}
	if tools["exec"] { // Codex: a program that calls tools
		command, _ := json.Marshal(map[string]any{"cmd": s.command(), "max_output_tokens": 100_000})
		code := fmt.Sprintf("// @exec: {\"max_output_tokens\": 100000}\nconst r = await tools.exec_command(%s); text(r.output)", command)
		return provider.Answer{Text: fmt.Sprintf("Step %d.", s.done), Calls: []provider.Call{{Name: "exec", Input: code}}}
	}
	for name := range tools {
		if name != "recall" {
			return provider.Answer{Calls: []provider.Call{{Name: name, Args: fmt.Sprintf(`{"n":%d}`, s.done)}}}
		}
	}
	return provider.Answer{Text: "There is nothing to do."}
}

// command returns a shell command that prints different lines at every step.
func (s *script) command() string {
	return fmt.Sprintf("seq 1 %d | sed 's/.*/step %d line & of the file/'", s.lines, s.done)
}

// toolNames returns the names of the tools that a request declares, on any
// wire.
func toolNames(body []byte) map[string]bool {
	var req struct {
		Tools []tool
		Input json.RawMessage
	}
	_ = json.Unmarshal(body, &req)
	out := map[string]bool{}
	names(out, req.Tools)
	var items []struct {
		Type  string
		Tools []tool
	}
	_ = json.Unmarshal(req.Input, &items) // the input may be a text
	for _, it := range items {
		if it.Type == "additional_tools" {
			names(out, it.Tools)
		}
	}
	delete(out, "")
	return out
}

// tool is the declaration of a tool, or of several, on any wire.
type tool struct {
	Type, Name           string
	Function             struct{ Name string }
	FunctionDeclarations []struct{ Name string }
	Tools                []tool // of a namespace
}

func names(out map[string]bool, tools []tool) {
	for _, t := range tools {
		for _, d := range t.FunctionDeclarations {
			out[d.Name] = true
		}
		names(out, t.Tools)
		if t.Type != "namespace" {
			out[t.Name] = true
		}
		out[t.Function.Name] = true
	}
}

// stats summarizes the requests so far.
type stats struct {
	Steps    int            `json:"steps"`
	Requests int            `json:"requests"`
	Status   map[int]int    `json:"status"`            // number of model calls by HTTP status
	Refused  []string       `json:"refused,omitempty"` // why each request with status 400 was refused
	Largest  int            `json:"largest"`           // largest prompt, in tokens
	Same     float64        `json:"same"`              // share of the prompts' bytes that are also the beginning of the next prompt
	Shares   []float64      `json:"shares"`            // the same, request by request
	Others   map[string]int `json:"elsewhere"`         // requests that are not model calls
}

func (s *script) stats() stats {
	s.mu.Lock()
	out := stats{Steps: s.done, Status: map[int]int{}, Others: map[string]int{}}
	s.mu.Unlock()
	var before []byte
	same, all := 0, 0
	for _, r := range s.Requests() {
		if r.Wire == "" {
			out.Others[r.Method+" "+r.Path]++
			continue
		}
		out.Requests++
		out.Status[r.Status]++
		out.Largest = max(out.Largest, r.Prompt)
		if r.Status == http.StatusBadRequest {
			out.Refused = append(out.Refused, s.why(r))
		}
		if len(toolNames(r.Body)) == 0 {
			continue
		}
		prompt := promptOf(r.Body)
		if before != nil {
			n := shared(before, prompt)
			same += n
			all += len(before)
			out.Shares = append(out.Shares, float64(100*n/len(before))/100)
		}
		before = prompt
	}
	if all > 0 {
		out.Same = float64(same) / float64(all)
	}
	return out
}

// why returns the reason why a request was refused.
func (s *script) why(r provider.Request) string {
	if found := s.Judge(r.Wire).Judge(r.Body); len(found) > 0 {
		return found[0].Rule + ": " + found[0].Text
	}
	return "too long"
}

// marks matches cache marks, which move from call to call.
var marks = regexp.MustCompile(`,"cache_control":\{[^{}]*\}`)

// promptOf returns a body in the order in which a provider reads it: tools
// first, wherever they are in the body, and without cache marks.
func promptOf(body []byte) []byte {
	var all map[string]json.RawMessage
	_ = json.Unmarshal(body, &all)
	var out []byte
	for _, name := range []string{"tools", "instructions", "system", "systemInstruction", "messages", "input", "contents"} {
		out = append(out, bytes.TrimSuffix(all[name], []byte("]"))...)
	}
	return marks.ReplaceAll(out, nil)
}

// shared returns the length of the common prefix of two bodies.
func shared(a, b []byte) int {
	n := min(len(a), len(b))
	if bytes.Equal(a[:n], b[:n]) {
		return n
	}
	for i := range n {
		if a[i] != b[i] {
			return i
		}
	}
	return n
}

// ServeHTTP implements http.Handler.
func (s *script) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == http.MethodGet && r.URL.Path == "/stats" {
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(s.stats())
		return
	}
	if r.Header.Get("Upgrade") != "" {
		http.Error(w, "upgrade required", http.StatusUpgradeRequired)
		return
	}
	if s.record != nil {
		body, err := s.record.request(r)
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		r.Body = io.NopCloser(bytes.NewReader(body))
	}
	s.Server.ServeHTTP(w, r)
}
