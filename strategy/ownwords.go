package strategy

import (
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/effects"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// mostOwnWords is the maximum number of lines that are quoted of an effect with a look behind
// it.
const mostOwnWords = 2

// ownWords returns the lines in which the effects of a command report themselves, for a command
// that looks at a state afterwards: "git push && git status". The state is not the result of
// the effect.
func (c *Call) ownWords() string {
	parts := effects.Parts(c.Command())
	var out []string
	for line := range strings.Lines(bothEnds(testrun.Uncolored(body(c.Result)))) {
		line = prose.Squash(line)
		if len(out) < mostOwnWords && reportsEffect(line, parts) {
			out = prose.AppendNew(out, line)
		}
	}
	return prose.Clip(strings.Join(out, "; "), maxWords)
}

// reportsEffect reports whether a line of an output is the report of one of the effects.
func reportsEffect(line string, parts []string) bool {
	switch {
	case committed(line), published(line), installed(strings.ToLower(line)):
		return true
	case strings.HasPrefix(line, "https://") && !strings.Contains(line, " "):
		return anyBegins(parts, "gh ", "glab ")
	case strings.Contains(line, " -> "):
		return anyBegins(parts, "git push") && (strings.HasPrefix(line, "* [new ") || strings.Contains(firstField(line), ".."))
	case line == "Everything up-to-date":
		return anyBegins(parts, "git push")
	}
	return false
}

func anyBegins(parts []string, starts ...string) bool {
	for _, p := range parts {
		if prose.BeginsAny(p, starts) {
			return true
		}
	}
	return false
}

// looksAfterwards reports whether a command with an effect ends with a look at a state of git
// that is not the result of the effect. The newest line of the log describes a commit.
func (c *Call) looksAfterwards() bool {
	if c.Command() == "" || !c.attempts() {
		return false
	}
	last := ""
	shell.Any(c.Command(), func(simple string) bool {
		if simple = strings.TrimSpace(simple); simple != "" && !prose.BeginsAny(simple, []string{"tail", "head", "grep "}) {
			last = simple
		}
		return false
	})
	parts := effects.Parts(c.Command())
	switch {
	case len(parts) == 0:
		return false
	case strings.HasPrefix(last, "git log"):
		return anyBegins(parts[len(parts)-1:], "git push", "gh ", "glab ")
	}
	return strings.HasPrefix(last, "git status") || strings.HasPrefix(last, "git branch") && looksOnly(last)
}
