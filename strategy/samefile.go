package strategy

import (
	"strings"

	"github.com/agentcompact/compact/strategy/internal/fileops"
)

// findFolder finds the working folder, so that key recognizes a file by its relative and
// its absolute path. The working folder is the folder that home returns, or else the
// folder in which most relative paths are known files.
func (h *History) findFolder() {
	h.full = map[string]string{}
	h.enterFolders()
	folder := h.home()
	h.leaveHome(folder)
	absolute, relative := h.pathsUsed()
	if folder == "" {
		folder = workFolder(absolute, relative)
	}
	if folder == "" {
		return
	}
	for p := range relative {
		if full := folder + strings.TrimPrefix(p, "./"); absolute[full] {
			h.full[p] = full
		}
	}
}

// key returns the name by which a file is recognized.
func (h *History) key(p string) string {
	if full := h.full[p]; full != "" {
		return full
	}
	return fileops.Key(p)
}

// pathsUsed returns the absolute and the relative paths of the files that calls
// and the previous summary name.
func (h *History) pathsUsed() (absolute, relative map[string]bool) {
	absolute, relative = map[string]bool{}, map[string]bool{}
	note := func(p string) {
		switch {
		case p == "" || p[0] == '~' || strings.HasPrefix(p, "../"):
		case p[0] == '/', fileops.Drive(p):
			absolute[fileops.Key(p)] = true
		default:
			relative[p] = true
		}
	}
	for _, f := range h.Previous.files() {
		note(f.Path)
	}
	h.eachCall(func(_ *Step, c *Call) {
		for _, f := range c.files {
			note(f.Path)
			note(f.From)
		}
	})
	return absolute, relative
}

// leastSame is the minimum number of files that prove a working folder. A path with two
// folders counts as two files, because the same path in another place is improbable.
const leastSame = 2

// workFolder returns the folder, with a slash at its end, under which most relative paths
// give a known absolute path. It returns "" if too few relative paths do so, or if two
// folders have the same number of such paths.
func workFolder(absolute, relative map[string]bool) string {
	votes := map[string]int{}
	for p := range absolute {
		for i := 0; i < len(p); i++ {
			if p[i] == '/' && (relative[p[i+1:]] || relative["./"+p[i+1:]]) {
				votes[p[:i+1]] += min(strings.Count(p[i+1:], "/"), leastSame)
			}
		}
	}
	best, most := "", leastSame-1
	for folder, n := range votes {
		switch {
		case n > most:
			best, most = folder, n
		case n == most:
			best = ""
		}
	}
	return best
}
