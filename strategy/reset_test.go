package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The commands of a call run in their order, and git says where a reset ends. A merge adds a
// commit that no output names.
func TestResetInTheCommandOfACommit(t *testing.T) {
	const done, undone = "up: retries (do not repeat)", "up: retries (then taken back with git reset"
	for name, c := range map[string]struct {
		runs      [][2]string
		want, not []string
	}{
		"a trial commit": {[][2]string{{"git commit -m 'up: trial' && git reset --hard HEAD~1", "[main 77aa001] up: trial\nHEAD is now at 9c01d2e up: retries"}},
			[]string{done, "up: trial (then taken back with git reset [s6])"}, []string{undone}},
		"two commits": {[][2]string{{"git commit -m 'up: one' && git commit -m 'up: two'", "[main 77aa001] up: one\n[main 77aa002] up: two"}, {"git reset HEAD~2", ""}},
			[]string{done, "up: two (then taken back with git reset [s8])"}, []string{undone}},
		"after a merge":      {[][2]string{{"git merge side", "Merge made by the 'ort' strategy."}, {"git reset --hard HEAD~1", ""}}, []string{done}, []string{undone}},
		"git names the end":  {[][2]string{{"make release", "made a commit"}, {"git reset --hard HEAD~1", "HEAD is now at 9c01d2e up: retries"}}, []string{done}, []string{undone}},
		"the commit is gone": {[][2]string{{"git reset --hard HEAD~1", "HEAD is now at 0aa4711 up: start"}}, []string{undone + " [s6])"}, []string{done}},
	} {
		t.Run(name, func(t *testing.T) {
			msgs := command("c", "", "git commit -m 'up: retries'", "[main 9c01d2e] up: retries")
			for i, r := range c.runs {
				msgs = append(msgs, command(itoa(i), "", r[0], r[1])...)
			}
			tells(t, long("Commit the steps.", msgs...), c.want, c.not)
		})
	}
}

// The text of a step that changed a file is not a reason to take the change back.
func TestReasonOfAnUndoFollowsTheChange(t *testing.T) {
	edit := func(id, text string) []message.Message {
		return []message.Message{message.Assistant(text, message.Call(id, "edit", `{"path":"Makefile","old_string":"a","new_string":"b"}`)), message.ToolResult(id, "The file Makefile has been updated.")}
	}
	msgs := append(edit("1", "The rule for the images is wrong in two places."), command("2", "I take it back.", "git checkout -- Makefile", "")...)
	msgs = append(msgs, command("3", "", "git reset --hard", "HEAD is now at 9c01d2e up: retries")...)
	tells(t, long("Tidy the build.", msgs...), []string{"took changes back with `git checkout -- Makefile` [s6]", "took changes back with `git reset --hard` [s8]", "`Makefile`: edited, then taken back"}, nil)
	msgs = append(edit("1", "I change the rule."), command("2", "The new rule builds every image twice.", "make", "built 12 images")...)
	tells(t, long("Tidy the build.", append(msgs, command("3", "", "git checkout -- Makefile", "")...)...),
		[]string{"took changes back with `git checkout -- Makefile`: The new rule builds every image twice. [s8]"}, nil)
}

// The decision log states what happened to an effect later. The changes of a file include only
// changes that were not taken back.
func TestOtherStrategiesKnowWhatWasTakenBack(t *testing.T) {
	edit := func(id, text string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "edit", `{"path":"docs/up.md","old_string":"x","new_string":"`+text+`"}`)), message.ToolResult(id, "The file docs/up.md has been updated.")}
	}
	msgs := append(edit("1", "The upload retries three times."), command("2", "", "git commit -am 'up: retries'", "[main 9c01d2e] up: retries\n 1 file changed")...)
	msgs = append(msgs, edit("3", "The cache holds forty names.")...)
	msgs = append(msgs, command("4", "", "git restore docs/up.md", "")...)
	in := long("Describe the upload.", msgs...)
	in.Count = func(s string) int { return (len(s) + 3) / 4 }
	if text := written(t, codeDelta, 1500, in); strings.Contains(text, "forty names") || !strings.Contains(text, "retries three times") {
		t.Errorf("the decision log does not say that the effect was taken back:\n%s", text)
	}
	msgs = append(msgs, command("5", "", "git commit --allow-empty -m 'up: trial' && git reset --hard HEAD~1", "[main 77aa001] up: trial\nHEAD is now at 9c01d2e up: retries")...)
	in.Messages = long("Describe the upload.", msgs...).Messages
	if text := written(t, decisionLog, 1500, in); !strings.Contains(text, "up: trial (then taken back with git reset [s12])") || strings.Contains(text, "(do not repeat)") {
		t.Errorf("the changes of the file include one that was taken back:\n%s", text)
	}
}
