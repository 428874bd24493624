package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestFollowedAnnouncementIsNotANextStep(t *testing.T) {
	edit := func(id, path string) []message.Message {
		return []message.Message{message.Assistant("", message.Call(id, "edit", `{"path":"`+path+`","old_string":"a","new_string":"b"}`)), message.ToolResult(id, "The file has been updated.")}
	}
	for name, c := range map[string]struct {
		msgs      []message.Message
		want, not []string
	}{
		"calls in a message of their own": {append([]message.Message{message.Assistant("Next I'll rename the column.")}, edit("1", "orders/schema.go")...),
			[]string{"the last step: Next I'll rename the column. — edited `orders/schema.go` [s4]"}, nil},
		"and more calls": {append(append([]message.Message{message.Assistant("Next I'll rename the column.")}, edit("1", "orders/schema.go")...), edit("2", "orders/doc.go")...),
			nil, []string{"announced last", "the last step"}},
		"the user spoke, and a call names the thing": {append([]message.Message{message.Assistant("Build 118 is out. Next I write the migration."), message.User("Stop using the old script.")}, edit("1", "migration.sql")...),
			nil, []string{"announced last"}},
		"the user spoke, and other calls followed": {append([]message.Message{message.Assistant("Build 118 is out. Next I write the migration."), message.User("Fix the readme first.")}, edit("1", "README.md")...),
			[]string{"announced last, before the user spoke again: Next I write the migration. [s4]"}, nil},
		"nothing is named": {append([]message.Message{message.Assistant("The agent merged the branch alpha. I will have that taken out."), message.User("Leave it in, it is fine.")}, edit("1", "README.md")...),
			nil, []string{"announced last"}},
		"a call without a result": {[]message.Message{message.Assistant("Next I write the migration."), message.Assistant("I begin.", message.Call("1", "edit", `{"path":"migration.sql","old_string":"a","new_string":"b"}`))},
			[]string{"announced last: Next I write the migration. [s4]"}, nil},
		"no calls since": {[]message.Message{message.Assistant("Build 118 is out. Next I write the migration.")},
			[]string{"announced last: Next I write the migration. [s4]"}, nil},
		"agents that only talk": {[]message.Message{message.Assistant("Let's first try the screener of the fund."), message.Assistant("The page has no list."), message.Assistant("The prospectus names two."), message.Assistant("One is closed."), message.Assistant("The other one is not.")},
			nil, []string{"announced last"}},
		"something that is not done": {[]message.Message{message.Assistant("The branch is behind. I will not force-push.")},
			nil, []string{"announced last"}},
	} {
		t.Run(name, func(t *testing.T) { tells(t, long("Move the orders table.", c.msgs...), c.want, c.not) })
	}
}

func TestListOfVerdictsIsNoPlan(t *testing.T) {
	list := func(items string) []message.Message {
		return []message.Message{message.Assistant("I looked at all of them. Recommended to close:\n" + items), message.Assistant("", message.Call("1", "bash", `{"command":"ls"}`)), message.ToolResult("1", "a")}
	}
	tells(t, long("Which tickets can be closed?", list("- `ord-12` and `ord-13`: completed by the merged request #31\n- `ord-14`: superseded by ord-20\n- `ord-15`: still needs the migration\n")...), nil, []string{writtenPlan})
	tells(t, long("Which tickets can be closed?", list("- `ord-12`: close it with a note once #31 is merged\n- `ord-13`: write the migration that was already planned\n- ask the owner of ord-14\n")...), []string{writtenPlan + "`ord-12`: close it"}, nil)
}
