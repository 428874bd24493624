package strategy

import (
	"slices"
	"strings"
)

// shellKeywords begin lines that are only a part of a command.
var shellKeywords = []string{"for", "while", "until", "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "select", "function", "{", "}", "[[", "[", "!"}

// oneLine joins the lines of a script of plain commands with "; ", so that the script is
// read and quoted like a line of commands. It returns every other script unchanged: a
// script with a here-document, a loop, a subshell, or quotes over several lines.
func oneLine(cmd string) string {
	cmd = strings.TrimSpace(cmd)
	if !strings.Contains(cmd, "\n") || strings.Contains(cmd, "<<") {
		return cmd
	}
	var lines []string
	for line := range strings.SplitSeq(strings.ReplaceAll(cmd, "\\\n", " "), "\n") {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		word, rest, _ := strings.Cut(line, " ")
		if !plainShell(line) || strings.HasSuffix(line, "|") || strings.HasSuffix(line, "&") || !isCommandWord(word) || strings.HasPrefix(rest, "= ") || slices.Contains(shellKeywords, word) {
			return cmd
		}
		lines = append(lines, strings.TrimSuffix(line, ";"))
	}
	return strings.Join(lines, "; ")
}

// isCommandWord reports whether a word can name a command of a shell, unlike a word of
// another language.
func isCommandWord(word string) bool {
	return isVariable(word) || word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+$~") == ""
}
