package strategy

import (
	"slices"
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

	next.Previous = summary + "\n## Outstanding actions and blockers\n- [done] ran `git push` (do not repeat) [s3]\n- [done] ran `npm publish` (do not repeat) [s5]\n- [done] ran `git tag v1` (do not repeat) [s6]"
	tells(t, next, []string{"[done] ran `git push`"}, []string{"Remove the cron entry"}) // effects are not items of the list

	other := long("Go on.", todo(`{"content":"Draw the picture of the queue","status":"in_progress"},{"content":"Send it to the team","status":"pending"}`)...)
	other.Previous = summary
	tells(t, other, []string{"[open] Draw the picture", "[open] Remove the cron entry"}, nil) // may be another list
}

func TestCarriedEffectsKeepTheirLines(t *testing.T) {
	for text, want := range map[string][]string{
		"Write the worker; Draw the picture":                                                               {"Write the worker", "Draw the picture"},
		"ran `a; b`, which printed: x; y (do not repeat) [s3]":                                             {"ran `a; b`, which printed: x; y (do not repeat) [s3]"},
		"ran `git push` (do not repeat) [s3]; ran `npm publish`, which printed: a; b (do not repeat) [s9]": {"ran `git push` (do not repeat) [s3]", "ran `npm publish`, which printed: a; b (do not repeat) [s9]"},
		"ran `git commit` (reverted [s8]) [s3]":                                                            {"ran `git commit` (reverted [s8]) [s3]"},
		"called `post_comment` 9004, which returned: a; b (then `delete_comment` 9004 [s28]) [s8]":         {"called `post_comment` 9004, which returned: a; b (then `delete_comment` 9004 [s28]) [s8]"},
	} {
		if got := splitDone(text); !slices.Equal(got, want) {
			t.Errorf("%q is split into %q, want %q", text, got, want)
		}
	}
	in := long("Go on.", message.Assistant("I go on with the work."))
	in.Previous = "## Outstanding actions and blockers\n- [done] ran `git push`, which printed: a; b (do not repeat) [s3]\n- [done] ran `npm publish` (do not repeat) [s9]\n- [done] Write the worker"
	tells(t, in, []string{"- [done] ran `git push`, which printed: a; b (do not repeat) [s3]\n", "- [done] ran `npm publish` (do not repeat) [s9]\n", "- [done] Write the worker\n"}, nil)
}
