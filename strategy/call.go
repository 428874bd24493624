package strategy

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/agentcompact/compact/internal/jsonscan"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy/internal/fileops"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// An Outcome is the outcome of a call, as the result states it.
type Outcome uint8

// The outcomes of calls. Unknown means that the result states no outcome. Then a summary
// states no outcome either.
const (
	Unanswered Outcome = iota
	Unknown
	OK
	Failed
)

// A Call is a tool call with its result.
type Call struct {
	Tool     string
	Args     []Arg
	Result   string
	Answered bool
	Outcome  Outcome
	Exit     int          // exit status of a command; -1 = not stated
	Says     string       // the line of the result that states the outcome; "" if only a status does
	files    []fileops.Op // operations on files

	elsewhere string // folder of the command, if most commands ran in another folder

	base   string // folder that a mark abbreviates in the call's paths, "" for none
	doubt  bool   // the call has an effect, and its result reports that an unknown part failed
	broke  bool   // a notice of the harness says that the task did not complete
	over   bool   // a notice of the harness says that the task in the background ended
	spoken bool   // the call is written in the text of the message; that text is also an answer
}

// An Arg is one string or number in the arguments of a call.
type Arg struct{ Name, Value string }

// maxArgDepth is the maximum depth at which nested arguments are read.
const maxArgDepth = 6

func readCall(p *message.Part) Call {
	c := readOne(p.Name, p.Args)
	if inner := innerCalls(p.Args); len(inner) == 1 {
		return inner[0]
	} else if len(inner) > 1 {
		c.hold()
	}
	return c
}

// readOne reads a call, and no calls in its arguments.
func readOne(tool string, args []byte) Call {
	c := Call{Tool: tool, Exit: -1}
	if len(args) == 0 {
		return c
	}
	if !json.Valid(args) {
		c.Args = []Arg{{"input", string(args)}}
		return c
	}
	c.Args = joinCommands(readArgs(args))
	c.unwrap(args)
	c.asCommand()
	c.asLine()
	for i, a := range c.Args {
		if a.Name == "command" || a.Name == "cmd" {
			c.Args[i].Value = shell.OneLine(a.Value)
		}
	}
	return c
}

// joinCommands makes one script of a list of commands.
func joinCommands(args []Arg) (out []Arg) {
	for _, a := range args {
		if n := len(out); a.Name == "commands" && n > 0 && out[n-1].Name == a.Name {
			out[n-1].Value += "\n" + a.Value
			continue
		}
		out = append(out, a)
	}
	return out
}

// readArgs returns the strings and numbers in the arguments of a call.
func readArgs(data []byte) []Arg {
	span, err := jsonscan.Value(data, 0)
	if err != nil {
		return nil
	}
	return flatten(nil, data, span, "input", 0)
}

// asCommand makes a command line of the arguments of a tool that is a program with
// subcommands: the tool "kubectl" with the argument "-n shop get pods".
func (c *Call) asCommand() {
	if _, known := shell.GlobalOptions[c.Tool]; !known || len(c.Args) == 0 || len(c.Args) > mostWords {
		return
	}
	words := slices.DeleteFunc(slices.Clone(c.Args), func(a Arg) bool { return slices.Contains(placeArgs, strings.ToLower(a.Name)) })
	if len(words) == 0 {
		return
	}
	line := []string{c.Tool}
	for i, a := range words {
		if a.Name != words[0].Name || !slices.Contains(lineArgs, a.Name) {
			return
		}
		if value := strings.TrimSpace(a.Value); i > 0 || !strings.HasPrefix(value+" ", c.Tool+" ") {
			line = append(line, value)
		} else {
			line[0] = value
		}
	}
	c.Args = []Arg{{"command", strings.Join(line, " ")}}
}

// lineArgs are names of arguments with the words after a program's name, and mostWords is
// the maximum number of them.
var lineArgs = []string{"args", "arguments", "argv", "command", "cmd", "input"}

const mostWords = 40

// placeArgs are names of arguments that say where a program runs, and for how long.
var placeArgs = []string{"dir", "directory", "cwd", "workdir", "working_dir", "working_directory", "chdir", "timeout", "description"}

// flatten appends the strings and numbers of a JSON value. Each Arg has the name of the
// member that holds the value.
func flatten(out []Arg, data []byte, at jsonscan.Span, name string, depth int) []Arg {
	raw := at.Of(data)
	if len(raw) == 0 || depth > maxArgDepth {
		return out
	}
	switch raw[0] {
	case '"':
		if s, err := jsonscan.Unquote(raw); err == nil && s != "" {
			out = append(out, Arg{name, s})
		}
	case '{':
		_ = jsonscan.Object(data, at, func(m jsonscan.Member) error {
			out = flatten(out, data, m.Value, m.Key, depth+1)
			return nil
		})
	case '[':
		_ = jsonscan.Array(data, at, func(_ int, elem jsonscan.Span) error {
			out = flatten(out, data, elem, name, depth+1)
			return nil
		})
	default:
		out = append(out, Arg{name, string(raw)})
	}
	return out
}

// arg returns the first argument with one of the names.
func (c *Call) arg(names ...string) string {
	for _, n := range names {
		for _, a := range c.Args {
			if a.Name == n {
				return a.Value
			}
		}
	}
	return ""
}

// Command returns the command line or the code that the call ran, if it ran
// one. If the call also has a path, a single word is an operation of an editor, not a
// command.
func (c *Call) Command() string {
	s := c.arg("command", "cmd", "commands", "script", "code")
	if strings.ContainsAny(s, " \t\n") {
		return s
	}
	for _, a := range c.Args {
		if pathArgs[a.Name] {
			return ""
		}
	}
	return s
}

// targets lists the argument names that identify the object of a call, best
// first.
var targets = []string{"command", "cmd", "file_path", "filePath", "path", "filename", "file_name", "url", "query", "q", "sql", "statement", "expr", "expression",
	"pattern", "script", "code", "id", "description", "prompt", "input"}

// Target returns the argument that best identifies the object of the call.
func (c *Call) Target() string {
	of := targets
	if c.Command() == "" {
		of = targets[2:] // here the argument "command" names an operation
	}
	if s := c.arg(of...); s != "" {
		return s
	}
	if len(c.Args) > 0 {
		return c.Args[0].Value
	}
	return ""
}

// maxTarget is the maximum length of a call's target in a line, in characters.
const maxTarget = 120

// Line describes the call and its outcome in one line:
//
//	bash "go test ./..." → exit 1, 47 lines
func (c *Call) Line() string {
	var b strings.Builder
	b.WriteString(c.head())
	b.WriteString(" → ")
	switch {
	case !c.Answered:
		b.WriteString("no result")
		return b.String()
	case c.Exit >= 0:
		b.WriteString("exit " + strconv.Itoa(c.Exit))
	case c.Outcome == Failed:
		b.WriteString("error")
	case c.Outcome == OK:
		b.WriteString("ok")
	default:
		b.WriteString("answered")
	}
	n := prose.CountLines(c.Result)
	b.WriteString(", " + strconv.Itoa(n) + " line")
	if n != 1 {
		b.WriteByte('s')
	}
	if c.Outcome == Failed {
		if e := c.ErrorLine(); e != "" {
			b.WriteString(": " + e)
		}
	}
	return b.String()
}

// head returns the tool's name and the target.
func (c *Call) head() string {
	target := prose.Clip(prose.Squash(c.Target()), maxTarget)
	if target == "" {
		return c.Tool
	}
	if strings.ContainsAny(target, " \t") {
		target = `"` + target + `"`
	}
	return c.Tool + " " + target
}

// finish sets the outcome of an answered call, and the files that the call
// touched.
func (c *Call) finish() {
	if c.Answered {
		c.asEditor()
		c.read()
	}
	c.files = fileOps(c)
	c.judgeEffect()
}
