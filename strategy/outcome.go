package strategy

import (
	"strconv"
	"strings"
	"unicode"
)

// exitMarks stand before the exit status in the outputs of common tools.
var exitMarks = []string{"exit code: ", "exit code ", "exited with code ", "exit status ", "exitcode: ", "exit_code: ",
	`"exit_code":`, `"exit_code": `, "<returncode>", "returncode: "}

// edge is how much of the beginning and of the end of a result is searched for
// what it came to, in bytes.
const edge = 400

// outcome reads how a call ended. exit is -1 where the result does not say.
func outcome(result string) (o Outcome, exit int) {
	head := strings.ToLower(result[:min(len(result), edge)])
	tail := strings.ToLower(result[max(0, len(result)-edge):])
	if n, ok := exitStatus(head); ok {
		return byStatus(n), n
	}
	if n, ok := exitStatus(tail); ok {
		return byStatus(n), n
	}
	if looksFailed(strings.TrimSpace(head)) {
		return Failed, -1
	}
	return OK, -1
}

func byStatus(n int) Outcome {
	if n == 0 {
		return OK
	}
	return Failed
}

func exitStatus(s string) (int, bool) {
	for _, mark := range exitMarks {
		i := strings.LastIndex(s, mark)
		if i < 0 {
			continue
		}
		digits := s[i+len(mark):]
		end := 0
		for end < len(digits) && end < 4 && digits[end] >= '0' && digits[end] <= '9' {
			end++
		}
		if n, err := strconv.Atoi(digits[:end]); err == nil {
			return n, true
		}
	}
	return 0, false
}

var failedHeads = []string{"error", "<tool_use_error>", "traceback", "fatal:", "panic:", "failed", "failure", "exception",
	`{"error"`, "bash: ", "sh: ", "zsh: ", "--- fail", "fail\t", "permission denied", "access denied", "no such file"}

// looksFailed judges the beginning of a result in lower case.
func looksFailed(head string) bool {
	for _, h := range failedHeads {
		if strings.HasPrefix(head, h) {
			return true
		}
	}
	return strings.Contains(head, "command not found") || strings.Contains(head, "traceback (most recent call last)") ||
		strings.Contains(head, "no such file or directory")
}

var errorMarks = []string{"error:", "error ", "fail", "panic:", "fatal:", "exception", "cannot ", "can't ", "not found", "denied",
	"undefined", "expected", "no such", "timed out", "timeout", "refused", "invalid"}

// maxErrorLine is how long an error is quoted, in characters.
const maxErrorLine = 160

// ErrorLine returns the line of the result that says best what went wrong; ""
// where a result of more than a few lines has none that speaks of an error.
func (c *Call) ErrorLine() string {
	text := c.Result
	if len(text) > 16<<10 {
		text = text[:8<<10] + "\n" + text[len(text)-8<<10:]
	}
	best, rank, seen := "", len(errorMarks)+1, 0
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || len(line) > 1000 || !strings.ContainsFunc(line, unicode.IsLetter) {
			continue
		}
		low := strings.ToLower(line)
		if _, status := exitStatus(low); status && len(line) < 40 {
			continue
		}
		for r, mark := range errorMarks {
			if r >= rank {
				break
			}
			if strings.Contains(low, mark) {
				best, rank = line, r
			}
		}
		if seen++; best == "" {
			best, rank = line, len(errorMarks)
		}
	}
	if rank == len(errorMarks) && seen > 3 {
		return ""
	}
	return clip(squash(stripTags(best)), maxErrorLine)
}

// stripTags removes what wraps an output in angle brackets.
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
