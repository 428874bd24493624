package strategy

import (
	"slices"
	"strings"
)

// quietWords change what a check prints, but not what it checks.
var quietWords = []string{"-v", "-vv", "-q", "-s", "--", "--verbose", "--quiet", "--silent", "--color", "--no-color", "-count=1", "./...", "--tb=short", "--tb=long", "--tb=no"}

// narrowWords select a part of what a command checks. The next word names the
// part.
var narrowWords = []string{"-run", "--run", "-k", "-t", "-g", "--grep", "--filter", "--testNamePattern"}

// groupWords are commands whose next word names what they check.
var groupWords = []string{"pnpm run", "nx", "mvn", "gradle", "./gradlew", "npx playwright", "ruff", "golangci-lint"}

// rerun returns names of a check, to recognize a later run in another form:
// through another filter, more verbose, or of everything instead of a part. own
// is equal for two forms that check the same. covered lists the names of runs
// that settle the check if they pass, own included.
func rerun(cmd string) (own string, covered []string) {
	words, from, dir, n := []string(nil), 0, "", 0
	for _, simple := range splitCommands(cmd) {
		w := fields(simple)
		for len(w) > 1 && (strings.Contains(w[0], "=") || slices.Contains([]string{"sudo", "time"}, w[0])) {
			w = w[1:]
		}
		if len(w) == 2 && w[0] == "cd" && n == 0 {
			dir = strings.TrimSuffix(w[1], "/")
		}
		if k := checkWords(w); k > 0 {
			words, from = checked(w), k
			if ofItsFolder(w, words) {
				words = append(words, ".")
			}
			n++
		}
	}
	if n != 1 || strings.ContainsRune(cmd, '\n') {
		return cmd, []string{cmd} // several checks, or a script
	}
	name := func(w []string) string { return dir + "\x00" + strings.Join(w, "\x00") }
	own = name(words)
	covered = []string{own}
	for k := len(words) - 1; k >= from && narrows(words[k:]); k-- {
		covered = append(covered, name(words[:k]))
	}
	return own, covered
}

// checkWords returns the number of words that identify the check in a command,
// 0 if it is none.
func checkWords(w []string) int {
	text := strings.ToLower(strings.Join(w, " "))
	for _, c := range checks {
		if strings.HasPrefix(text, c) {
			n := len(strings.Fields(c))
			if slices.Contains(groupWords, strings.TrimSpace(c)) {
				n++
			}
			return n
		}
	}
	return 0
}

// checked returns the words of a command that say what it checks.
func checked(words []string) (out []string) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == ">" || w == ">>" || w == "<":
			i++
		case slices.Contains(quietWords, w), strings.Contains(w, ">&"), strings.HasPrefix(w, ">"), strings.HasPrefix(w, "2>"), strings.HasPrefix(w, "&>"):
		default:
			out = append(out, w)
		}
	}
	return out
}

// ofItsFolder reports whether a go command names no package. Then it checks the
// package of its folder, and not all packages.
func ofItsFolder(all, checked []string) bool {
	named := func(s string) bool { return strings.HasPrefix(s, ".") || strings.Contains(s, "/") }
	return all[0] == "go" && !slices.Contains(all, "./...") && !slices.ContainsFunc(checked, named)
}

// narrows reports whether words only select a part of what is checked.
func narrows(words []string) bool {
	for _, w := range words {
		flag, _, _ := strings.Cut(w, "=")
		if strings.HasPrefix(w, "-") && !slices.Contains(narrowWords, flag) {
			return false
		}
	}
	return true
}

// reruns maps the names of runs that settle a failed check to the failed
// commands.
type reruns map[string][]string

func (r reruns) wait(cmd string) {
	_, covered := rerun(cmd)
	for _, name := range covered {
		r[name] = append(r[name], cmd)
	}
}

// settle returns the commands that a run of cmd that passed settles.
func (r reruns) settle(cmd string) []string {
	own, _ := rerun(cmd)
	settled := r[own]
	delete(r, own)
	return settled
}
