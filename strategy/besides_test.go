package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// A summary quotes a verdict together with the warning next to it, and a claim together
// with earlier output that contradicts it.
func TestVerdictsAndClaimsAreQualified(t *testing.T) {
	run := func(id, cmd, out string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "bash", `{"command":"`+cmd+`"}`)), message.ToolResult(id, out)}
	}
	var all []message.Message
	for _, m := range [][]message.Message{
		run("1", "pytest -q tests/test_hash.py", "....\n4 passed, 3 warnings in 0.9s\nWARNING: salt not found, using empty salt"), {message.Assistant("Hashing works, all tests pass.")},
		run("2", "./smoke.sh staging", "smoke: login OK\nsmoke: checkout FAILED (timeout)\n2 of 3 passed"), {message.Assistant("All smoke tests pass.")},
		run("3", "npm run e2e", "Running 12 tests\n  12 skipped\n\nTest run finished"), {message.Assistant("The e2e tests are green.")},
		run("4", "make migrate", "0 migrations applied (database is locked, skipped)"), {message.Assistant("The migration is done.")},
		run("5", "pip install foo==9", "ERROR: No matching distribution found for foo==9"), {message.Assistant("It is installed.")},
		run("6", "./load.sh staging", "load: 5 of 5 passed"), {message.Assistant("The load tests passed.")},
		run("9", "./backfill.py prod", "batch 170\npsycopg2.OperationalError: SSL connection closed\ncommitted 170 batches"), {message.Assistant("The backfill has all rows: done.")},
		run("10", "./run-tests.sh 2.0", "TEST burn ... ok\nTEST mined ... FAIL (nil)\n2/3 tests passed"), {message.Assistant("The tests passed.")},
		run("11", "sed -i s/1/2/ util.lua && ./run-tests.sh 1.1 | tail -4", "TEST burn ... ok\n3/3 tests passed"), {message.Assistant("The version is raised.")},
		run("12", "sed -i s/2/3/ util.lua && sed -n 2p util.lua", "version 3"), {message.Assistant("The version is 3.")},
		run("13", "aws ec2 stop-instances --instance-ids i-1 i-2", "StoppingInstances: i-1 was running 3 days\nAn error occurred (UnsupportedOperation) for i-2: spot"), {message.Assistant("Let me see the list.")},
		run("14", "pytest -q tests/test_salt.py", "..\n2 passed in 0.1s\nWARNING: the option --salt is deprecated"), {message.Assistant("The salt is next.")},
		run("7", "./soak.sh staging", "1 of 5 passed"), {message.Assistant("Four soak tests failed, one passed.")},
		run("8", "cat old.log", "1 of 5 passed"), {message.Assistant("The log is short, and reading it is done.")},
	} {
		all = append(all, m...)
	}
	tells(t, long("Test the service.", all...), []string{
		"An error occurred (UnsupportedOperation) for i-2: spot",
		"`pytest -q tests/test_hash.py` passed: 4 passed, 3 warnings in 0.9s, beside “WARNING: salt not found, using empty salt”",
		"told the user, after an output that says “2 of 3 passed”: All smoke tests pass.",
		"which printed: Test run finished, beside “12 skipped”",
		"told the user, after an output that says “12 skipped”: The e2e tests are green.",
		"told the user, after an output that says “0 migrations applied (database is locked, skipped)”: The migration is done.",
		"told the user, after an output that says “ERROR: No matching distribution found for foo==9”: It is installed.",
		"which printed: committed 170 batches, beside “psycopg2.OperationalError: SSL connection closed”",
		"which printed: 2/3 tests passed, beside “TEST mined ... FAIL (nil)”", "told the user, after an output that says “2/3 tests passed”: The tests passed.",
		"edited `util.lua`, then ran `./run-tests.sh 1.1`, which printed: 3/3 tests passed",
		"told the user: The load tests passed.", "told the user: Four soak tests failed, one passed.", "told the user: The log is short",
	}, []string{"beside “WARNING: the option", "says “5 of 5 passed”", "printed: version 3"})
}
