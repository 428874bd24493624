package policy

import (
	"regexp"
	"strconv"
	"strings"
	"sync"
)

// Status lines, in which agent programs state how a command ended. Such a line is the
// first or the last line of the result. A similar line in the middle of the output
// ("exit status 1" of go run, "script exited with code 1") says nothing about the call.
var (
	exitFirst = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A(?:<returncode>(-?\d{1,9})</returncode>|(?:Exit code|Exit code:|Process exited with code|Command exited with code) (-?\d{1,9}))\z`)
	})
	exitLast = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`\A(?:<shellId: \d+ completed with exit code (-?\d{1,9})>|\[The command completed with exit code (-?\d{1,9})\.\]|` +
			`\[Command finished with exit code (-?\d{1,9})\]|\[exit code: (-?\d{1,9})\]|Command exited with code (-?\d{1,9}))\z`)
	})
)

// exitLines is the number of leading lines that are searched. More than one is needed:
// one program writes an id and the elapsed time above the status.
const exitLines = 3

// exitCode returns the exit code in the status line of a result.
func exitCode(result string) (code int, ok bool) {
	rest := strings.TrimLeft(result, "\n")
	for range exitLines {
		line, after, _ := strings.Cut(rest, "\n")
		if code, ok = captured(exitFirst(), line); ok {
			return code, true
		}
		if !strings.HasPrefix(line, "Chunk ID: ") && !strings.HasPrefix(line, "Wall time: ") {
			break
		}
		rest = after
	}
	result = strings.TrimRight(result, "\n")
	return captured(exitLast(), result[strings.LastIndexByte(result, '\n')+1:])
}

func captured(form *regexp.Regexp, line string) (int, bool) {
	const longest = 100 // length of a status line, in bytes
	line = strings.TrimSuffix(line, "\r")
	if len(line) > longest {
		return 0, false
	}
	found := form.FindStringSubmatch(line)
	for i := 1; i < len(found); i++ {
		if found[i] != "" {
			n, err := strconv.Atoi(found[i])
			return n, err == nil
		}
	}
	return 0, false
}
