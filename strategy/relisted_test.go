package strategy

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestNewListReplacesListOfPreviousSummary(t *testing.T) {
	todo := func(list string) []message.Message {
		return []message.Message{message.Assistant("", message.Call("t", "TodoWrite", `{"todos":[`+list+`]}`)), message.ToolResult("t", "ok")}
	}
	first := long("Move the jobs to the queue.", todo(`{"content":"Write the worker","status":"in_progress"},{"content":"Write the migration","status":"pending"},{"content":"Remove the cron entry","status":"pending"}`)...)
	first.Count = func(s string) int { return (len(s) + 3) / 4 }
	summary := written(t, taskState, 1500, first)

	next := long("Go on.", todo(`{"content":"Write the worker","status":"completed"},{"content":"Write the migration","status":"in_progress"}`)...)
	next.Previous = summary
	tells(t, next, []string{"[open] Write the migration (in progress)", "[done] Write the worker"}, []string{"Remove the cron entry"})

	other := long("Go on.", todo(`{"content":"Draw the picture of the queue","status":"in_progress"},{"content":"Send it to the team","status":"pending"}`)...)
	other.Previous = summary
	tells(t, other, []string{"[open] Draw the picture", "[open] Remove the cron entry"}, nil) // may be another list
}
