package strategy

import (
	"slices"
	"strings"
)

// quietWords of a command that checks change what it prints, and not what it
// checks.
var quietWords = []string{"-v", "-vv", "-q", "-s", "--", "--verbose", "--quiet", "--silent", "--color", "--no-color", "-count=1", "./...", "--tb=short", "--tb=long", "--tb=no"}

// narrowWords choose some of what a command checks; the word behind them says
// which.
var narrowWords = []string{"-run", "--run", "-k", "-t", "-g", "--grep", "--filter", "--testNamePattern"}

// groupWords begin commands of which the next word says what they check.
var groupWords = []string{"pnpm run", "nx", "mvn", "gradle", "./gradlew", "npx playwright", "ruff", "golangci-lint"}

// rerun names a check, so that it is known when it is run again in another form:
// through another filter, told to print more, or for all in place of a part. own
// is the same for two forms that check the same; covered are the names of the
// runs that settle it when they pass, own among them.
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
		return cmd, []string{cmd} // more than one, or a script
	}
	name := func(w []string) string { return dir + "\x00" + strings.Join(w, "\x00") }
	own = name(words)
	covered = []string{own}
	for k := len(words) - 1; k >= from && narrows(words[k:]); k-- {
		covered = append(covered, name(words[:k]))
	}
	return own, covered
}

// checkWords returns how many words of a command say which check it is; 0 = it
// is none.
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

// checked are the words of a command that say what it checks.
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

// ofItsFolder reports whether a command of go names no package: it checks the one of
// its folder then, and not all of them.
func ofItsFolder(all, checked []string) bool {
	named := func(s string) bool { return strings.HasPrefix(s, ".") || strings.Contains(s, "/") }
	return all[0] == "go" && !slices.Contains(all, "./...") && !slices.ContainsFunc(checked, named)
}

// narrows reports whether words do nothing but choose a part of what is checked.
func narrows(words []string) bool {
	for _, w := range words {
		flag, _, _ := strings.Cut(w, "=")
		if strings.HasPrefix(w, "-") && !slices.Contains(narrowWords, flag) {
			return false
		}
	}
	return true
}

// reruns are checks that failed, by the names of the runs that settle them.
type reruns map[string][]string

func (r reruns) wait(cmd string) {
	_, covered := rerun(cmd)
	for _, name := range covered {
		r[name] = append(r[name], cmd)
	}
}

// settle returns the commands that are settled by a run that passed.
func (r reruns) settle(cmd string) []string {
	own, _ := rerun(cmd)
	settled := r[own]
	delete(r, own)
	return settled
}
