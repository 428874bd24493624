package strategy

import (
	"slices"
	"strings"
	"sync"
	"unicode"

	"github.com/agentcompact/compact/internal/testrun"
	"github.com/agentcompact/compact/strategy/internal/checks"
	"github.com/agentcompact/compact/strategy/internal/lazy"
	"github.com/agentcompact/compact/strategy/internal/prose"
)

// read determines how a call ended: from the harness's status line, from an
// error in place of a result, or from a test report. Without any of them the
// outcome is unknown.
func (c *Call) read() {
	c.Outcome, c.Exit = Unknown, -1
	cmd := c.Command()
	n, stated := exitStatus(c.Result)
	if stated {
		c.Exit = n
	}
	verdict := testrun.None
	if c.Check() {
		verdict, c.Says = testReport(c.Result)
	}
	switch {
	case c.broke, stated && n != 0, verdict == testrun.Failure:
		c.Outcome = Failed
	case running(c.Result):
	case refusedCall(c.Result), refusedEdit(c.Result), c.changedNothing(), cmd == "" && errorResult(c.Result) && !c.gave(firstLine(c.Result)), cmd != "" && !stated && (shellError(c.Result) || c.endsInException() || failedProgram(cmd, body(c.Result)) != "") && !c.attempts():
		c.Outcome = Failed
	case verdict == testrun.Success && c.hidesFailure():
	case verdict == testrun.Success, stated && !(c.Check() && checks.HidesStatus(cmd)), cmd == "" && confirmed(c.Result):
		c.Outcome = OK
	}
}

// running reports whether a result states that its command is still running.
func running(result string) bool { return sessionID(result) != "" }

// refusedHeads lists how results begin if a harness refused or aborted the
// call.
var refusedHeads = []string{"<tool_use_error>", "The user doesn't want to proceed", "The user doesn't want to take this action", "The user denied this operation", "[Request interrupted by user",
	"Permission to use ", "Permission denied by user", "Error: Exit code", "apply_patch verification failed", "EXECUTION TIMED OUT", "Command timed out",
	"Error: Command timed out", "command timed out", "execution error: "}

func refusedCall(result string) bool {
	head := strings.TrimLeft(result[:min(len(result), 200)], " \t\r\n")
	return prose.BeginsAny(head, refusedHeads) || prose.BeginsAny(head, complaints) || refusedDeed.MatchString(head)
}

// refusedDeed matches the beginning of a result that says that somebody did not allow the call:
// "patch rejected: ...", "The command was denied by the user", "User declined the edit".
var refusedDeed = lazy.Compile(`(?i)^\W{0,2}(?:(?:the |this |your )?(?:proposed )?(?:patch|edits?|changes?|diff|(?:exec |shell |bash )?command|tool(?: call| use)?|operation|action|execution|write)s? (?:(?:was|were|is|has been|have been) )?(?:rejected|denied|declined|refused|cancell?ed|not (?:applied|approved|executed|permitted|allowed))|(?:the )?user (?:has )?(?:rejected|denied|declined|refused|cancell?ed|aborted|did not approve|chose not))\b`)

// refusedEditHeads lists how results begin if an editing shell did not make an edit.
var refusedEditHeads = []string{"[your proposed edit has introduced", "your proposed edit has introduced", "your edit was not applied"}

func refusedEdit(result string) bool {
	return prose.BeginsAny(strings.ToLower(strings.TrimLeft(result[:min(len(result), edge)], " \t\r\n")), refusedEditHeads)
}

// errorHeads lists beginnings of error results. A shown file that begins with such a
// word does not match, because tools that show files number or wrap the lines.
var errorHeads = []string{"fehler:", "fehler beim ", "erreur:", "erreur :", "errore:", "erro:", "fout:", "błąd:", "ошибка:", "エラー:", "エラー：", "错误:", "错误：", "錯誤:", "錯誤：", "오류:", "خطأ:",
	"error:", "error -", "error executing", "error calling", "error while", "err:", "failed to ", "failure:", "exception:", "traceback (most recent call last)",
	`{"error"`, `{"ok":false`, `{"ok": false`, `{"status":"error"`, `{"status": "error"`, `{"success":false`, `{"success": false`, `{"iserror":true`, `{"is_error":true`, "invalid ", "ran into ",
	"no replacement was performed", "string to replace not found", "could not find the exact text", "no exact match found", "[no exact match found",
	"file not found:", "the server returned http 4", "the server returned http 5", "file does not exist",
	"permission denied", "access denied", "tool not found", "unknown tool", "element with index", "mcp error", "http error", "request failed"}

// errorResult reports whether a tool returned an error in place of a result.
func errorResult(result string) bool {
	head := strings.ToLower(strings.TrimLeft(result[:min(len(result), edge)], " \t\r\n"))
	if prose.BeginsAny(head, errorHeads) {
		return true
	}
	first, _, _ := strings.Cut(head, "\n")
	if httpError(first) {
		return true
	}
	name, _, ok := strings.Cut(first, " failed: ") // "javascript_tool failed: SyntaxError"
	return ok && !strings.ContainsAny(name, " \t") || strings.Contains(head[:min(len(head), 200)], `"code": "enoent"`)
}

// httpError reports whether a line states an HTTP error status.
func httpError(line string) bool {
	for _, mark := range []string{"http ", "http/1.1 ", "http/2 ", "status code ", "status code: ", "http status ", "received http ", "error "} {
		if rest, ok := strings.CutPrefix(line, mark); ok && len(rest) >= 3 && (rest[0] == '4' || rest[0] == '5') && prose.IsDigits(rest[:3]) && (len(rest) == 3 || !prose.IsDigits(rest[3:4])) {
			return true
		}
	}
	return len(line) < 80 && (strings.HasPrefix(line, "404 not found") || strings.HasPrefix(line, "403 forbidden") || strings.HasPrefix(line, "500 internal server error"))
}

// confirmations lists beginnings of results that report success.
var confirmations = []string{"the file ", "file created successfully", "successfully", "edit applied successfully", "wrote file successfully", "success.", "success:", "updated ", "todos have been",
	"transfer successful", "# successfully", "task #", "done", "ok\n", `{"success": true`, `{"success":true`, `{"status": "ok"`, `{"status":"ok"`}

// confirmed reports whether a result states that the call succeeded.
func confirmed(result string) bool {
	head := strings.ToLower(strings.TrimSpace(result[:min(len(result), edge)]))
	if head == "ok" {
		return true
	}
	if rest, ok := strings.CutPrefix(head, "the file "); ok {
		first, _, _ := strings.Cut(rest, "\n")
		return strings.Contains(first, "has been") || strings.Contains(first, "created") || strings.Contains(first, "updated") || strings.Contains(first, "edited")
	}
	return prose.BeginsAny(head, confirmations)
}

// shellError reports whether an output without a status begins with a shell's
// error message or an uncaught exception.
func shellError(result string) bool {
	head := strings.ToLower(strings.TrimLeft(result[:min(len(result), edge)], " \t\r\n"))
	first, _, _ := strings.Cut(head, "\n")
	if prose.BeginsAny(head, []string{"traceback (most recent call last)", "error: ", "fatal: "}) {
		return true
	}
	return shellRefuses(first) || raised.MatchString(firstLine(result)) && prose.CountLines(strings.TrimSpace(result)) <= mostRaised
}

// endsInException reports whether the output of code ends with an exception that was not caught.
func (c *Call) endsInException() bool {
	if c.arg("code") == "" {
		return false
	}
	end := strings.TrimSpace(testrun.Uncolored(c.Result[max(0, len(c.Result)-maxReport):]))
	return strings.Contains(end, "Traceback (most recent call last)") && raised.MatchString(prose.LastLine(end))
}

// raised matches the line of an exception that ended a program, and mostRaised is the maximum
// number of lines of an output that begins with it.
var raised = lazy.Compile(`^(?:[a-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt): \S`)

const mostRaised = 3

// shellRefuses reports whether a lower-case line is the message of a shell that it could
// not run a command.
func shellRefuses(low string) bool {
	if rest, ok := strings.CutPrefix(low, "zsh:"); ok {
		low = "zsh: " + strings.TrimLeft(rest, "0123456789: ")
	}
	return (prose.BeginsAny(low, []string{"bash: ", "sh: ", "/bin/sh: ", "/bin/bash: ", "zsh: "})) &&
		(strings.Contains(low, "not found") || strings.Contains(low, "no such file") || strings.Contains(low, "denied") || prose.HasAny(low, foreignRefusals))
}

// foreignRefusals are the same messages in other languages.
var foreignRefusals = []string{"nicht gefunden", "keine berechtigung", "introuvable", "aucun fichier", "permission non accordée", "no se encontró", "orden no encontrada", "no existe el ", "permiso denegado",
	"non trovato", "file o directory", "não encontrado", "не найден", "нет такого файла", "отказано", "見つかりません", "ありません", "未找到", "没有那个文件", "权限不够"}

// firstLine returns the first non-empty line of a result.
func firstLine(result string) string {
	line, _, _ := strings.Cut(strings.TrimLeft(result[:min(len(result), edge)], " \t\r\n"), "\n")
	return strings.TrimSpace(line)
}

var errorMarks = []string{"--- fail", "error[", "rejected]", "error:", "panic:", "fatal:", "exception", "failed", "error ", "fail", "cannot ", "can't ", "not found", "denied",
	"undefined", "expected", "no such", "timed out", "timeout", "refused", "invalid", "unexpected"}

// maxErrorLine is the maximum length of a quoted error, in characters.
const maxErrorLine = 160

// ErrorLine returns the line of the result that best describes the error; "" if
// a result of more than a few lines mentions no error.
func (c *Call) ErrorLine() string {
	text := body(c.Result)
	if len(text) > 16<<10 {
		text = text[:8<<10] + "\n" + text[len(text)-8<<10:]
	}
	text, recorded := withoutRecords(text)
	looks := sync.OnceValue(func() bool { return c.deed() == deedLook }) // it reads the whole command
	best, rank, seen := "", len(errorMarks)+2, 0
	for line := range strings.Lines(text) {
		indented := line != "" && (line[0] == ' ' || line[0] == '\t')
		line = strings.TrimSpace(line)
		if line == "" || !strings.ContainsFunc(line[:min(len(line), 200)], unicode.IsLetter) || framed(line) || ourOwn(line) || isBareMark(line) || testrun.Line(line) == testrun.Success || prose.BeginsAny(line, []string{"=== RUN", "=== PAUSE", "=== CONT", "=== NAME", "--- PASS", "--- SKIP"}) {
			continue
		}
		r := errorRank(line, indented, looks)
		if slices.Contains(recorded, line) {
			r = min(r, alarmRank)
		}
		if r < rank {
			best, rank = line, r
		}
		seen++
	}
	if rank > len(errorMarks) && seen > 3 {
		return ""
	}
	return prose.Clip(prose.Squash(plainText(best)), maxErrorLine)
}

// errorRank ranks a line by its information about an error; a lower rank is better. A
// message of a compiler or a linter about a place in a file is first, a line without
// information last. A message of a runner about itself ranks below all other lines with
// a mark.
// looks reports whether the call only looks at something; it is called if that matters.
func errorRank(line string, indented bool, looks func() bool) int {
	plain := plainText(line)
	switch {
	case noOutcome(plain):
		return len(errorMarks) + 1
	case testrun.Wrapper(plain):
		return len(errorMarks)
	case testrun.Diagnostic(plain) && (!indented || !testrun.Logged(plain)) && !looks(): // a search prints such lines, too
		return -1
	}
	low := strings.ToLower(plain[:min(len(plain), 400)])
	rank := len(errorMarks) + 1
	for r, mark := range errorMarks {
		if strings.Contains(low, mark) {
			rank = r
			break
		}
	}
	if prose.BeginsAny(plain, alarms) {
		rank = min(rank, alarmRank)
	}
	return rank
}

// alarmRank is the rank of a line that only a sign marks as an error. It is the rank of
// "exception" in errorMarks.
const alarmRank = 6

// isBareMark reports whether a line only states that there is an error.
func isBareMark(line string) bool {
	switch strings.ToLower(strings.TrimRight(line, ":! ")) {
	case "error", "errors", "failed", "failure", "fail", "exception":
		return true
	}
	return false
}

// plainText returns a line without terminal codes and without the tags around an output.
func plainText(s string) string { return stripTags(testrun.Uncolored(s)) }

// stripTags removes the tags around an output.
func stripTags(s string) string {
	if strings.HasPrefix(s, "<") {
		if i := strings.IndexByte(s, '>'); i > 0 {
			s = s[i+1:]
		}
		if i := strings.LastIndex(s, "</"); i > 0 {
			s = s[:i]
		}
	}
	return s
}
