package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// A process is a program that a command started in the background.
type process struct {
	step    int
	command string
	id      string // its number, or the id that the harness gave it; "" if neither is known
}

const (
	startedProcess = "started in the background: `"
	noEndOfIt      = "; no end of it stands in this part"
)

// processLines returns lines about programs that were started in the background, and that no later
// command ended or started again.
func (h *History) processLines(section int) (out []Line) {
	for _, p := range h.processes() {
		text := startedProcess + shortCommand(p.command) + "`"
		if p.id != "" {
			text += " (" + p.id + ")"
		}
		out = append(out, Line{Section: section, Text: text + noEndOfIt + " " + stepID(p.step), Value: failedValue * h.recency(p.step), Order: p.step})
	}
	return out
}

func (h *History) processes() (open []process) {
	h.eachCall(func(s *Step, c *Call) {
		cmd := c.Command()
		open = slices.DeleteFunc(open, func(p process) bool { return c.ends(&p) })
		if !c.Answered || c.over {
			return
		}
		for _, p := range c.containers(s.ID) {
			open = append(slices.DeleteFunc(open, func(old process) bool { return old.id == p.id }), p)
		}
		if c.Outcome == Failed {
			return
		}
		for _, started := range c.startsProcesses() {
			p := process{s.ID, started, c.processID()}
			if endsIn(cmd, started) {
				continue
			}
			open = slices.DeleteFunc(open, func(old process) bool { return program(old.command) == program(started) })
			open = append(open, p)
		}
	})
	return open
}

// startsProcesses returns the commands that a call started in the background.
func (c *Call) startsProcesses() []string {
	cmd := c.Command()
	if cmd == "" || c.runsCode() || len(cmd) > shell.MaxLine {
		return nil
	}
	out := slices.DeleteFunc(shell.Background(cmd), func(s string) bool {
		return slices.Contains([]string{"sleep", "echo", "wait", "cat", "tail", "true", "open"}, program(s)) || checks.Begins(strings.ToLower(s))
	})
	if len(out) == 0 && c.taskID() != "" && !c.Check() {
		out = append(out, prose.Squash(prose.LastLine(shell.WithoutHeredocs(cmd))))
	}
	return out
}

// program names the program of a command.
func program(cmd string) string {
	w := shell.WithoutPrefix(shell.Fields(cmd))
	if len(w) == 0 {
		return ""
	}
	if len(w) > 1 && slices.Contains([]string{"python", "python3", "node", "npm", "pnpm", "yarn", "npx", "go", "cargo", "make", "uv", "poetry", "bun", "deno", "java", "php", "ruby", "bundle"}, shell.Base(w[0])) {
		return strings.Join(w, " ")
	}
	return shell.Base(w[0])
}

// jobNumber matches the number of a process that a shell prints, "[1] 48213", and lastNumber the
// number at the end of an output, of echo $! with any words.
var (
	jobNumber  = lazy.Compile(`(?m)^\[\d+\] (\d+)$`)
	lastNumber = lazy.Compile(`(?:^|[^\d.:])(\d{2,7})$`)
)

// processID returns the number or the id of the process that a call started.
func (c *Call) processID() string {
	if id := c.taskID(); id != "" {
		return "id " + id
	}
	text := body(c.Result[:min(len(c.Result), edge)])
	if m := jobNumber.FindStringSubmatch(text); m != nil {
		return "pid " + m[1]
	}
	if m := lastNumber.FindStringSubmatch(strings.TrimSpace(text)); m != nil && strings.Contains(c.Command(), "$!") {
		return "pid " + m[1]
	}
	return ""
}

// killers are programs that end a process.
var killers = []string{"kill", "pkill", "killall", "fuser"}

// ends reports whether a call ends a process: by its number, its port, its name, or its id.
func (c *Call) ends(p *process) bool {
	kind, id, _ := strings.Cut(p.id, " ")
	if kind == "container" {
		return c.Outcome != Failed && endsContainer(c.Command(), id)
	}
	if cmd := c.Command(); cmd != "" && id == "" {
		return c.Outcome != Failed && (endsIn(cmd, p.command) || kills(cmd, func(w []string) bool { return len(w) > 0 && prose.IsDigits(w[len(w)-1]) }))
	} else if cmd != "" {
		return c.Outcome != Failed && endsIn(cmd, p.command) || id != "" && kills(cmd, func(w []string) bool { return slices.Contains(w, id) })
	}
	low := strings.ToLower(c.Tool)
	return id != "" && (strings.Contains(low, "kill") || strings.Contains(low, "stop")) && c.hasValue([]string{id})
}

// kills reports whether a simple command of a command line ends processes whose words f accepts.
func kills(cmd string, f func(words []string) bool) bool {
	return shell.Any(cmd, func(simple string) bool {
		w := shell.Fields(simple)
		at := slices.IndexFunc(w, func(s string) bool { return slices.Contains(killers, strings.TrimLeft(s, "$(`")) })
		return at >= 0 && (at == 0 || w[0] == "xargs") && f(w[at+1:])
	})
}

// endsIn reports whether a command line ends a process with this command: by its name, its port, or
// by a number that is not in the command line itself.
func endsIn(cmd, started string) bool {
	low := strings.ToLower(started)
	return kills(cmd, func(w []string) bool {
		operands := shell.Operands(w)
		switch {
		case len(operands) == 0, strings.HasPrefix(operands[0], "$("), strings.HasPrefix(operands[0], "`"):
			return onlyPorts(cmd, low)
		case strings.HasPrefix(operands[0], "$"), strings.HasPrefix(operands[0], "%"): // a variable, mostly of the last process
			return true
		}
		return slices.ContainsFunc(operands, func(s string) bool {
			s, _, _ = strings.Cut(s, "/")
			return !isShort(s) && strings.Contains(low, s)
		})
	})
}

// onlyPorts reports whether the ports that a command line names are among those of a process. A
// command line without a port means any process.
func onlyPorts(cmd, started string) bool {
	ports := ownPort.FindAllStringSubmatch(cmd, -1)
	for _, m := range ports {
		if strings.Contains(started, m[1]) {
			return true
		}
	}
	return len(ports) == 0
}

var ownPort = lazy.Compile(`:(\d{2,5})\b`)

// isShort reports whether a word is too short to name a process.
func isShort(word string) bool { return len(word) < 3 }

// endedSince reports whether a line of the previous summary is about a process that a call of this
// part ended or started again.
func (h *History) endedSince(line string) bool {
	_, rest, ok := strings.Cut(line, startedProcess)
	cmd, rest, closed := strings.Cut(rest, "`")
	if !ok || !closed || !strings.Contains(rest, noEndOfIt) {
		return false
	}
	p := process{command: cmd, id: between(rest, "(", ")")}
	found := false
	h.eachCall(func(_ *Step, c *Call) {
		found = found || c.ends(&p) || c.Outcome != Failed && slices.ContainsFunc(c.startsProcesses(), func(s string) bool { return program(s) == program(cmd) })
	})
	return found
}
