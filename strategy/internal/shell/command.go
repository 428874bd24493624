package shell

import (
	"iter"
	"strings"
)

// Split cuts a line at ; && || and |, outside of quotes.
func Split(line string) []string {
	var out []string
	for {
		simple := First(line)
		out = append(out, simple)
		if line = line[len(simple):]; line == "" {
			return out
		}
		line = strings.TrimLeft(line[1:], "|&")
	}
}

// First returns the first command of [Split], without a look at the others.
func First(line string) string {
	var quote byte
	for i := 0; i < len(line); i++ {
		switch c := line[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ';' || c == '|' || c == '&' && i+1 < len(line) && line[i+1] == '&':
			return line[:i]
		}
	}
	return line
}

// Commands returns the simple commands of a command line, each after the separator before it.
func Commands(line string) iter.Seq2[string, string] {
	return func(yield func(before, simple string) bool) {
		for before, pos := "", 0; pos <= len(line); {
			simple := First(line[pos:])
			pos += len(simple)
			if !yield(before, simple) {
				return
			}
			before = Separator(line[pos:])
			pos += max(1, len(before))
		}
	}
}

// Operands returns the words that are neither options nor redirections.
func Operands(words []string) []string {
	var out []string
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == ">" || w == ">>" || w == "<" || w == "<<":
			i++
		case strings.HasPrefix(w, "-") || strings.HasPrefix(w, "<<") || strings.Contains(w, ">&") || strings.HasPrefix(w, "2>"):
		default:
			out = append(out, w)
		}
	}
	return out
}

// Fields splits a command into words. It keeps a quoted text together and removes the quotes.
func Fields(cmd string) []string {
	var out []string
	var word strings.Builder
	var quote byte
	in := false
	for i := range len(cmd) {
		switch c := cmd[i]; {
		case quote != 0 && c == quote:
			quote = 0
		case quote == 0 && (c == '\'' || c == '"'):
			quote, in = c, true
		case quote == 0 && (c == ' ' || c == '\t'):
			if in {
				out = append(out, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteByte(c)
			in = true
		}
	}
	if in {
		out = append(out, word.String())
	}
	return out
}

// Base returns the name of a program without its folder.
func Base(cmd string) string { return cmd[strings.LastIndexByte(cmd, '/')+1:] }

// Any reports whether f holds for one of the simple commands of a
// command line. f gets them in lower case, without variables and wrappers
// such as sudo.
func Any(cmd string, f func(string) bool) bool {
	for line := range strings.Lines(cmd[:min(len(cmd), MaxLine)]) {
		for _, simple := range Split(strings.ToLower(line)) {
			simple = strings.TrimSpace(simple)
			for p := (prefix{}); ; {
				word, rest, ok := strings.Cut(simple, " ")
				if !ok || !p.has(word) && !strings.Contains(word, "=") {
					break
				}
				simple = strings.TrimSpace(rest)
			}
			if f(simple) {
				return true
			}
		}
	}
	return false
}

// MaxLine is the number of bytes of a command that are examined.
const MaxLine = 16 << 10

// IsCommandWord reports whether a word can name a command of a shell, unlike a word of
// another language.
func IsCommandWord(word string) bool {
	return IsVariable(word) || word != "" && strings.Trim(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./-+$~") == ""
}

// Separator returns the separator between two commands at the beginning of s.
func Separator(s string) string {
	if s == "" {
		return ""
	}
	return s[:len(s)-len(strings.TrimLeft(s[1:], "|&"))]
}

// Plain reports whether a command line is a single line of consecutive
// commands: no script, no subshell, no background process.
func Plain(cmd string) bool {
	var quote byte
	for i := range len(cmd) {
		switch c := cmd[i]; {
		case c == '\n':
			return false
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == '(' || c == ')' || c == '`':
			return false
		case c == '&' && !partOfSign(cmd, i):
			return false
		}
	}
	return quote == 0
}

// partOfSign reports whether the & at i is one of &&, |&, >& or &>.
func partOfSign(cmd string, i int) bool {
	return i > 0 && strings.IndexByte("&|>", cmd[i-1]) >= 0 || i+1 < len(cmd) && strings.IndexByte("&>", cmd[i+1]) >= 0
}

// launchers run the command behind them. timeout has options and a duration before it.
var launchers = []string{"sudo", "time", "timeout", "env"}

// WithoutPrefix removes variables and wrappers such as sudo from the beginning
// of a command.
func WithoutPrefix(w []string) []string {
	var p prefix
	for len(w) > 0 && p.has(w[0]) {
		w = w[1:]
	}
	return w
}

// A prefix recognizes, word by word, the variables and wrappers before a command.
type prefix struct {
	limits bool // the words are those of timeout, before its duration
	value  bool // the next word is the value of an option
}

// isDuration reports whether a word is a duration of timeout: 60, 1.5m.
func isDuration(word string) bool {
	unit := strings.TrimLeft(word, "0123456789.")
	return unit != word && (unit == "" || len(unit) == 1 && strings.Contains("smhd", unit))
}

// IsVariable reports whether a word sets a variable: NAME=value.
func IsVariable(word string) bool {
	name, _, ok := strings.Cut(word, "=")
	return ok && name != "" && strings.Trim(name, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_") == ""
}

// CutWord returns the first word of a command, with the quoted text in it, and the rest.
func CutWord(s string) (word, rest string) {
	s = strings.TrimLeft(s, " ")
	var quote byte
	for i := 0; i < len(s); i++ {
		switch c := s[i]; {
		case quote != 0:
			if c == quote {
				quote = 0
			}
		case c == '\'' || c == '"':
			quote = c
		case c == ' ':
			return s[:i], strings.TrimLeft(s[i:], " ")
		}
	}
	return s, ""
}
