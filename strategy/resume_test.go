package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

// A call that waits for a command does not count as another run of it. A call that stops a
// command does not show its outcome.
func TestStoppedCommandRanOnce(t *testing.T) {
	const still = "<command with shellId: 7 is still running after 30 seconds. The command is still running.>"
	msgs := append(command("1", "", "./scan.sh /srv", still),
		message.Assistant("", message.Call("2", "read_bash", `{"shellId":"7"}`)), message.ToolResult("2", still),
		message.Assistant("", message.Call("3", "stop_bash", `{"shellId":"7"}`)), message.ToolResult("3", "<command with id: 7 stopped>"))
	tells(t, long("Find the file.", msgs...), nil, []string{"runs since", "stop_bash"})
	ended := append(command("1", "", "./scan.sh /srv", still),
		message.Assistant("", message.Call("2", "read_bash", `{"shellId":"7"}`)), message.ToolResult("2", "/srv/orders.csv\n<shellId: 7 completed with exit code 0>"))
	tells(t, long("Find the file.", ended...), []string{"/srv/orders.csv"}, []string{"runs since", "read_bash"})
}
