package histgen

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/agentcompact/compact/message"
)

// testCommand returns the arguments of a call that runs Go tests. In some calls another
// command determines the status.
func testCommand(rng *rand.Rand) string {
	return fmt.Sprintf(`{"command": %q, "timeout": %d}`, "go test "+pick(rng, "./...", "-run 'TestA|TestB' ./pkg", "-count=1 ./internal/store\ngit status")+
		pick(rng, "", " 2>&1 | tail -40", " && echo \"all [well]\""), rng.IntN(100))
}

func runsTests(call message.Part) bool { return strings.Contains(string(call.Args), `"go test `) }

// report returns the output of go test, in color or not, between lines of the program,
// with the status as harnesses write it, or without one. The status may belong to
// another command.
func (b *builder) report() string {
	var lines []string
	failed := b.rng.IntN(2) == 0
	if failed {
		for range 1 + b.rng.IntN(3) {
			lines = append(lines, b.noise(), b.colored(31, fmt.Sprintf("--- FAIL: Test%s (%d.0%ds)", pick(b.rng, "A", "Store/\"quoted\" · [name]", "漢字", strings.Repeat("Long", 30)), b.rng.IntN(9), b.rng.IntN(9))),
				fmt.Sprintf("    store_test.go:%d: got %d, want %d", b.rng.IntN(999), b.rng.IntN(99), b.rng.IntN(99)))
		}
		lines = append(lines, "FAIL", fmt.Sprintf("FAIL\texample.com/pkg%d\t0.4s", b.rng.IntN(20)))
	}
	for range b.rng.IntN(4) {
		lines = append(lines, b.noise(), b.colored(32, fmt.Sprintf("ok  \texample.com/pkg%d\t%d.2s", b.rng.IntN(20), b.rng.IntN(60))))
	}
	if failed && b.rng.IntN(3) > 0 {
		return b.ended(lines, 1)
	}
	return b.ended(lines, 0)
}

// noise returns output of the program under test.
func (b *builder) noise() string { return words(b.rng, 1+b.rng.IntN(max(b.Words, 1)), b.share()) }

func (b *builder) colored(color int, line string) string {
	if b.rng.IntN(4) > 0 {
		return line
	}
	return fmt.Sprintf("\x1b[1;%dm%s\x1b[0m", color, line)
}

// ended adds the status of a command to its output.
func (b *builder) ended(lines []string, status int) string {
	text := strings.Join(lines, "\n")
	switch b.rng.IntN(5) {
	case 0:
		return fmt.Sprintf("Exit code %d\n%s", status, text)
	case 1:
		return fmt.Sprintf("Chunk ID: 3f\nWall time: 1.2 seconds\nProcess exited with code %d\nOutput:\n%s\n", status, text)
	case 2:
		return fmt.Sprintf("%s\n[The command completed with exit code %d.]", text, status)
	}
	return text
}
