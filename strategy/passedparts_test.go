package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// A command with several checks failed. The summary says which of them passed alone since, and the
// failure is over when each of them has.
func TestChecksOfACommandThatPassedAloneSince(t *testing.T) {
	const failed, pass = "# a/store\nstore/a.go:10:2: result of fmt.Errorf call not used\n--- FAIL: TestOpen (0.00s)\n    a_test.go:12: got 1\nFAIL\ta/store\t0.1s", "ok  \ta/store\t0.1s"
	run := func(cmds ...[2]string) Input {
		var msgs []message.Message
		for i, c := range cmds {
			msgs = append(msgs, command(itoa(i+1), "", c[0], c[1])...)
		}
		return long("Make vet and tests pass.", append(msgs, message.Assistant("I go on."))...)
	}
	both, test, vet := [2]string{"go vet ./store; go test ./store 2>&1 | tail -9", failed}, [2]string{"go test ./store | tail -3", pass}, [2]string{"go vet ./store", "Exit code: 0"}
	const half = "; its `go test ./store` passed since [s6], its `go vet ./store` has not"
	tells(t, run(both, test), []string{"[s4]" + half, "last run failed: `go vet ./store; go test ./store 2>&1 | tail -9`" + half}, nil)
	tells(t, run(both, test, vet), []string{"its `go vet ./store` passed since [s8], its `go test ./store` passed since [s6]"}, []string{"last run failed"})
	tells(t, run(both, test, [2]string{"go test ./store", failed}), nil, []string{"passed since"})
	tells(t, run(both, [2]string{"go test ./store -run TestOpen", pass}), []string{"last run failed"}, []string{"passed since"})

	// with && the tests ran only because the check before them passed
	tells(t, run([2]string{"tsc --noEmit && npm test", "Tests:       1 failed, 4 passed, 5 total"}, [2]string{"npm test", "Tests:       5 passed, 5 total"}), nil, []string{"last run failed", "has not"})
	tells(t, run([2]string{"tsc --noEmit && npm test", "src/a.ts(3,7): error TS2304: Cannot find name 'x'."}, [2]string{"npm test", "Tests:       5 passed, 5 total"}),
		[]string{"its `npm test` passed since [s6], its `tsc --noEmit` has not"}, nil)
}
