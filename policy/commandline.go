package policy

import (
	"encoding/json"
	"iter"
	"path"
	"regexp"
	"slices"
	"strings"
)

// viewers are programs that print the content of files or of other sources; their
// output says nothing about a run. setups are words that prepare the next command, or
// that do not print the content of a file. carriers are words that run the command
// after them.
var (
	viewers = []string{"cat", "sed", "head", "tail", "less", "more", "nl", "tac", "bat", "zcat", "xxd", "strings", "awk", "grep", "egrep", "rg", "git", "gh", "ls", "find", "diff", "jq", "yq", "curl", "journalctl", "type", "Get-Content"}
	setups  = []string{"cd", "pushd", "export", "set", "source", ".", "echo", "printf", "mkdir", "sleep", "for", "while", "case", "done", "fi", "esac", "}", ")", "true", ":", "wait", "trap"}

	carriers = []string{"sudo", "time", "nohup", "env", "exec", "command", "(", "{", "!", "if", "then", "else", "do"}
)

// deeds are the subcommands of git and gh that change something. shown are the
// subcommands of git that only print; "" stands for git without a subcommand. All other
// subcommands of git count as neither, because they do not print their outcome.
var (
	deeds = []string{"add", "commit", "push", "pull", "merge", "rebase", "cherry-pick", "revert", "am", "apply", "clone", "create", "close", "edit", "reopen"}
	shown = []string{"log", "show", "diff", "blame", "grep", "cat-file", "ls-files", "reflog", "shortlog", ""}
)

// shells matches a shell before the command line that it runs.
var shells = regexp.MustCompile(`\A(?:/usr)?(?:/bin/)?(?:bash|sh|zsh) -l?c ["']?`)

// A commandLine describes a command by the arguments of its call.
type commandLine struct {
	does   bool   // the command does something, and shows nothing before that
	shows  bool   // after that, it shows a file that none of its earlier commands names
	prints string // text that it prints literally, by echo or printf
}

// mostPrinted is the largest size of commandLine.prints, in bytes.
const mostPrinted = 4 << 10

func readCommand(arguments json.RawMessage) (c commandLine) {
	var args map[string]json.RawMessage
	if json.Unmarshal(arguments, &args) != nil {
		return c
	}
	named := map[string]bool{} // words of the commands so far, including the files that they wrote
	for _, key := range commandKeys {
		text := shells.ReplaceAllString(strings.TrimSpace(words(args[key])), "")
		for command := range simpleCommands(text) {
			does, shows := classify(command)
			switch {
			case shows && !c.does:
				return c
			case shows:
				c.shows = c.shows || showsOther(command, named)
			}
			c.does = c.does || does
			for word := range strings.FieldsSeq(command) {
				named[strings.Trim(word, `>&'"`)] = true
			}
			if at := max(strings.Index(command, "echo "), strings.Index(command, "printf ")); at >= 0 {
				c.prints += command[at:min(len(command), max(at, at+mostPrinted-len(c.prints)))]
			}
		}
	}
	return c
}

// showsOther reports whether a viewer shows a file that the commands before it do not
// name.
func showsOther(command string, named map[string]bool) bool {
	command, _, _ = strings.Cut(command, "|")
	file := ""
	words := strings.Fields(command)
	if len(words) == 0 || words[0] == "git" || words[0] == "gh" || words[0] == "ls" {
		return false
	}
	for _, word := range words[1:] {
		if word[0] != '-' && strings.Trim(word, "0123456789") != "" && !strings.Contains(word, ">") {
			file = strings.Trim(word, `'"`)
		}
	}
	return file != "" && !named[file]
}

// classify reports whether a simple command does something, or shows something. Both
// are false for a command that prepares other commands, and for a cat or sed -i that writes
// a file.
func classify(command string) (does, shows bool) {
	words := strings.Fields(strings.TrimLeft(command, "( "))
	for len(words) > 0 && (strings.Contains(words[0], "=") || slices.Contains(carriers, words[0]) || words[0] == "timeout") {
		words = words[min(1+strings.Count(words[0], "timeout"), len(words)):] // timeout also has a duration
	}
	if len(words) == 0 {
		return false, false
	}
	name := path.Base(words[0])
	switch {
	case slices.Contains(setups, name), name == "sed" && len(words) > 1 && strings.HasPrefix(words[1], "-i"):
		return false, false
	case name == "cat" && (strings.Contains(command, "> ") || strings.Contains(command, "<<")):
		return false, false
	case name == "git":
		sub := gitVerb(words[1:])
		return slices.Contains(deeds, sub), slices.Contains(shown, sub)
	case name == "gh":
		does = slices.ContainsFunc(words[1:min(len(words), 3)], func(w string) bool { return slices.Contains(deeds, w) })
		return does, !does
	}
	shows = slices.Contains(viewers, name) || slices.Contains(words[1:min(len(words), 3)], "logs")
	return !shows, shows
}

// gitVerb returns the subcommand of git: the first word after its options.
func gitVerb(words []string) string {
	for len(words) > 0 && words[0][0] == '-' {
		n := 1
		if words[0] == "-C" || words[0] == "-c" {
			n = 2
		}
		words = words[min(n, len(words)):]
	}
	if len(words) == 0 {
		return ""
	}
	return words[0]
}

// simpleCommands splits a command line at line ends, at ; and at &&, but not inside
// quotes. It leaves out comments and the text of here-documents.
func simpleCommands(text string) iter.Seq[string] {
	return func(yield func(string) bool) {
		var quote byte
		start := 0
		for i := 0; i < len(text); i++ {
			switch c := text[i]; {
			case quote != 0:
				if c == quote {
					quote = 0
				}
			case c == '\'' || c == '"':
				quote = c
			case c == '#' && strings.TrimSpace(text[start:i]) == "":
				end := strings.IndexByte(text[i:], '\n')
				if end < 0 {
					end = len(text) - i
				}
				i += end
				start = i
			case c == '\n' || c == ';' || strings.HasPrefix(text[i:], "&&"):
				command := strings.TrimSpace(text[start:i])
				if !yield(command) {
					return
				}
				switch c {
				case '\n':
					i = hereEnd(command, text, i)
				case '&':
					i++
				}
				start = min(i+1, len(text))
			}
		}
		yield(strings.TrimSpace(text[min(start, len(text)):]))
	}
}

// hereEnd returns the end of the here-document that command begins, or i if command
// begins none. i is the end of the command's line.
func hereEnd(command, text string, i int) int {
	_, word, ok := strings.Cut(command, "<<")
	if name := strings.Fields(strings.TrimLeft(word, "-")); ok && len(name) > 0 {
		if at := strings.Index(text[i:], "\n"+strings.Trim(name[0], `'"\`)+"\n"); at >= 0 {
			return i + at + len(strings.Trim(name[0], `'"\`)) + 1
		}
		return len(text)
	}
	return i
}
