package fileops

import (
	"path"
	"slices"
	"strings"
	"unicode"

	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// OfCommand returns the file operations that a command line performs. It
// recognizes the forms that agents use, and skips everything else rather than
// guess.
func OfCommand(cmd string) []Op { return OfStopped(cmd, -1) }

// OfStopped returns the file operations of a command line whose script, in a here-document
// or an option, ran only its first lines, because it raised an exception. A negative number
// of lines stands for all.
func OfStopped(cmd string, ran int) []Op {
	var out []Op
	if i := strings.Index(cmd, "*** Begin Patch"); i >= 0 {
		return OfPatch(cmd[i:])
	}
	cmd = shell.WithoutHereStrings(cmd)
	heredoc, dir, script, at := "", "", -1, 0 // script is the place of a script in cmd
	for raw := range strings.Lines(cmd) {
		line := strings.TrimSpace(raw)
		if at += len(raw); heredoc != "" {
			if line == heredoc && script >= 0 {
				out, script = inFolders(out, scriptOps(firstLines(cmd[script:at], ran)), dir), -1
			}
			if line == heredoc {
				heredoc = ""
			}
			continue
		}
		if heredoc = shell.HeredocEnd(line); heredoc != "" && RunsScript(line) {
			script = at
		}
		for _, simple := range shell.Split(line) {
			if to, ok := shell.Enters(simple, dir); ok {
				if dir = to; dir == "" && entersTemporary(simple, cmd) {
					dir = throwaway
				}
				continue
			}
			out = inFolders(out, writtenBack(out, SimpleOps(simple)), dir)
			if heredoc == "" && prose.HasAny(simple, []string{"python -c ", "python3 -c ", "node -e "}) {
				out = inFolders(out, scriptOps(firstLines(cmd[at-len(raw):], ran)), dir)
			}
		}
		if len(out) > 40 {
			break
		}
	}
	return out
}

// firstLines returns the first n lines of a text, all if n is negative.
func firstLines(text string, n int) string {
	end := 0
	for line := range strings.Lines(text) {
		if n == 0 {
			return text[:end]
		}
		n, end = n-1, end+len(line)
	}
	return text
}

// inFolders appends operations in a folder. It leaves out files in a new temporary folder,
// because their paths do not last.
func inFolders(out, more []Op, dir string) []Op {
	for _, f := range more {
		if f = f.in(dir); !strings.HasPrefix(f.Path, throwaway) {
			out = append(out, f)
		}
	}
	return out
}

// throwaway stands for a folder that a command made with mktemp.
const throwaway = "\x00"

// entersTemporary reports whether a simple command changes to a folder that the command line made
// with mktemp: cd "$(mktemp -d)", or a variable with such a value.
func entersTemporary(simple, cmd string) bool {
	if strings.Contains(simple, "mktemp") {
		return true
	}
	w := shell.Fields(simple)
	name := strings.Trim(w[len(w)-1], "${}")
	return shell.IsVariable(name+"=") && (strings.Contains(cmd, name+"=$(mktemp") || strings.Contains(cmd, name+"=`mktemp"))
}

// SimpleOps reads one command without pipes.
func SimpleOps(cmd string) []Op {
	words := shell.Fields(cmd)
	for len(words) > 0 && (words[0] == "sudo" || strings.Contains(words[0], "=") || words[0] == "time") {
		words = words[1:]
	}
	if len(words) == 0 {
		return nil
	}
	var out []Op
	for i := 1; i < len(words); i++ {
		if w := words[i]; (w == ">" || w == ">>") && i+1 < len(words) {
			out = appendFiles(out, redirected(w), words[i+1])
		}
	}
	if more, ok := cmdletOps(words); ok {
		return append(out, more...)
	}
	args := shell.Operands(words[1:])
	switch shell.Base(words[0]) {
	case "cat", "head", "tail", "less", "more", "wc", "nl", "bat":
		if len(out) == 0 {
			out = appendFiles(out, Read, args...)
		}
	case "sed", "perl":
		out = appendFiles(out, sedOp(words), slices.DeleteFunc(args, isScript)...)
	case "tee":
		out = appendFiles(out, Created, args...)
	case "touch":
		out = appendFiles(out, Created, args...)
	case "rm", "unlink":
		out = appendFiles(out, Deleted, args...)
	case "mv":
		out = appendRename(out, args)
	case "cp":
		if len(args) == 2 {
			out = appendFiles(out, Created, args[1])
		}
	case "git":
		out = appendGit(out, words, args)
	case "python", "python3", "node", "bash", "sh", "ruby", "deno", "tsx", "npx":
		if len(args) > 0 {
			out = appendFiles(out, Ran, args[0])
		}
	}
	return out
}

// appendGit adds the files that a git command deletes, renames or takes back.
func appendGit(out []Op, words, args []string) []Op {
	switch {
	case len(args) > 1 && args[0] == "rm":
		return appendFiles(out, Deleted, args[1:]...)
	case len(args) > 1 && args[0] == "mv":
		return appendRename(out, args[1:])
	}
	return appendFiles(out, TookBack, takenBackFiles(words)...)
}

func redirected(w string) Kind {
	if w == ">>" {
		return Edited
	}
	return Created
}

// isScript reports whether an operand of sed is a script (s/old/new/, /old/d)
// and not a file.
func isScript(word string) bool {
	if pattern, does := strings.CutPrefix(word, "/"); does {
		at := strings.LastIndexByte(pattern, '/')
		return at > 0 && len(pattern) == at+2 && strings.ContainsRune("pdPD=lqQ", rune(pattern[at+1]))
	}
	word = strings.TrimLeft(word, "0123456789,$")
	if len(word) < 4 || word[0] != 's' && word[0] != 'y' {
		return false
	}
	mark := rune(word[1])
	return strings.ContainsRune("/|#,:@!~%", mark) && strings.Count(word[1:], string(mark)) >= 3
}

func sedOp(words []string) Kind {
	for _, w := range words {
		if strings.HasPrefix(w, "-i") || strings.HasPrefix(w, "-pi") {
			return Edited
		}
	}
	return Read
}

// appendFiles adds the operands that name files.
func appendFiles(out []Op, op Kind, paths ...string) []Op {
	for _, p := range paths {
		if IsPath(p) && !strings.HasPrefix(p, "/dev/") && !strings.ContainsAny(p, "$(){}=,;&!\\ ") {
			out = append(out, Op{Path: p, Op: op})
		}
	}
	return out
}

// appendRename adds the rename by an mv with two operands. The second operand is the new
// path, or the target folder.
func appendRename(out []Op, args []string) []Op {
	if len(args) != 2 || len(appendFiles(nil, Renamed, args[0])) == 0 {
		return out
	}
	to := args[1]
	if strings.HasSuffix(to, "/") {
		to += shell.Base(args[0])
	}
	n := len(out)
	if out = appendFiles(out, Renamed, to); len(out) > n {
		out[n].From = args[0]
	}
	return out
}

// takenBackFiles returns the operands of a git command that may name files, if the command
// reverts changes of files. A branch or a revision may be among them; findTakenBack drops every
// operand that names no changed file.
func takenBackFiles(words []string) []string {
	args := shell.Operands(words[1:])
	if len(args) < 2 {
		return nil
	}
	option := func(names ...string) bool {
		for _, w := range words[1:] {
			for _, n := range names {
				if w == n {
					return true
				}
			}
		}
		return false
	}
	switch {
	case args[0] == "checkout" && !option("-b", "-B", "-p", "--patch", "--ours", "--theirs"),
		args[0] == "restore" && !option("-p", "--patch") && (option("--worktree", "-W") || !option("--staged", "-S")):
		return slices.DeleteFunc(args[1:], mayBeVersion)
	}
	return nil
}

// mayBeVersion reports whether an operand may be a tag or a branch such as v1.2.3 or
// release/1.2: its extension has no letter.
func mayBeVersion(operand string) bool {
	ext := path.Ext(operand)
	return ext != "" && !strings.ContainsFunc(ext, unicode.IsLetter)
}
