package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// containerTools are programs that run containers.
var containerTools = []string{"docker", "podman", "nerdctl"}

// containerID matches the line in which such a program prints the id of a container that it started.
var containerID = lazy.Compile(`(?m)^[0-9a-f]{12}(?:[0-9a-f]{52})?\r?$`)

// containers returns the named containers that a call started in the background. They run even if a
// later part of the command failed, so the id in the output decides.
func (c *Call) containers(step int) (out []process) {
	if !containerID.MatchString(c.Result[:min(len(c.Result), 4*edge)]) {
		return nil
	}
	for _, simple := range shell.Split(shell.OneLine(c.Command())) {
		w := shell.WithoutPrefix(shell.Fields(simple))
		if len(w) < 3 || !slices.Contains(containerTools, w[0]) || w[1] != "run" || !slices.ContainsFunc(w, detaches) {
			continue
		}
		for i, word := range w {
			name, ok := strings.CutPrefix(word, "--name=")
			if !ok && word == "--name" && i+1 < len(w) {
				name, ok = w[i+1], true
			}
			if ok {
				out = append(out, process{step, prose.Squash(simple), "container " + name})
			}
		}
	}
	return out
}

// detaches reports whether an option of docker run starts the container in the background.
func detaches(word string) bool {
	return word == "--detach" || strings.HasPrefix(word, "-") && !strings.HasPrefix(word, "--") && strings.Trim(word[1:], "dit") == "" && strings.Contains(word, "d")
}

// endsContainer reports whether a command stops or removes a container.
func endsContainer(cmd, name string) bool {
	return shell.Any(cmd, func(simple string) bool {
		w := shell.Fields(simple)
		return len(w) > 2 && slices.Contains(containerTools, w[0]) && slices.Contains([]string{"stop", "rm", "kill"}, w[1]) && slices.Contains(w[2:], strings.ToLower(name))
	})
}
