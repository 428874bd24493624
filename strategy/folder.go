package strategy

import (
	"path"
	"strings"
)

// enters returns the folder that a simple command changes to from dir, and
// whether it is such a command. The folder is "" if it can't be known.
func enters(simple, dir string) (to string, ok bool) {
	w := fields(simple)
	if len(w) == 0 || w[0] != "cd" && w[0] != "pushd" {
		return "", false
	}
	if len(w) != 2 || w[1] == "-" || strings.ContainsAny(w[1], "$`*?(){}\\") {
		return "", true
	}
	return inFolder(dir, w[1]), true
}

// inFolder returns a path as it reads outside of the folder that it is relative
// to.
func inFolder(dir, p string) string {
	if dir == "" || p == "" || strings.ContainsRune("/~", rune(p[0])) || len(p) > 1 && p[1] == ':' {
		return p
	}
	return path.Join(dir, p)
}

// in returns the operation with the paths that a command in a folder names.
func (f fileOp) in(dir string) fileOp {
	if p := inFolder(dir, f.Path); p != f.Path {
		f.Path, f.named = p, f.Path
	}
	f.From = inFolder(dir, f.From)
	return f
}

// leastHome is the minimum number of files that commands name in a folder for it
// to be where the session works.
const leastHome = 3

// home returns the absolute folder in which more than half of the commands that
// change their folder work, with a slash at its end; "" if there is none, or if
// it is one for temporary files.
func (h *History) home() string {
	times, all := map[string]int{}, 0
	h.eachCall(func(_ *Step, c *Call) {
		for _, f := range c.files {
			if dir, ok := strings.CutSuffix(f.Path, f.named); ok && f.named != "" {
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

// leaveHome gives the files of commands in that folder the names that the
// commands use: most of the session reads so.
func (h *History) leaveHome(home string) {
	h.eachCall(func(_ *Step, c *Call) {
		for i := range c.files {
			if f := &c.files[i]; home != "" && f.named != "" && f.Path == home+f.named {
				h.full[f.named] = f.Path
				f.Path, f.From, f.named = f.named, strings.TrimPrefix(f.From, home), ""
			}
		}
	})
}
