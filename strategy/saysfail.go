package strategy

import (
	"slices"
	"strings"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/prose"
	"github.com/agentcompact/compact/strategy/internal/shell"
)

// failStarts begin lines in which a command says that it failed. softStarts count only in
// the last line of an output: as a failure in a short output, else as a doubt. A log may
// have such lines about unimportant problems.
var (
	failStarts = []string{"fatal: ", "fatal error", "error: ", "error[", "npm err!", "npm error", "err_pnpm_", "error from server", "denied: ", "! [rejected]", "! [remote rejected]", "the connection to the server ", "curl: (",
		"permission denied", "access denied", "an error occurred (", "traceback (most recent call last)", "panic: ", "e: ", "conflict (", "automatic merge failed", "aborting", "a pull request for branch ",
		"unauthorized", "rejected: ", "connection refused", "error response from ", "rolled back", "rolling back", "rollback complete", "ssh: connect ", "error command failed", "✗ ", "✘ ", "❌"}
	softStarts = []string{"failed", "failure", "cannot ", "can't ", "could not ", "couldn't ", "unable to ", "invalid ", "insufficient ", "forbidden", "error ", "error!", "not found", "✖ ", "× ", "no such ", "unknown "}
)

// errnoWords occur in the messages with which programs say why they failed, after their
// own name: "cp: error writing 'x': No space left on device".
var errnoWords = []string{"error", "cannot ", "can't ", "could not ", "couldn't ", "unable to ", "failed", "no such ", "no space left", "denied", "refused", "not found", "not permitted", "read-only", "timed out",
	"*** [", "invalid ", "unrecognized ", "unknown ", "illegal option", "already exists", "missing "}

// programSaysError returns the last line of an output, which can be long, if it states the
// failure of a program of the command. The line begins with the name of the program
// ("zstd: error 70"), or without a name. The latter does not count for a command that only
// looks, because it may show a line of another program.
func programSaysError(cmd, output string) string {
	line := strings.TrimSpace(testrun.Uncolored(prose.LastLine(output)))
	if prose.BeginsAny(line, []string{"error: ", "fatal: "}) && !allCommands(cmd, looksOnly) {
		return line
	}
	name, says, ok := strings.Cut(line, ": ")
	if !ok || name == "" || strings.ContainsAny(name, " \t") || !prose.BeginsAny(strings.ToLower(says), []string{"error ", "error: ", "fatal ", "fatal: "}) {
		return ""
	}
	for _, part := range shell.Split(prose.LastLine(shell.WithoutHeredocs(cmd))) {
		if w := shell.WithoutPrefix(shell.Fields(part)); len(w) > 0 && shell.Base(w[0]) == shell.Base(name) {
			return line
		}
	}
	return ""
}

// unwellWords state, in the last line of an output, that a started program does not
// work.
var unwellWords = []string{"unhealthy", "not healthy", "with errors", "degraded", "crashloopbackoff", "is not ready"}

// failedProgram returns the line in which a program of the command says that it failed,
// after its own name, if that is the last line of a short output; else "".
func failedProgram(cmd, output string) string {
	if line := programSaysError(cmd, output); line != "" {
		return line
	}
	lines := strings.Split(strings.TrimSpace(output), "\n")
	if len(lines) > mostOfError || len(output) > edge {
		return ""
	}
	line := strings.TrimSpace(testrun.Uncolored(lines[len(lines)-1]))
	name, says, ok := strings.Cut(line, ": ")
	if !ok || name == "" || strings.ContainsAny(name, " \t") || !prose.HasAny(strings.ToLower(says), errnoWords) {
		return ""
	}
	parts := shell.Split(prose.LastLine(shell.WithoutHeredocs(cmd)))
	if w := shell.WithoutPrefix(shell.Fields(parts[len(parts)-1])); len(w) == 0 || shell.Base(w[0]) != shell.Base(name) {
		return ""
	}
	return line
}

// mostOfError is the maximum number of lines of an output that is the message of a
// program that failed.
const mostOfError = 4

// tellsFailure reports whether a line of a command's output says that the command failed.
func tellsFailure(line string) bool {
	low := strings.ToLower(strings.TrimLeft(line, " \t│|"))
	switch {
	case prose.BeginsAny(low, failStarts), httpError(low), shellRefuses(low):
		return true
	case strings.HasPrefix(low, "gh: "):
		return strings.Contains(low, "(http 4") || strings.Contains(low, "(http 5")
	case strings.HasPrefix(low, "husky - "):
		return strings.Contains(low, "failed") || strings.Contains(low, "exited with code")
	case strings.HasSuffix(low, "...failed"): // a hook of pre-commit
		return true
	}
	what, _, ok := strings.Cut(low, " failed: ")
	return ok && what != "" && len(strings.Fields(what)) <= 5 && !strings.ContainsAny(what, ":0123456789")
}

// tellsDone reports whether a line says that a command achieved its purpose.
func tellsDone(line string) bool {
	low := strings.ToLower(line)
	switch {
	case (len(low) == 12 || len(low) == 64) && strings.Trim(low, "0123456789abcdef") == "": // the id of a container
		return true
	case strings.HasPrefix(low, "to "): // the destination of a push
		return false
	case committed(line), deedDone(line), prose.BeginsAny(low, []string{"apply complete!", "* [new ", "published ", "deployed ", "pushed ", "+ [new "}), strings.Contains(low, ": digest: sha256:"):
		return true
	case strings.HasPrefix(low, "added "), strings.HasPrefix(low, "up to date"):
		return strings.Contains(low, " package") || strings.Contains(low, "audited")
	case strings.HasPrefix(low, "+ "): // "+ name@1.0.0"
		return strings.Contains(low, "@")
	}
	refs, _, pushed := strings.Cut(low, " -> ")
	from, _, _ := strings.Cut(strings.TrimLeft(refs, "+ "), " ")
	return pushed && strings.Contains(from, "..") || slices.ContainsFunc([]string{" created", " configured", " unchanged", " deleted"}, func(s string) bool { return strings.HasSuffix(low, s) && strings.Contains(low, "/") })
}

// longestOutput is the number of bytes that are read at each end of an output.
const longestOutput = 8 << 10

// bothEnds returns a text, without the middle if it is long.
func bothEnds(text string) string {
	if len(text) > 2*longestOutput {
		return text[:longestOutput] + "\n" + text[len(text)-longestOutput:]
	}
	return text
}

// outputStates returns the failure that the output of a command states. A success after
// the failure takes precedence if the command has one effect: pip reports conflicts before
// it installs. With any other success, the result is a doubt.
func (c *Call) outputStates(text string) (statement, string) {
	cmd := c.Command()
	var lines []string
	for line := range strings.Lines(bothEnds(testrun.Uncolored(text))) {
		if line = strings.TrimSpace(line[:min(len(line), 400)]); line != "" && !framed(line) && !ourOwn(line) && !strings.Contains(cmd, line) {
			lines = append(lines, line)
		}
	}
	failed, done, says := -1, -1, ""
	one := c.effectsIn() == 1
	var sql transaction
	for i, line := range lines {
		last := i == len(lines)-1
		switch {
		case one && committed(line) && !c.replays(): // the output of a hook may follow it
			return statesNone, ""
		case sql.kept(line):
			done = i
		case tellsFailure(line), programComplains(cmd, line), last && line == failedProgram(cmd, text), last && len(lines) <= 3 && prose.BeginsAny(strings.ToLower(line), softStarts):
			if failed = i; says == "" || testrun.Wrapper(says) {
				says = line
			}
		case last && prose.HasAny(strings.ToLower(line), unwellWords):
			return statesDoubt, line
		case tellsDone(line):
			done = i
		case last && prose.BeginsAny(strings.ToLower(line), softStarts) && done < 0 && failed < 0:
			return statesDoubt, line
		}
	}
	switch {
	case failed < 0, done > failed && one:
		return statesNone, ""
	case done >= 0:
		return statesDoubt, says
	}
	return statesFailure, says
}
