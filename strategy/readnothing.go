package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// readsInVain reports whether a command that reads files printed nothing of them, and dropped
// the errors that would say why. Whether the files exist is unknown.
func (c *Call) readsInVain() bool {
	cmd := shell.WithoutHeredocs(c.Command())
	if cmd == "" || c.Exit > 0 || c.Exit == 0 && !hidesRead(cmd) || !dropsErrors(cmd) || strings.Contains(cmd, ">>") {
		return false
	}
	return c.silent() || strings.Contains(cmd, "||") && c.onlyEchoes(cmd)
}

// hidesRead reports whether the status zero of a command may hide that a file could not be read.
func hidesRead(cmd string) bool { return strings.ContainsAny(cmd, "|;\n") }

// withoutUnread removes the reading of files that the output of a command says are missing, or
// of which it shows nothing.
func (c *Call) withoutUnread(all []fileops.Op) []fileops.Op {
	vain := c.readsInVain()
	return slices.DeleteFunc(all, func(f fileops.Op) bool {
		return f.Op == fileops.Read && (vain || c.misses(f.Path) || f.Named != "" && c.misses(f.Named))
	})
}

// misses reports whether a program says that a file does not exist or can't be read.
func (c *Call) misses(file string) bool {
	return strings.Contains(c.Result, ": "+file+": No such file") || strings.Contains(c.Result, ": "+file+": Permission denied") || strings.Contains(c.Result, "cannot open '"+file+"'")
}
