package strategy

import (
	"path"
	"slices"
	"strings"
)

// harmlessFlags of go test change neither what is run nor how.
var harmlessFlags = []string{"-timeout", "-p", "-parallel", "-cover", "-coverprofile", "-json", "-failfast", "-count", "-shuffle"}

// goFlags are the flags of a go test that change what is run, sorted out from
// those that choose a part of it.
func goFlags(cmd string) []string {
	var out []string
	for _, simple := range splitCommands(cmd) {
		w := fields(simple)
		if n := slices.Index(w, "test"); n < 1 || base(w[n-1]) != "go" {
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

// narrowed reports whether a command chooses tests by their names.
func narrowed(cmd string) bool {
	for _, simple := range splitCommands(cmd) {
		words := fields(simple)
		for i, word := range words {
			flag, _, _ := strings.Cut(word, "=")
			if word == "-m" && i+1 < len(words) && slices.Contains([]string{"pytest", "unittest"}, words[i+1]) {
				continue // of python
			}
			if slices.Contains(narrowWords, flag) || slices.Contains([]string{"-skip", "-short", "-m", "--deselect", "--lf", "--last-failed"}, flag) {
				return true
			}
		}
	}
	return false
}

// showsAll reports whether a command shows all that its check prints: nothing behind
// it takes lines away, or it took none.
func showsAll(cmd, result string) bool {
	n := lines(result)
	for _, simple := range splitCommands(cmd) {
		w := fields(simple)
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

// lineCount is how many lines tail or head leave, 0 where they count otherwise.
func lineCount(args []string) int {
	n := 10
	for i, a := range args {
		switch number := strings.TrimLeft(strings.TrimPrefix(a, "-n"), "-"); {
		case a == "-n" && i+1 < len(args):
			number = args[i+1]
			fallthrough
		case isDigits(number) && number != "":
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

// folderIn is the folder that a command changes to before its check, with the mark
// that stands behind it before the name of a test.
func folderIn(cmd string) string {
	dir := ""
	for _, simple := range splitCommands(cmd) {
		w := checked(fields(simple))
		if checkWords(withoutPrefix(w)) > 0 {
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

// placeFlags say of which package, or with which parts of it, a check is. A name
// that it prints is another one in another of them.
var placeFlags = []string{"-p", "--package", "--manifest-path", "--features", "--test", "--bin", "--example", "--bench", "--prefix", "-w", "--workspace", "--root", "--rootDir", "--cwd", "-C", "--dir", "-c", "--config", "--project"}

// variantFlags are such flags without a value.
var variantFlags = []string{"--lib", "--bins", "--doc", "--release", "--all-features", "--no-default-features"}

// placeOf is where the names of files and of tests without a file are from: the
// folder, and what flags of the check say.
func placeOf(cmd string) string {
	place := folderIn(cmd)
	for _, simple := range splitCommands(cmd) {
		w := withoutPrefix(fields(simple))
		if checkWords(w) == 0 {
			continue
		}
		for i, word := range w {
			flag, value, ok := strings.Cut(word, "=")
			switch {
			case slices.Contains(variantFlags, word):
				place += word + "\x00"
			case !slices.Contains(placeFlags, flag):
			case ok:
				place += value + "\x00"
			case i+1 < len(w):
				place += w[i+1] + "\x00"
			}
		}
	}
	return place
}

// variables are those that a command sets for its check, in order.
func variables(cmd string) (out []string) {
	for _, simple := range splitCommands(cmd) {
		for _, word := range fields(simple) {
			if isVariable(word) {
				out = append(out, word)
			} else if !slices.Contains([]string{"export", "sudo", "time", "env", "set"}, word) {
				break
			}
		}
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// pytestPaths are the files, folders and tests that a run of pytest is of; none
// where it is of all, or of what an option chooses.
func pytestPaths(cmd string) []string {
	for _, simple := range splitCommands(cmd) {
		w := fields(simple)
		n := slices.IndexFunc(w, func(word string) bool { return base(word) == "pytest" })
		if n < 0 {
			continue
		}
		var out []string
		for _, word := range checked(w[n+1:]) {
			switch {
			case strings.HasPrefix(word, "-") && word != "-x":
				return nil
			case !strings.HasPrefix(word, "-"):
				out = append(out, folderIn(cmd)+strings.TrimSuffix(word, "/"))
			}
		}
		return out
	}
	return nil
}
