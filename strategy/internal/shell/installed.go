package shell

import (
	"slices"
	"strings"
)

// Installed returns the words of a command with the bare name of an installed program: without
// the folder of the system or of an environment, and without the extension of Windows.
// "npm.cmd test" and ".venv/bin/python -m pytest" run the same programs as "npm test" and
// "python -m pytest". A program in another folder belongs to the project and keeps its path.
func Installed(w []string) []string {
	if len(w) == 0 {
		return w
	}
	name := w[0]
	if low := strings.ToLower(name); len(name) > 4 && slices.Contains(windowsExtensions, low[len(low)-4:]) {
		name = name[:len(name)-4]
	}
	path := strings.ToLower(strings.ReplaceAll(name, `\`, "/"))
	if at := strings.LastIndexByte(path, '/'); at > 0 && ofEnvironment(path[:at]) {
		name = name[at+1:]
	}
	if name == w[0] {
		return w
	}
	return append([]string{name}, w[1:]...)
}

// windowsExtensions are the extensions of programs, which a command may leave out.
var windowsExtensions = []string{".exe", ".cmd", ".bat", ".ps1"}

// environments name parts of the folders in which installers put programs.
var environments = []string{"/usr/", "/opt/", "/node_modules/", "env/", "conda", "/vendor/", "/.local/", "/nix/"}

// ofEnvironment reports whether a folder holds installed programs.
func ofEnvironment(dir string) bool {
	if last := Base(dir); last != "bin" && last != ".bin" && last != "scripts" {
		return false
	}
	return slices.ContainsFunc(environments, func(e string) bool { return strings.Contains("/"+dir, e) })
}
