package testrun

import "strings"

// wrapperStarts begin lines in which the runner of a script or a hook reports that
// it failed, without the cause.
var wrapperStarts = []string{"npm err!", "npm error", "husky - ", "error: script ", "error command failed", "err_pnpm_", "elifecycle", "make: ***", "make[", "lerna err!", "error: failed to run", "error: task failed", "error task failed", "task failed", "command failed",
	"error: recipe ", "nx run ", "error: command ", "exited with code", "exit code ", "exit status ", "</"}

// wrapperWords occur in other lines of this kind.
var wrapperWords = []string{" elifecycle ", "lifecycle script ", "exited with code ", "ommand failed with exit code", "exiting with code ", " task failed", "hook exited with", "failed (code "}

// Wrapper reports whether a line is the report of a script runner or a hook about how
// the script ended: "npm error code 1", "husky - pre-commit script failed". The output
// of almost every failure ends with such a line, which does not explain the failure.
func Wrapper(line string) bool {
	line = line[:min(len(line), longestStatus)]
	if len(line) == 0 || line == "FAIL" {
		return len(line) > 0
	}
	low := strings.TrimLeft(strings.ToLower(line), " \t×✖[]")
	if begins(low, wrapperStarts) {
		return true
	}
	for _, w := range wrapperWords {
		if strings.Contains(low, w) {
			return true
		}
	}
	return false
}
