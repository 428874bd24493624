package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// A rollout is a change of a deployment by a command: it deploys a release, or it takes the last
// deployment back.
type rollout struct {
	of   string // program and deployment
	back bool
}

// rolloutOf reads a simple command of helm or kubectl. of is "" for any other command.
func rolloutOf(simple string) rollout {
	w := shell.Operands(shell.Fields(simple))
	switch {
	case len(w) > 2 && w[0] == "helm" && (w[1] == "upgrade" || w[1] == "install"):
		return rollout{of: "helm " + w[2]}
	case len(w) > 2 && w[0] == "helm" && (w[1] == "rollback" || w[1] == "uninstall"):
		return rollout{"helm " + w[2], true}
	case len(w) > 3 && w[0] == "kubectl" && w[1] == "set" && w[2] == "image":
		return rollout{of: "kubectl " + deployment(w[3:])}
	case len(w) > 3 && w[0] == "kubectl" && w[1] == "rollout" && w[2] == "undo":
		return rollout{"kubectl " + deployment(w[3:]), true}
	}
	return rollout{}
}

// deployment names a deployment in one form: kubectl takes "deploy/x", "deployment/x" and
// "deployment x".
func deployment(w []string) string {
	kind, name, ok := strings.Cut(w[0], "/")
	if !ok && len(w) > 1 {
		name = w[1]
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(kind, "s"), "ment"), ".apps") + "/" + name
}

// rollsOver describes what a later command did with the deployment that a command of an effect
// changed, "" if it did nothing.
func rollsOver(cmd, later string) string {
	for _, part := range effects.Parts(later) {
		now := rolloutOf(part)
		if now.of == "" || !slices.ContainsFunc(effects.Parts(cmd), func(p string) bool { return rolloutOf(p).of == now.of }) {
			continue
		}
		if now.back {
			return " (then rolled back "
		}
		return " (then deployed again "
	}
	return ""
}

// ranBefore is the text before the command in a line about an effect.
const ranBefore = "ran `"

// rolledSince returns a line of the previous summary about a deployment, with the first later
// change of the deployment.
func (h *History) rolledSince(line, open string) string {
	_, cmd, ok := strings.Cut(line, ranBefore)
	cmd, _, closed := strings.Cut(cmd, "`")
	if !ok || !closed {
		return line
	}
	h.eachCall(func(s *Step, c *Call) {
		if how := rollsOver(cmd, c.Command()); how != "" && c.Effect() {
			line = strings.Replace(line, open, how+stepID(s.ID)+")", 1)
		}
	})
	return line
}
