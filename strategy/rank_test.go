package strategy_test

import (
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

func TestRankingPutsUsedNamesBeforeShownNames(t *testing.T) {
	msgs := []message.Message{
		message.User("fix the loader"),
		message.Assistant("reading", message.Call("a", "read", `{"path":"src/used_file.go"}`)),
		message.ToolResult("a", "src/other_file.go src/third_file.go src/fourth_file.go"),
		message.Assistant("I changed src/used_file.go"),
	}
	x := strategy.NewHistory(strategy.Request{Strategy: strategy.TaskState, Messages: msgs, First: 1, Count: count4}).Index()
	if top := x.Top(1); len(top) != 1 || top[0].Text != "src/used_file.go" {
		t.Errorf("first is %+v, want src/used_file.go", top)
	}
}

func TestRankingPutsVisibleNamesLast(t *testing.T) {
	msgs := []message.Message{message.Assistant("src/a_seen_file.go and src/gone_file.go")}
	visible := []message.Message{message.Assistant("src/a_seen_file.go")}
	x := strategy.NewHistory(strategy.Request{Strategy: strategy.TaskState, Messages: msgs, Visible: visible, First: 1, Count: count4}).Index()
	if top := x.Top(2); len(top) != 2 || top[0].Text != "src/gone_file.go" || !top[1].Visible {
		t.Errorf("order %+v, want src/gone_file.go before a visible name", top)
	}
}

func count4(s string) int { return (len(s) + 3) / 4 }
