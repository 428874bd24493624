package shell

import (
	"path"
	"strings"
)

// Enters returns the folder to which a simple command changes from dir. ok reports whether
// the command changes the folder. The folder is "" if it can't be known.
func Enters(simple, dir string) (to string, ok bool) {
	w := Fields(simple)
	if len(w) == 0 || w[0] != "cd" && w[0] != "pushd" {
		return "", false
	}
	if len(w) != 2 || w[1] == "-" || strings.ContainsAny(w[1], "$`*?(){}\\") {
		return "", true
	}
	return InFolder(dir, w[1]), true
}

// InFolder returns path p joined to dir, the folder to which it is relative. It returns
// an absolute path unchanged.
func InFolder(dir, p string) string {
	if dir == "" || p == "" || strings.ContainsRune("/~", rune(p[0])) || len(p) > 1 && p[1] == ':' {
		return p
	}
	return path.Join(dir, p)
}
