package checks

import (
	"cmp"
	"iter"
	"path"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/shell"
)

// quietWords change the output of a check, but not its scope.
var quietWords = []string{"-v", "-vv", "-q", "-s", "--", "--verbose", "--quiet", "--silent", "--color", "--no-color", "-count=1", "./...", "--tb=short", "--tb=long", "--tb=no"}

// repairWords let a check repair the problems that it finds. It has the same outcome as
// the check without these words.
var repairWords = []string{"--fix", "--write", "--apply"}

// narrowWords select a part of the scope of a check. The next word names the part.
var narrowWords = []string{"-run", "--run", "-k", "-t", "-g", "--grep", "--filter", "--testNamePattern"}

// groupWords are commands that need the next word to identify the check.
var groupWords = []string{"pnpm run", "nx", "mvn", "gradle", "./gradlew", "npx playwright", "ruff", "golangci-lint"}

// A Covering names one check of a command, to recognize a later run in another form:
// through another filter, more verbose, or of the whole instead of a part. The field own
// is equal for two forms with the same scope. The field covered lists the names of runs
// that settle the check if they pass, own included.
type Covering struct {
	Own     string
	Covered []string
}

// Of returns the checks of a command, whatever text its here-documents have. Several
// checks count one by one only if each check runs only after the previous check passed.
// Otherwise, they count as one check.
func Of(cmd string) []Covering {
	var out []Covering
	script := shell.WithoutHeredocs(cmd)
	for _, p := range partsOf(script) {
		out = append(out, p.Covering)
	}
	switch {
	case len(out) == 0:
		return []Covering{{cmd, []string{cmd}}}
	case len(out) > 1 && (strings.ContainsAny(script, ";\n") || strings.Contains(script, "||")):
		all := ""
		for _, c := range out {
			all += c.Own + "\x00\x00"
		}
		return []Covering{{all, []string{all}}}
	}
	return out
}

// A shellFolder follows the folder in which the parts of a command run. Checks with the
// same words in two folders are two checks.
type shellFolder struct {
	now, last string   // "" is the folder in which the command begins
	outer     []string // folders outside of the open parentheses
}

// within returns a part of a command without the parentheses of its subshells, and the
// number of subshells that end with it.
func (f *shellFolder) within(part string) (rest string, closed int) {
	rest = strings.TrimSpace(part)
	for strings.HasPrefix(rest, "(") {
		f.outer, rest = append(f.outer, f.now), strings.TrimSpace(rest[1:])
	}
	for strings.HasSuffix(rest, ")") && closed < len(f.outer) && strings.Count(rest, ")") > strings.Count(rest, "(") {
		closed, rest = closed+1, strings.TrimSpace(strings.TrimSuffix(rest, ")"))
	}
	return rest, closed
}

// change follows a change of the folder.
func (f *shellFolder) change(to string) {
	switch {
	case to == "-":
		f.now, f.last = f.last, f.now
		return
	case path.IsAbs(to) || strings.HasPrefix(to, "~") || strings.HasPrefix(to, "$"):
		to = strings.TrimSuffix(to, "/")
	default:
		to = path.Join(f.now, to)
	}
	if f.last = f.now; to == "." {
		to = ""
	}
	f.now = to
}

// leave follows the end of subshells, which returns to the folder before them.
func (f *shellFolder) leave(n int) {
	if n > 0 {
		f.now, f.outer = f.outer[len(f.outer)-n], f.outer[:len(f.outer)-n]
	}
}

// SimpleCommands returns the simple commands of all lines of a script.
func SimpleCommands(script string) iter.Seq[string] {
	return func(yield func(string) bool) {
		for line := range strings.Lines(script) {
			for _, simple := range shell.Split(strings.TrimSpace(line)) {
				if !yield(simple) {
					return
				}
			}
		}
	}
}

// cover returns the names of a check in a folder. The first words identify the kind of
// check; from is their number.
func cover(dir string, words []string, from int) Covering {
	name := func(w []string) string { return dir + "\x00" + strings.Join(w, "\x00") }
	c := Covering{Own: name(words)}
	c.Covered = []string{c.Own}
	for k := len(words) - 1; k >= from && narrows(words[k:]); k-- {
		c.Covered = append(c.Covered, name(words[:k]))
	}
	for k := from; k+1 < len(words); k++ {
		if !slices.Contains(narrowWords, words[k]) {
			continue
		}
		for _, wider := range widerPatterns(words[k+1]) {
			w := slices.Clone(words)
			w[k+1] = wider
			c.Covered = append(c.Covered, name(w))
		}
	}
	for k := len(words) - 1; k >= from && isOperand(words[k]); k-- {
		for _, folder := range commonFolders(words[k:]) {
			c.Covered = append(c.Covered, name(append(slices.Clone(words[:k]), folder)))
		}
	}
	return c
}

// widerPatterns returns the beginnings of the name of a test that also select it: of
// "TestOrder_Rejected/empty" these are "TestOrder_Rejected" and "TestOrder".
func widerPatterns(pattern string) (out []string) {
	if strings.ContainsAny(pattern, "|^$.*+?()[] ") {
		return nil
	}
	for i := len(pattern) - 1; i > 0; i-- {
		if pattern[i] == '/' || pattern[i] == '_' {
			out = append(out, pattern[:i])
		}
	}
	return out
}

// isOperand reports whether a word of a command is a path.
func isOperand(word string) bool {
	return !strings.HasPrefix(word, "-") && strings.ContainsAny(word, "/.")
}

// commonFolders returns the folders that contain all operands of a check, the nearest
// first, in the forms in which a wider check names them, and the file if an operand
// names a test in a file.
func commonFolders(operands []string) []string {
	var out []string
	file, _, inFile := strings.Cut(operands[0], "::")
	if inFile && len(operands) == 1 {
		out = append(out, file)
	}
	for d := path.Dir(file); d != "." && d != "/" && d != ".."; d = path.Dir(d) {
		if slices.ContainsFunc(operands, func(o string) bool { return !strings.HasPrefix(strings.TrimPrefix(o, "./"), d+"/") }) {
			continue
		}
		out = append(out, d, d+"/...", "./"+d, "./"+d+"/...")
	}
	return out
}

// Same reports whether two commands run the same checks.
func Same(a, b []Covering) bool {
	return slices.EqualFunc(a, b, func(x, y Covering) bool { return x.Own == y.Own })
}

// checkWords returns the number of words that identify the check in a command, 0 if the
// command is not a check.
func checkWords(w []string) int {
	plain := shell.OfProject(w)
	text := strings.ToLower(strings.Join(plain, " "))
	for _, c := range Commands {
		if strings.HasPrefix(text, c) {
			n := len(strings.Fields(c)) + len(w) - len(plain)
			if slices.Contains(groupWords, strings.TrimSpace(c)) {
				n++
			}
			return n
		}
	}
	return 0
}

// checked returns the words of a command that define the scope of its check.
func checked(words []string) (out []string) {
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == ">" || w == ">>" || w == "<":
			i++
		case slices.Contains(quietWords, w), slices.Contains(repairWords, w), strings.Contains(w, ">&"), strings.HasPrefix(w, ">"), strings.HasPrefix(w, "2>"), strings.HasPrefix(w, "&>"):
		default:
			w = strings.TrimSuffix(strings.TrimSuffix(w, ":fix"), ":write") // scripts that repair
			out = append(out, cmp.Or(strings.TrimSuffix(w, "/"), w))
		}
	}
	return out
}

// ofItsFolder reports whether a go command names no package. Such a command checks only
// the package of its folder.
func ofItsFolder(all, checked []string) bool {
	named := func(s string) bool { return strings.HasPrefix(s, ".") || strings.Contains(s, "/") }
	return all[0] == "go" && !slices.Contains(all, "./...") && !slices.ContainsFunc(checked, named)
}

// narrows reports whether words only select a part of the scope of a check.
func narrows(words []string) bool {
	for _, w := range words {
		flag, _, _ := strings.Cut(w, "=")
		if strings.HasPrefix(w, "-") && !slices.Contains(narrowWords, flag) {
			return false
		}
	}
	return true
}

// A failedRun is a failed command, with its checks that have not passed since the
// failure.
type failedRun struct {
	cmd  string
	left []Covering
}

// Reruns maps the names of runs that settle a failed check to the failed
// commands.
type Reruns map[string][]*failedRun

// Wait adds a failed command.
func (r Reruns) Wait(cmd string) {
	f := &failedRun{cmd, Of(cmd)}
	for _, c := range f.left {
		for _, name := range c.Covered {
			r[name] = append(r[name], f)
		}
	}
}

// Settle returns the failed commands that a passed run of cmd settles.
func (r Reruns) Settle(cmd string) (settled []string) {
	for _, c := range Of(cmd) {
		for _, f := range r[c.Own] {
			if f.passes(c.Own) {
				settled = append(settled, f.cmd)
			}
		}
		delete(r, c.Own)
	}
	return settled
}

// passes records that a run passed, and reports whether this run settled the last check.
func (f *failedRun) passes(own string) bool {
	before := len(f.left)
	f.left = NotPassed(f.left, own)
	return before > 0 && len(f.left) == 0
}

// NotPassed returns the checks that a passed run does not settle.
func NotPassed(left []Covering, own string) []Covering {
	return slices.DeleteFunc(slices.Clone(left), func(c Covering) bool { return slices.Contains(c.Covered, own) })
}
