package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// A server that was started in the background runs on until a command ends it or starts it again.
// The summary says with which command and number.
func TestSummaryStatesProcessesThatRun(t *testing.T) {
	start := func(cmd, out string) []message.Message { return command("1", "", cmd, out) }
	then := func(first []message.Message, cmd, out string) Input {
		return long("Measure the server.", append(append([]message.Message{}, first...), command("2", "", cmd, out)...)...)
	}
	server := start("make build && nohup ./bin/searchd --port 8087 > /tmp/s.log 2>&1 & echo $!", "48213")
	const runs = "started in the background: `./bin/searchd --port 8087` (pid 48213); no end of it stands in this part [s4]"
	tells(t, then(server, "curl -s localhost:8087/healthz", "ok"), []string{runs}, nil)
	for _, end := range []string{"kill 48213", "kill -9 48213; sleep 1", "pkill -f searchd", "kill $(lsof -t -i:8087)", "lsof -ti:8087 | xargs kill", "fuser -k 8087/tcp"} {
		tells(t, then(server, end, ""), nil, []string{"started in the background"})
	}
	for _, other := range []string{"kill 48214", "pkill -f indexer", "kill $(lsof -t -i:8080)", "echo kill 48213 later"} {
		tells(t, then(server, other, ""), []string{runs}, nil)
	}
	tells(t, then(server, "kill 48213; ./bin/searchd --port 8087 --cache=off & echo $!", "48377"),
		[]string{"`./bin/searchd --port 8087 --cache=off` (pid 48377); no end of it stands in this part [s6]"}, []string{"48213)"})
	words := start("./bin/searchd --port 8087 & echo started $!", "started 48213")
	tells(t, then(words, "ls", ""), []string{runs}, nil)
	tells(t, then(words, "kill 48213", ""), nil, []string{"started in the background"})
	tells(t, then(start("./bin/searchd --port 8087 &", ""), "kill 48213", ""), nil, []string{"started in the background"})
	tells(t, then(start("./a & ./b & wait", "done"), "./serve & sleep 2; curl -s localhost:9090; kill $!", "ok"), nil, []string{"started in the background"})
	tells(t, then(start("cd web && (npm run dev > dev.log 2>&1 &)", "[1] 3301"), "sleep 3; cat dev.log", "ready"), []string{"`npm run dev` (pid 3301)"}, nil)
}

// A task in the background is named by the id of the harness, and ends with its tool or a notice.
func TestTaskInTheBackgroundEndsWithItsTool(t *testing.T) {
	begin := []message.Message{message.Assistant("", message.Call("1", "Bash", `{"command":"flask run --port 5000","run_in_background":true}`)),
		message.ToolResult("1", "Command running in background with ID: b12. Output is being written to: /tmp/b12.output")}
	const runs = "started in the background: `flask run --port 5000` (id b12)"
	tells(t, long("Start it.", begin...), []string{runs}, nil)
	tells(t, long("Start it.", append(begin[:2:2], message.Assistant("", message.Call("2", "KillShell", `{"shell_id":"b12"}`)), message.ToolResult("2", "Successfully killed shell: b12"))...), nil, []string{"started in the background"})
	notice := "<task-notification>\n<task-id>b12</task-id>\n<status>failed</status>\n<summary>Background command failed</summary>\n</task-notification>"
	tells(t, long("Start it.", append(begin[:2:2], message.User(notice))...), nil, []string{"started in the background"})
}

// The next summary keeps the line about a process until it ends.
func TestProcessOfThePreviousSummaryEnds(t *testing.T) {
	in := long("Measure the server.", command("1", "", "./bin/searchd --port 8087 & echo $!", "48213")...)
	for cmd, runs := range map[string]bool{"kill 48213": false, "ls": true} {
		then := long("Go on.", command("2", "", cmd, "")...)
		then.Previous, then.First = write4(t, in), 10
		want, not := []string{"(pid 48213)"}, []string(nil)
		if !runs {
			want, not = not, want
		}
		tells(t, then, want, not)
	}
}
