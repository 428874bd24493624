package checks

import (
	"path"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// harmlessFlags lists flags of go test that change neither the set of tests nor the way
// in which they run.
var harmlessFlags = []string{"-timeout", "-p", "-parallel", "-cover", "-coverprofile", "-json", "-failfast", "-count", "-shuffle"}

// GoFlags returns the flags of a go test command that change how tests run. It leaves
// out harmlessFlags and the flags that select tests.
func GoFlags(cmd string) []string {
	var out []string
	for _, simple := range shell.Split(cmd) {
		w := shell.Fields(simple)
		if n := slices.Index(w, "test"); n < 1 || shell.Base(w[n-1]) != "go" {
			continue
		}
		for _, word := range checked(w) {
			flag, _, _ := strings.Cut(word, "=")
			if strings.HasPrefix(word, "-") && !slices.Contains(narrowWords, flag) && !slices.Contains(harmlessFlags, flag) {
				out = append(out, word)
			}
		}
	}
	return out
}

// Narrowed reports whether a command selects some of the tests.
func Narrowed(cmd string) bool {
	for _, simple := range shell.Split(cmd) {
		words := shell.Fields(simple)
		for i, word := range words {
			flag, _, _ := strings.Cut(word, "=")
			if word == "-m" && i+1 < len(words) && slices.Contains([]string{"pytest", "unittest"}, words[i+1]) {
				continue // python -m pytest
			}
			if slices.Contains(narrowWords, flag) || slices.Contains([]string{"-skip", "-short", "-m", "--deselect", "--lf", "--last-failed"}, flag) {
				return true
			}
		}
	}
	return false
}

// ShowsAll reports whether a command shows the whole output of its check. In that case,
// the command has no filter that removes lines, except a head or tail with a limit above
// the number of lines.
func ShowsAll(cmd, result string) bool {
	n := prose.CountLines(result)
	for _, simple := range shell.Split(cmd) {
		w := shell.Fields(simple)
		if len(w) == 0 {
			continue
		}
		switch w[0] {
		case "tail", "head":
			if most := lineCount(w[1:]); n >= most {
				return false
			}
		case "grep", "egrep", "rg", "sed", "awk", "cut", "sort", "uniq", "xargs":
			return false
		}
	}
	return true
}

// lineCount returns the number of lines that tail or head prints, by default 10.
// It returns 0 if they count bytes or start at a line number.
func lineCount(args []string) int {
	n := 10
	for i, a := range args {
		switch number := strings.TrimLeft(strings.TrimPrefix(a, "-n"), "-"); {
		case a == "-n" && i+1 < len(args):
			number = args[i+1]
			fallthrough
		case prose.IsDigits(number) && number != "":
			n = 0
			for _, d := range number[:min(len(number), 6)] {
				n = 10*n + int(d-'0')
			}
			return n
		case strings.HasPrefix(a, "-c") || strings.HasPrefix(number, "+"):
			return 0
		}
	}
	return n
}

// Folder returns the folder that a command enters before its check, followed by a NUL
// byte. The NUL byte separates the folder from the name of a test.
func Folder(cmd string) string {
	dir := ""
	for _, simple := range shell.Split(cmd) {
		w := checked(shell.Fields(simple))
		if checkWords(shell.WithoutPrefix(w)) > 0 {
			break
		}
		if len(w) != 2 || w[0] != "cd" && w[0] != "pushd" {
			continue
		}
		if path.IsAbs(w[1]) {
			dir = ""
		}
		dir = path.Join(dir, w[1])
	}
	return dir + "\x00"
}

// placeFlags lists flags that select the package of a check, or parts of it.
// The same test name means different tests for different values of these flags.
var placeFlags = []string{"-p", "--package", "--manifest-path", "--features", "--test", "--bin", "--example", "--bench", "--prefix", "-w", "--workspace", "--root", "--rootDir", "--cwd", "-C", "--dir", "-c", "--config", "--project"}

// packageFlags lists flags that select the package for a script of a package manager. In
// other commands these flags filter tests.
var packageFlags = []string{"--filter", "-F", "workspace"}

// variantFlags lists flags like placeFlags that have no value.
var variantFlags = []string{"--lib", "--bins", "--doc", "--release", "--all-features", "--no-default-features"}

// Place returns the scope of the file and test names in a check's output: the folder,
// the values of placeFlags and packageFlags, and the variantFlags of the command.
func Place(cmd string) string {
	place := Folder(cmd)
	for _, simple := range shell.Split(cmd) {
		w := shell.WithoutPrefix(shell.Fields(simple))
		if checkWords(w) == 0 {
			continue
		}
		for i, word := range w {
			flag, value, ok := strings.Cut(word, "=")
			switch {
			case slices.Contains(variantFlags, word):
				place += word + "\x00"
			case !slices.Contains(placeFlags, flag) && !(slices.Contains(packageFlags, flag) && slices.Contains(shell.ScriptRunners, w[0])):
			case ok:
				place += value + "\x00"
			case i+1 < len(w):
				place += w[i+1] + "\x00"
			}
		}
	}
	return place
}

// Variables returns the environment variables that a command sets for its
// check, sorted.
func Variables(cmd string) (out []string) {
	for _, simple := range shell.Split(cmd) {
		for _, word := range shell.Fields(simple) {
			if shell.IsVariable(word) {
				out = append(out, word)
			} else if !slices.Contains([]string{"export", "sudo", "time", "env", "set"}, word) {
				break
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// PytestPaths returns the files, folders and tests that a pytest command names. It
// returns nil if the command names no test, or has an option other than -x.
func PytestPaths(cmd string) []string {
	for _, simple := range shell.Split(cmd) {
		w := shell.Fields(simple)
		n := slices.IndexFunc(w, func(word string) bool { return shell.Base(word) == "pytest" })
		if n < 0 {
			continue
		}
		var out []string
		for _, word := range checked(w[n+1:]) {
			switch {
			case strings.HasPrefix(word, "-") && word != "-x":
				return nil
			case !strings.HasPrefix(word, "-"):
				out = append(out, Folder(cmd)+strings.TrimSuffix(word, "/"))
			}
		}
		return out
	}
	return nil
}
