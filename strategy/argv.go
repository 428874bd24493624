package strategy

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/shell"
)

// shells are programs that run a script from an option.
var shells = []string{"bash", "sh", "zsh", "dash", "ash", "powershell", "pwsh", "cmd"}

// listArgs are names of arguments that hold a command as a list of words.
var listArgs = []string{"command", "cmd", "argv"}

// asLine joins a command that is a list of words into one command line:
// ["bash", "-lc", "npm test"].
func (c *Call) asLine() {
	from := slices.IndexFunc(c.Args, func(a Arg) bool { return slices.Contains(listArgs, a.Name) })
	if from < 0 {
		return
	}
	to := from + 1
	for to < len(c.Args) && c.Args[to].Name == c.Args[from].Name {
		to++
	}
	words := make([]string, 0, to-from)
	for _, a := range c.Args[from:to] {
		words = append(words, a.Value)
	}
	if len(words) < 2 {
		return
	}
	if words[0] == "apply_patch" && len(words) == 2 {
		c.Tool, c.Args = words[0], slices.Replace(c.Args, from, to, Arg{"patch", words[1]})
		return
	}
	c.Args = slices.Replace(c.Args, from, to, Arg{"command", commandLine(words)})
}

// commandLine returns the line that a shell runs for a list of words, or for a list of lines.
func commandLine(words []string) string {
	option := strings.ToLower(words[1])
	if len(words) > 2 && slices.Contains(shells, strings.TrimSuffix(shell.Base(words[0]), ".exe")) && (option == "/c" || option == "-command" || strings.HasPrefix(option, "-") && strings.HasSuffix(option, "c")) {
		return strings.Join(words[2:], " ")
	}
	if strings.ContainsAny(words[0], " \t\n") {
		return strings.Join(words, "\n")
	}
	quoted := slices.Clone(words)
	for i, w := range quoted {
		if w == "" || strings.ContainsAny(w, " \t\n;|&<>()*?\"`") && !strings.Contains(w, "'") {
			quoted[i] = "'" + w + "'"
		}
	}
	return strings.Join(quoted, " ")
}

// An enveloped is the record in which some harnesses return the output of a command.
type enveloped struct {
	Output   *string `json:"output"`
	Metadata *struct {
		ExitCode *int `json:"exit_code"`
	} `json:"metadata"`
}

// withoutEnvelope returns the output in such a record, with the line that states the exit
// status. It returns any other result unchanged.
func withoutEnvelope(result string) string {
	if !strings.HasPrefix(result, `{"output"`) || !strings.Contains(result, `"exit_code"`) {
		return result
	}
	var e enveloped
	if json.Unmarshal([]byte(result), &e) != nil || e.Output == nil || e.Metadata == nil || e.Metadata.ExitCode == nil {
		return result
	}
	return "Exit code: " + itoa(*e.Metadata.ExitCode) + "\n" + *e.Output
}
