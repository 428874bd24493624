package testrun

import "strings"

// wrapperStarts begin lines in which the runner of a script or a hook states that it
// failed, and not the cause.
var wrapperStarts = []string{"npm err!", "npm error", "husky - ", "error: script ", "error command failed", "err_pnpm_", "elifecycle", "make: ***", "make[", "lerna err!", "error: failed to run", "error: task failed", "error task failed", "task failed", "command failed",
	"error: recipe ", "nx run ", "error: command ", "exited with code", "exit code ", "exit status ", "</"}

// wrapperWords stand in such lines.
var wrapperWords = []string{" elifecycle ", "lifecycle script ", "exited with code ", "ommand failed with exit code", "exiting with code ", " task failed", "hook exited with", "failed (code "}

// Wrapper reports whether a line is one in which the runner of a script or a hook
// states how the script ended: "npm error code 1", "husky - pre-commit script
// failed". Such a line is the last one of almost every failure, and does not
// explain it.
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
