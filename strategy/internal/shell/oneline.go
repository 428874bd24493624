package shell

import (
	"slices"
	"strings"
)

// shellKeywords begin lines that are only a part of a command.
var shellKeywords = []string{"for", "while", "until", "if", "then", "else", "elif", "fi", "do", "done", "case", "esac", "select", "function", "{", "}", "[[", "[", "!"}

// OneLine joins the lines of a script of plain commands with "; ", so that the script is
// read and quoted like a line of commands. It returns every other script trimmed, but otherwise unchanged: a
// script with a here-document, a loop, a subshell, or quotes over several lines.
func OneLine(cmd string) string {
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
		if !Plain(line) || strings.HasSuffix(line, "|") || strings.HasSuffix(line, "&") || !IsCommandWord(word) || strings.HasPrefix(rest, "= ") || slices.Contains(shellKeywords, word) {
			return cmd
		}
		lines = append(lines, strings.TrimSuffix(line, ";"))
	}
	return strings.Join(lines, "; ")
}

// Flatten replaces the line ends of a script by ;, except quoted ones, and removes the
// comments at the beginning of commands.
func Flatten(script string) string {
	var b strings.Builder
	var quote byte
	start := true
	for i := 0; i < len(script); i++ {
		ch := script[i]
		switch {
		case quote != 0:
			if ch == quote {
				quote = 0
			}
		case start && ch == '#':
			for i+1 < len(script) && script[i+1] != '\n' {
				i++
			}
			continue
		case ch == '\'' || ch == '"':
			quote = ch
		case ch == '\\' && i+1 < len(script) && script[i+1] == '\n':
			i++
			ch = ' '
		case ch == '\n':
			ch = ';'
		}
		start = quote == 0 && ch == ';' || start && ch == ' '
		b.WriteByte(ch)
	}
	return b.String()
}

// InLoop returns the command behind the keyword of a loop or a condition, "" for a keyword
// alone and for the head of a loop over words.
func InLoop(simple string) string {
	for _, alone := range []string{"done", "fi", "do", "then", "else"} {
		if simple == alone {
			return ""
		}
	}
	word, rest, _ := strings.Cut(simple, " ")
	switch word {
	case "for":
		if fields := strings.Fields(rest); len(fields) > 1 && fields[1] == "in" && !strings.ContainsAny(rest, "$`(") {
			return ""
		}
	case "do", "then", "else", "if", "while", "until":
		return strings.TrimSpace(rest)
	}
	return simple
}
