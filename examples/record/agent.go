package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

// agent records a session while its tools do their work in root.
type agent struct {
	root     string
	log      bytes.Buffer
	messages int
	calls    int
	err      error
}

// call is one tool call of the script.
type call struct {
	tool string
	args map[string]string
}

func bash(command string) call { return call{"bash", map[string]string{"command": command}} }

func read(path string) call { return call{"read_file", map[string]string{"path": path}} }

func write(path, content string) call {
	return call{"write_file", map[string]string{"path": path, "content": content}}
}

func edit(path, old, replacement string) call {
	return call{"edit_file", map[string]string{"path": path, "old": old, "new": replacement}}
}

// dispatch gives a task to a sub-agent, which answers with a report block.
func dispatch(task, command string) call {
	return call{"dispatch", map[string]string{"task_id": task, "command": command}}
}

func (a *agent) say(m message.Message) {
	a.log.Write(openai.AppendJSONL(nil, m))
	a.messages++
}

func (a *agent) system(text string)    { a.say(message.System(text)) }
func (a *agent) developer(text string) { a.say(message.Developer(text)) }
func (a *agent) user(text string)      { a.say(message.User(text)) }
func (a *agent) answer(text string)    { a.say(message.Assistant(text)) }

// protected adds a user message that must never be removed.
func (a *agent) protected(text string) {
	m := message.User(text)
	m.Protected = true
	a.say(m)
}

// act is one round: the agent's text, its calls (parallel if there are
// several), and the real outputs of the tools.
func (a *agent) act(text string, calls ...call) {
	parts := make([]message.Part, len(calls))
	for i, c := range calls {
		a.calls++
		args, err := json.Marshal(c.args)
		if err != nil {
			a.err = errors.Join(a.err, err)
		}
		parts[i] = message.Call(fmt.Sprintf("call_%03d", a.calls), c.tool, string(args))
	}
	a.say(message.Assistant(text, parts...))
	for i, c := range calls {
		a.say(message.ToolResult(parts[i].CallID, a.clean(a.run(c))))
	}
}

// run runs a tool. A tool that fails states the failure in its output, as for
// an agent.
func (a *agent) run(c call) string {
	switch c.tool {
	case "bash":
		return a.bash(c.args["command"])
	case "read_file":
		data, err := os.ReadFile(filepath.Join(a.root, c.args["path"]))
		if err != nil {
			return "error: " + err.Error()
		}
		return string(data)
	case "write_file":
		path := filepath.Join(a.root, c.args["path"])
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return "error: " + err.Error()
		}
		if err := os.WriteFile(path, []byte(c.args["content"]), 0o644); err != nil {
			return "error: " + err.Error()
		}
		return fmt.Sprintf("wrote %d bytes to %s", len(c.args["content"]), c.args["path"])
	case "edit_file":
		return a.edit(c.args["path"], c.args["old"], c.args["new"])
	case "dispatch":
		return a.dispatch(c.args["task_id"], c.args["command"])
	}
	return "error: no tool " + c.tool
}

func (a *agent) bash(command string) string {
	cmd := exec.Command("bash", "-c", command)
	cmd.Dir = a.root
	cmd.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false")
	out, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Sprintf("%s\nexit status %d", out, exit.ExitCode())
	}
	if err != nil {
		return "error: " + err.Error()
	}
	return string(out)
}

func (a *agent) edit(path, old, replacement string) string {
	full := filepath.Join(a.root, path)
	data, err := os.ReadFile(full)
	if err != nil {
		return "error: " + err.Error()
	}
	if n := strings.Count(string(data), old); n != 1 {
		return fmt.Sprintf("error: the text occurs %d times in %s", n, path)
	}
	if err := os.WriteFile(full, []byte(strings.Replace(string(data), old, replacement, 1)), 0o644); err != nil {
		return "error: " + err.Error()
	}
	return "edited " + path
}

// dispatch runs a task and reports like a sub-agent: its log, and a block that
// must survive masking.
func (a *agent) dispatch(task, command string) string {
	started := time.Now()
	out := a.bash(command)
	report, err := json.Marshal(map[string]any{
		"task_id": task, "status": "completed", "command": command,
		"lines": strings.Count(out, "\n"), "failed": strings.Contains(out, "exit status"),
	})
	if err != nil {
		return "error: " + err.Error()
	}
	return fmt.Sprintf("[worker %s] %s\n%s[worker %s] done in %s\nBEGIN_DISPATCH_RESULT\n%s\nEND_DISPATCH_RESULT\n",
		task, command, out, task, time.Since(started).Round(time.Second), report)
}

var duration = regexp.MustCompile(`\b\d+(\.\d+)?(ns|µs|ms|s)\b`)

// clean removes data of this machine: the folder of the copy, and durations.
func (a *agent) clean(text string) string {
	text = strings.ReplaceAll(text, a.root, "/repo")
	text = strings.ReplaceAll(text, strings.TrimPrefix(a.root, "/"), "repo")
	lines := strings.SplitAfter(text, "\n")
	for i, line := range lines {
		if strings.HasPrefix(line, "ok ") || strings.HasPrefix(line, "FAIL") || strings.HasPrefix(line, "---") || strings.HasPrefix(line, "[worker") || strings.HasPrefix(line, "    ---") {
			lines[i] = duration.ReplaceAllString(line, "0.00s")
		}
	}
	return strings.Join(lines, "")
}
