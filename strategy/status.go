package strategy

import (
	"strconv"
	"strings"

	"github.com/agentcompact/compact/strategy/internal/prose"
)

// edge is the number of bytes at the beginning of a result that are searched
// for its outcome.
const edge = 400

// statusEdge is the number of lines at either end of a result that are searched for the
// harness's status line.
const statusEdge = 6

// A statusForm is a form of a line in which a harness states the exit status of
// a command.
type statusForm struct{ before, after string }

// statusForms lists the forms of the known harnesses. The status is between the texts
// before and after.
var statusForms = []statusForm{
	{"Exit code ", ""}, {"Exit code: ", ""}, {"Exit Code: ", ""}, {"exit code: ", ""}, {"exit code ", ""}, {"Error: Exit code ", ""},
	{"Process exited with code ", ""}, {"Command exited with code ", ""}, {"exited with code ", ""}, {"exit status ", ""}, {"Exit status ", ""}, {"Exit status: ", ""},
	{"<returncode>", "</returncode>"}, {"<exit_code>", "</exit_code>"}, {"<exited with exit code ", ">"},
	{"[The command completed with exit code ", ".]"}, {"[Command finished with exit code ", "]"}, {"[exit code: ", "]"}, {"(exit code ", ")"}, {"[exit ", "]"},
	{"exitcode: ", " (execution succeeded)"}, {"exitcode: ", " (execution failed)"}, {"exit_code: ", ""}, {"returncode: ", ""},
	{"[Process exited with code ", "]"}, {"[process exited with code ", "]"}, {"exit: ", ""}, {"EXIT:", ""}, {"EXIT: ", ""}, {"exit=", ""}, {"EXIT=", ""}, {"rc=", ""},
}

// exitStatus reads the status that a harness states at the beginning or at the
// end of a result.
func exitStatus(result string) (int, bool) {
	if n, ok := jsonStatus(result); ok {
		return n, true
	}
	rest := strings.TrimLeft(result, " \t\r\n")
	for range statusEdge {
		line, next, more := strings.Cut(rest, "\n")
		if n, ok := lineStatus(line); ok {
			return n, true
		}
		if rest = next; !more {
			return 0, false
		}
	}
	rest = strings.TrimRight(result, " \t\r\n")
	for range statusEdge {
		i := strings.LastIndexByte(rest, '\n')
		if n, ok := lineStatus(rest[i+1:]); ok {
			return n, true
		}
		if i < 0 {
			break
		}
		rest = strings.TrimRight(rest[:i], " \t\r\n")
	}
	return 0, false
}

// statusLine reports whether a line only states a status.
func statusLine(line string) bool {
	_, ok := lineStatus(line)
	return ok
}

func lineStatus(line string) (int, bool) {
	if len(line) > 120 || len(line) < 4 {
		return 0, false
	}
	line = strings.TrimSpace(line)
	for _, f := range statusForms {
		rest, ok := strings.CutPrefix(line, f.before)
		if !ok {
			continue
		}
		if number, ok := strings.CutSuffix(rest, f.after); ok {
			if n, err := strconv.Atoi(number); err == nil && len(number) < 12 {
				return n, true
			}
		}
	}
	// <shellId: 5 completed with exit code 0>
	if strings.HasPrefix(line, "<") && strings.HasSuffix(line, ">") {
		if _, number, ok := strings.Cut(line, " completed with exit code "); ok {
			n, err := strconv.Atoi(strings.TrimSuffix(number, ">"))
			return n, err == nil
		}
	}
	return 0, false
}

// jsonStatus reads the status from a result that is a JSON object.
func jsonStatus(result string) (int, bool) {
	if !strings.HasPrefix(result, "{") {
		return 0, false
	}
	for _, name := range []string{`"exit_code"`, `"exitCode"`, `"returncode"`, `"exit_status"`} {
		for _, part := range []string{result[:min(len(result), edge)], result[max(0, len(result)-edge):]} {
			_, after, ok := strings.Cut(part, name)
			if !ok {
				continue
			}
			after = strings.TrimLeft(after, ": ")
			end := strings.IndexAny(after, ",} \n")
			if n, err := strconv.Atoi(after[:max(end, 0)]); err == nil {
				return n, true
			}
		}
	}
	return 0, false
}

// frames lists beginnings of lines that harnesses put around an output. Other functions
// read the facts about the run in these lines.
var frames = []string{"Chunk ID: ", "Wall time: ", "Original token count: ", "Total output lines: ", "<output>", "</output>", "<stdout>", "</stdout>", "<command ", "<exit_code>", "Output:",
	"Process running with session ID ", "(no output)", "(Bash completed with no output)", "Your command ran successfully and did not produce any output", "[Current working directory: ",
	"[Python interpreter: ", "[Jupyter current working directory", openFileMark, "[File: /", "(Current directory: ", "bash-$", "[Command finished", "<shellId: ", "Session: ", "Shell cwd was reset to ",
	"BEGIN_DISPATCH_RESULT", "END_DISPATCH_RESULT"}

// framed reports whether a line belongs to the frame of an output.
func framed(line string) bool {
	return statusLine(line) || shellPrompted(line) || prose.BeginsAny(line, frames) || strings.HasSuffix(line, " more lines above)") || strings.HasSuffix(line, " more lines below)")
}

// shellPrompted reports whether a line is the prompt of a terminal, with or without the command
// behind it: "ann@host app %", "ann@host:~/app$ ls", "PS C:\\app> dir".
func shellPrompted(line string) bool {
	if strings.HasPrefix(line, "PS ") && len(line) > 5 && line[4] == ':' {
		return strings.Contains(line, ">")
	}
	who, rest, ok := strings.Cut(line, "@")
	if !ok || len(line) > maxPrompt || who == "" || strings.ContainsAny(who, " \t:/\"'`=,") {
		return false
	}
	at := strings.IndexAny(rest, "$%#")
	if at <= 0 || len(rest) > at+1 && rest[at+1] != ' ' {
		return false
	}
	host, dir, colon := strings.Cut(rest[:at], ":")
	if colon {
		return !strings.ContainsAny(host, " /") && strings.ContainsAny(dir[:min(len(dir), 1)], "~/")
	}
	return rest[at-1] == ' ' && strings.Count(rest[:at], " ") == 2
}

// maxPrompt is the maximum length of a prompt with its command.
const maxPrompt = 300

// body returns an output without the frame at its beginning.
func body(result string) string {
	rest := strings.TrimLeft(result, " \t\r\n")
	for range 2 * statusEdge {
		line, next, more := strings.Cut(rest, "\n")
		if !framed(strings.TrimSpace(line)) {
			break
		}
		if rest = next; !more {
			break
		}
	}
	return rest
}
