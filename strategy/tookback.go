package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// undoing lists beginnings of commands that undo changes.
var undoing = []string{"git checkout -- ", "git checkout head", "git checkout .", "git restore ", "git revert ", "git reset ", "git stash push", "git stash save", "git clean "}

// undoes reports whether a call undoes changes.
func (c *Call) undoes() bool {
	if c.Outcome == Failed || !c.Answered {
		return false
	}
	if strings.HasPrefix(strings.ToLower(c.Tool), "undo") || strings.HasPrefix(c.arg("command", "action", "operation"), "undo_") {
		return !strings.Contains(strings.ToLower(firstLine(c.Result)), "no edit history")
	}
	cmd := c.Command()
	if said := strings.ToLower(c.Result[:min(len(c.Result), edge)]); strings.Contains(said, "updated 0 paths") || strings.Contains(said, "no local changes to save") && c.stashes() {
		return false // there was nothing to undo
	}
	return cmd != "" && shell.Any(cmd, func(s string) bool {
		return prose.BeginsAny(s, undoing) && !strings.HasPrefix(s, "git restore --staged") || s == "git stash"
	})
}

// stashes reports whether a call puts changes aside with git stash, and undoes nothing else.
func (c *Call) stashes() bool {
	return !shell.Any(c.Command(), func(s string) bool { return prose.BeginsAny(s, undoing) && !strings.HasPrefix(s, "git stash") })
}

// popsAfter reports whether the changes that a call put aside came back in the same
// command or later. Such a stash only served to show how the code behaves without the
// changes.
func (h *History) popsAfter(step, call int) bool {
	pops := func(s string) bool {
		return strings.HasPrefix(s, "git stash pop") || strings.HasPrefix(s, "git stash apply")
	}
	for i := step; i < len(h.Steps); i++ {
		for k := range h.Steps[i].Calls {
			if c := &h.Steps[i].Calls[k]; (i > step || k >= call) && c.Answered && c.Outcome != Failed && shell.Any(c.Command(), pops) {
				return true
			}
		}
	}
	return false
}

const (
	tookBackValue = 1.3
	reasonLength  = 320 // characters of the reason why something was undone or given up
)

// tookBackLines returns lines about changes that were undone, with the reasons. Without
// these lines, a successor would try the changes again.
func (h *History) tookBackLines(section int) []Line {
	var out []Line
	for i := range h.Steps {
		s := &h.Steps[i]
		for k := range s.Calls {
			c := &s.Calls[k]
			if !c.undoes() || c.stashes() && h.popsAfter(i, k) {
				continue
			}
			text := c.tookBackText()
			if why := h.whyBefore(i); why != "" {
				text += ": " + why
			}
			out = append(out, Line{Section: section, Text: text + " " + stepID(s.ID), Value: tookBackValue * h.recency(s.ID), Order: s.ID})
			break
		}
	}
	return out
}

// tookBackText names what a call took back.
func (c *Call) tookBackText() string {
	for _, f := range c.files {
		if f.Op == fileops.TookBack && f.Last {
			return "took the last change of `" + f.Path + "` back"
		}
	}
	return "took changes back with " + c.name()
}

// whyBefore returns the reason that the assistant stated at a step, or in the
// last few steps before it, without announcements. The text of a step that changed files is
// about the change, not about the reason to take it back.
func (h *History) whyBefore(i int) string {
	for back := i; back >= 0 && back > i-4; back-- {
		s := &h.Steps[back]
		if s.user() || back < i && slices.ContainsFunc(s.Calls, func(c Call) bool { return c.changes() || c.undoes() }) {
			return ""
		}
		if s.Role != message.RoleAssistant {
			continue
		}
		text := s.Text
		if text == "" {
			text = s.Reasoning
		}
		if why := telling(text); why != "" {
			return why
		}
	}
	return ""
}

// telling returns the meaningful sentences of a text, beginning with the first.
func telling(text string) string {
	var said []string
	n := 0
	prose.Sentences(text, func(t string, heading bool) {
		if heading || leads(t) || quality(t) < 0.6 || narrates(t) && !finds(t) || n > reasonLength {
			return
		}
		n += len(t)
		said = append(said, t)
	})
	return prose.Clip(prose.Squash(strings.Join(said, " ")), reasonLength)
}
