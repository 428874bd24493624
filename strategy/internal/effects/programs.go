package effects

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// showingOptions make a command show what it would do, or show its help. shownByN lists
// commands for which -n has that meaning, even among other letters: "rsync -avn".
var (
	showingOptions = []string{"--dry-run", "--dryrun", "--check", "--simulate", "--whatif", "-whatif", "--just-print", "--no-act", "--noop", "--help"}
	shownByN       = []string{"zfs", "zpool", "rsync", "make", "git push", "git tag", "git clean"}
)

// onlyShows reports whether a simple command in lower case only shows what it would do.
func onlyShows(simple string) bool {
	by := slices.ContainsFunc(shownByN, func(p string) bool { return strings.HasPrefix(simple, p+" ") })
	for rest := simple; rest != ""; {
		var word string
		word, rest = shell.CutWord(rest)
		option, value, _ := strings.Cut(word, "=")
		switch {
		case !strings.HasPrefix(word, "-"):
		case slices.Contains(showingOptions, option):
			return value != "none" && value != "false"
		case by && word[1:] != "" && strings.Trim(word[1:], "abcdefghijklmnopqrstuvwxyz") == "" && strings.Contains(word, "n"):
			return true
		}
	}
	return false
}

// tryingWords are parts of the names of scripts and targets that only look at what a
// deployment would do: "make deploy-check".
var tryingWords = []string{"check", "checks", "dry", "plan", "diff", "status", "validate", "lint", "logs"}

// deploying lists beginnings of commands that run a script or a target of a project.
var deploying = []string{"./deploy", "./publish", "./release", "make deploy", "npm run deploy"}

// onlyTries reports whether a script or target whose name begins with a deed only looks.
func onlyTries(simple string) bool {
	for _, start := range deploying {
		if rest, ok := strings.CutPrefix(simple, start); ok {
			name, _, _ := strings.Cut(rest, " ")
			return slices.ContainsFunc(strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune("-_:.", r) }), func(part string) bool { return slices.Contains(tryingWords, part) })
		}
	}
	return false
}

// SaysWould reports whether the first or the last line of an output says that the command
// only shows what it would do.
func SaysWould(output string) bool {
	output = strings.ToLower(strings.TrimSpace(output))
	first, _, _ := strings.Cut(output, "\n")
	for _, line := range []string{first, prose.LastLine(output)} {
		if strings.HasPrefix(line, "would ") || prose.HasAny(line, []string{"(dry run)", "(dry-run)", "dry run:", "dry-run:", "[dry run]", "[dry-run]"}) {
			return true
		}
	}
	return false
}

// copiesOut reports whether a simple command in lower case copies files to another
// machine.
func copiesOut(simple string) bool {
	w := shell.Fields(simple)
	if len(w) < 3 {
		return false
	}
	switch args := shell.Operands(w[1:]); shell.Base(w[0]) {
	case "aws":
		return len(args) >= 4 && args[0] == "s3" && (args[1] == "cp" || args[1] == "sync") && strings.HasPrefix(args[3], "s3://")
	case "rsync", "scp":
		host, _, ok := strings.Cut(w[len(w)-1], ":")
		return ok && len(host) > 1 && !strings.Contains(host, "/") && !strings.HasPrefix(host, "-")
	}
	return false
}

// sqlClients are programs that send statements to a database.
var sqlClients = []string{"psql", "mysql", "mariadb"}

// ChangesRows reports whether a command runs a client of a database, and its output says
// that rows or tables were changed.
func ChangesRows(cmd, output string) bool {
	client := shell.Any(cmd, func(simple string) bool {
		program, _, _ := strings.Cut(simple, " ")
		return slices.Contains(sqlClients, shell.Base(program))
	})
	if !client {
		return false
	}
	for line := range strings.Lines(output) {
		w := strings.Fields(line)
		switch {
		case len(w) == 2 && (w[0] == "DELETE" || w[0] == "UPDATE"), len(w) == 3 && w[0] == "INSERT":
			if n := w[len(w)-1]; prose.IsDigits(n) && n != "0" {
				return true
			}
		case len(w) >= 2 && len(w) <= 3 && slices.Contains([]string{"CREATE", "ALTER", "DROP", "TRUNCATE"}, w[0]) && strings.Trim(strings.Join(w, ""), "ABCDEFGHIJKLMNOPQRSTUVWXYZ") == "":
			return true
		}
	}
	return false
}
