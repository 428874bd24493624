package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// A cancelled item is neither done nor open, also in the next summary.
func TestCancelledItemIsNotDone(t *testing.T) {
	list := func(id, publish, german string) []message.Message {
		return calledAs(id, "TodoWrite", `{"todos":[{"content":"Collect the changes","status":"completed"},{"content":"Publish to the wiki","status":"`+publish+`"},{"content":"Translate the notes","status":"`+german+`"}]}`, "Todos have been modified")
	}
	in := long("Write the release notes.", append(list("1", "pending", "pending"), list("2", "cancelled", "in_progress")...)...)
	want := []string{"[done] Collect the changes\n", "[dropped] Publish to the wiki\n", "[open] Translate the notes (in progress)"}
	tells(t, in, want, []string{"[done] Publish", "; Publish"})
	then := long("Go on.", command("3", "", "make notes", "notes.html written")...)
	then.Previous, then.First = write4(t, in), 20
	tells(t, then, want, nil)
	last := long("Go on.", list("4", "pending", "completed")...)
	last.Previous, last.First = write4(t, in), 20
	tells(t, last, []string{"[open] Publish to the wiki", "[done] Translate the notes; Collect the changes"}, []string{"[dropped]"})
}

// A commit settles an earlier failure, also if the same command pushes it.
func TestCommitWithAPushLeavesAFailureBehind(t *testing.T) {
	msgs := append([]message.Message{message.User("Move the dates.")}, command("1", "", "go test ./store", "Exit code: 1\n--- FAIL: TestZone")...)
	msgs = append(msgs, command("2", "", "git commit -am dates && git push", "Exit code: 0\n[main 1a2b3c4] dates\n 2 files changed\nTo example.com:shop.git\n   0aa4711..1a2b3c4  main -> main")...)
	if got := nextOf(t, msgs...); strings.Contains(got, "its last run failed") {
		t.Errorf("the failure before the commit is a next step:\n%s", got)
	}
	msgs = append([]message.Message{message.User("Move the dates.")}, command("1", "", "go test ./store", "Exit code: 1\n--- FAIL: TestZone")...)
	if got := nextOf(t, append(msgs, message.Assistant("TestZone failed before my change too."), message.User("Now the readme."))...); !strings.Contains(got, "said later: “TestZone failed before my change too.”") {
		t.Errorf("the next steps:\n%s\nwant text with %q", got, "said later: “TestZone failed before my change too.”")
	}
}
