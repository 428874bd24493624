package effects

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/shell"
)

// changingWords lists subcommands that change something outside of the session, for
// every program: "bd create", "npm run publish", "gcloud compute instances delete".
var changingWords = []string{"create", "delete", "destroy", "publish", "release", "deploy", "redeploy", "undeploy", "promote", "rollback", "send",
	"upload", "close", "reopen", "merge", "transfer", "revoke", "invite", "schedule", "trigger", "dispatch", "rerun", "add"}

// ownPrograms lists programs for which the words of changingWords mean something else,
// or which Commands covers: "grep create", "git add".
var ownPrograms = []string{"git", "hg", "svn", "jj", "echo", "printf", "cat", "ls", "grep", "rg", "egrep", "fgrep", "ag", "find", "fd", "sed", "awk", "man", "which", "type", "test", "head", "tail",
	"cd", "mkdir", "touch", "rm", "cp", "mv", "python", "python3", "node", "ruby", "perl", "bash", "sh", "zsh", "source", "export", "set", "alias", "for", "if", "while", "do", "then", "else", "case",
	"vim", "nano", "code", "open", "less", "wc", "sort", "uniq", "diff", "jq", "xargs", "kill", "pkill", "ps", "curl", "wget", "apply_patch", "history", "go", "cmake", "ninja", "ctest", "tree", "stat",
	"file", "strings", "nm", "objdump", "readelf", "ldd", "hexdump", "xxd", "od", "gdb", "strace", "ltrace", "decompile", "disassemble", "binwalk", "checksec", "md5sum", "sha256sum", "cmp", "comm", "search_dir", "search_file", "find_file"}

// mostSubcommands is the maximum number of words after the program in which a subcommand
// is looked for: "aws ec2 instances delete".
const mostSubcommands = 3

// subcommandChanges reports whether a simple command in lower case has a subcommand that
// changes something. The subcommands end at the first option, path or quoted text.
func subcommandChanges(simple string) bool {
	w := shell.OfProject(shell.WithoutPrefix(strings.Fields(simple)))
	for len(w) > 0 && (w[0] == "npx" || w[0] == "bunx" || w[0] == "exec" || w[0] == "nohup") {
		w = w[1:]
	}
	if len(w) < 2 || slices.Contains(ownPrograms, shell.Base(w[0])) || !shell.IsCommandWord(w[0]) {
		return false
	}
	if slices.Contains(w, "--help") || slices.Contains(w, "-h") || slices.Contains(w, "--dry-run") || slices.Contains(w, "help") {
		return false
	}
	for i, word := range w[1:min(len(w), 1+mostSubcommands)] {
		script, _, _ := strings.Cut(word, ":") // npm run release:minor
		switch {
		case slices.Contains(changingWords, word), shell.Base(w[0]) == "aws" && changesByVerb(word):
			return true
		case slices.Contains(AskingVerbs, word): // "bd show create"
			return false
		case i == 0 && shell.Base(w[0]) == "aws" && !strings.HasPrefix(word, "-"): // a service: "ec2"
		case strings.Trim(word, "abcdefghijklmnopqrstuvwxyz-:") != "" || strings.HasPrefix(word, "-"):
			return false
		case i > 0 && w[1] == "run" && slices.Contains(changingWords, script):
			return true
		}
	}
	return false
}

// cloudVerbs lists verbs of the operations of clouds that change something: "stop-instances".
var cloudVerbs = []string{"put", "modify", "update", "stop", "start", "terminate", "reboot", "attach", "detach", "associate", "disassociate", "register", "deregister", "enable", "disable", "run", "set", "restore", "purchase", "tag", "untag", "authorize", "copy"}

// changesByVerb reports whether an operation of a cloud has the name of a change.
func changesByVerb(operation string) bool {
	verb, object, ok := strings.Cut(operation, "-")
	return ok && object != "" && (slices.Contains(changingWords, verb) || slices.Contains(cloudVerbs, verb))
}
