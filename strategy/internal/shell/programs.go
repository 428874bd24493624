package shell

import (
	"slices"
	"strings"
)

// GlobalOptions lists, for programs with subcommands, the options before the subcommand
// that have a value: "kubectl -n shop set image" sets an image. All are in lower case.
var GlobalOptions = map[string][]string{
	"git":       {"-c", "--git-dir", "--work-tree", "--namespace", "--exec-path"},
	"kubectl":   {"-n", "--namespace", "--context", "--cluster", "--kubeconfig", "--user", "-s", "--server", "--token", "--as", "--request-timeout"},
	"helm":      {"-n", "--namespace", "--kube-context", "--kubeconfig"},
	"aws":       {"--profile", "--region", "--output", "--endpoint-url", "--query"},
	"gcloud":    {"--project", "--account", "--format", "--configuration"},
	"az":        {"--subscription", "--output", "-o"},
	"docker":    {"-h", "--host", "-c", "--context", "--config", "-l", "--log-level"},
	"terraform": {},
	"tofu":      {},
	"gh":        {"-r", "--repo"},
	"glab":      {"-r", "--repo"},
	"systemctl": {"-h", "--host", "-m", "--machine"},
	"alembic":   {"-c", "--config", "-x", "-n", "--name"},
}

// WithoutGlobals returns a simple command in lower case without the options between the
// program and its subcommand.
func WithoutGlobals(simple string) string {
	program, rest := CutWord(simple)
	valued, known := GlobalOptions[Base(program)]
	if !known || !strings.HasPrefix(rest, "-") {
		return simple
	}
	for strings.HasPrefix(rest, "-") {
		option, after := CutWord(rest)
		if rest = after; slices.Contains(valued, option) {
			_, rest = CutWord(rest)
		}
	}
	if rest == "" {
		return simple
	}
	return program + " " + rest
}

// ScriptRunners lists commands that run a script of a project. projectFlags lists flags
// that name the project: "npm --prefix ui run build" runs "npm run build" in ui.
var (
	ScriptRunners = []string{"npm", "pnpm", "yarn", "bun"}
	projectFlags  = []string{"--prefix", "-C", "-c", "--dir", "--cwd", "--filter", "--filter-prod", "-F", "-f", "-w", "--workspace", "--loglevel", "--reporter"}
)

// OfProject returns the words of a command, with the bare name of an installed program. If the command runs a script of a project,
// it leaves out the options of the runner and the words that name the project.
func OfProject(w []string) []string {
	w = Installed(w)
	if len(w) < 3 || !slices.Contains(ScriptRunners, w[0]) {
		return w
	}
	i := 1
	for i < len(w) {
		flag, _, whole := strings.Cut(w[i], "=")
		switch {
		case w[0] == "pnpm" && flag == "-w": // in the root of the workspace
			i++
		case slices.Contains(projectFlags, flag) && !whole, w[i] == "workspace" && w[0] == "yarn":
			i += 2
		case strings.HasPrefix(flag, "-"), w[0] == "yarn" && (flag == "workspaces" || flag == "foreach"):
			i++
		default:
			if w[0] == "yarn" && w[i] == "run" { // yarn runs the same script without this word
				i++
			}
			return append(w[:1:1], w[i:]...)
		}
	}
	return w[:1:1]
}
