package shell

import "strings"

// Background returns the commands of a command line that run on in the background: those before a
// single &, without their redirections. A command line that waits for them has none.
func Background(cmd string) (out []string) {
	if Any(WithoutHeredocs(cmd), func(s string) bool { return s == "wait" || strings.HasPrefix(s, "wait ") }) {
		return nil
	}
	for line := range strings.Lines(WithoutHeredocs(cmd)) {
		var quote byte
		start := 0
		for i := range len(line) {
			switch c := line[i]; {
			case quote != 0 && c == quote:
				quote = 0
			case quote != 0:
			case c == '\'' || c == '"':
				quote = c
			case c == ';' || c == '|' && (i == 0 || line[i-1] != '>'):
				start = i + 1
			case c == '&' && i+1 < len(line) && line[i+1] == '&':
				start = i + 2
			case c == '&' && !partOfSign(line, i):
				if simple := withoutRedirections(strings.Trim(line[start:i], " \t()")); simple != "" {
					out = append(out, simple)
				}
				start = i + 1
			}
		}
	}
	return out
}

// detaching are programs that only detach the command behind them from its terminal.
var detaching = map[string]bool{"nohup": true, "setsid": true, "exec": true, "disown": true}

// withoutRedirections returns a simple command without the files that it reads and writes, and
// without nohup.
func withoutRedirections(simple string) string {
	var out []string
	words := strings.Fields(simple)
	for i := 0; i < len(words); i++ {
		switch w := words[i]; {
		case w == ">" || w == ">>" || w == "<" || w == "2>" || w == "&>":
			i++
		case strings.HasPrefix(w, ">") || strings.HasPrefix(w, "2>") || strings.HasPrefix(w, "1>") || strings.HasPrefix(w, "&>") || strings.HasPrefix(w, "<"):
		case len(out) == 0 && detaching[w]:
		default:
			out = append(out, w)
		}
	}
	return strings.Join(out, " ")
}
