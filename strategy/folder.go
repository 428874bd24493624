package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// folderArgs are names of the argument that says in which folder a command runs.
var folderArgs = []string{"workdir", "cwd", "working_dir", "working_directory", "chdir"}

// enterFolders replaces the relative paths of files by absolute paths in commands that ran
// in another folder than most commands. Otherwise such a path would name another file.
func (h *History) enterFolders() {
	times, most := map[string]int{}, ""
	h.eachCall(func(_ *Step, c *Call) {
		if dir := c.folder(); dir != "" {
			if times[dir]++; times[dir] > times[most] {
				most = dir
			}
		}
	})
	if len(times) < 2 {
		return
	}
	h.eachCall(func(_ *Step, c *Call) {
		if dir := c.folder(); dir != "" && dir != most {
			c.elsewhere = dir
			for i := range c.files {
				c.files[i].Path, c.files[i].From = shell.InFolder(dir, c.files[i].Path), shell.InFolder(dir, c.files[i].From)
			}
		}
	})
}

// folder returns the absolute folder in which a command ran, "" if the call does not name one.
func (c *Call) folder() string {
	dir := c.arg(folderArgs...)
	if fileops.Drive(dir) {
		return fileops.Key(dir)
	}
	if strings.HasPrefix(dir, "/") {
		return dir
	}
	return ""
}

// leastHome is the minimum number of files that commands must name in a folder before
// home returns it.
const leastHome = 3

// home returns the absolute folder of the session, with a slash at its end. It is the
// folder of more than half of the files that commands name after a change of folder. home
// returns "" if there is none, or if the folder is for temporary files.
func (h *History) home() string {
	times, all := map[string]int{}, 0
	h.eachCall(func(_ *Step, c *Call) {
		for _, f := range c.files {
			if dir, ok := strings.CutSuffix(f.Path, f.Named); ok && f.Named != "" {
				times[dir]++
				all++
			}
		}
	})
	for dir, n := range times {
		if n >= leastHome && 2*n > all && dir[0] == '/' && !temporary(dir) {
			return dir
		}
	}
	return ""
}

// leaveHome replaces the absolute paths of files in the session's folder by the relative
// names in the commands, because most of the session uses these names.
func (h *History) leaveHome(home string) {
	h.eachCall(func(_ *Step, c *Call) {
		for i := range c.files {
			f := &c.files[i]
			if named := strings.TrimPrefix(f.Named, "./"); home != "" && named != "" && f.Path == home+named {
				h.full[f.Named], h.full[named] = f.Path, f.Path
				f.Path, f.From, f.Named = named, strings.TrimPrefix(f.From, home), ""
			}
		}
	})
}
