package strategy_test

import (
	"context"
	"strings"
	"testing"

	"github.com/agentcompact/compact/internal/summarize"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/strategy"
)

const startedAgent = "Async agent launched successfully.\nagentId: a77 (internal ID)\nThe agent is working in the background."

func notice(id, status, summary, rest string) message.Message {
	return message.User("<task-notification>\n<task-id>" + id + "</task-id>\n<status>" + status + "</status>\n<summary>" + summary + "</summary>\n" + rest + "</task-notification>\nFull transcript available at: /tmp/tasks/" + id + ".output")
}

func started() []message.Message {
	msgs := append([]message.Message{message.User("Let an agent measure the cache, and fix the parser meanwhile.")},
		called("1", "Task", `{"description":"Measure the cache","prompt":"Run the benchmark of the cache."}`, startedAgent)...)
	return append(msgs, called("2", "read", `{"path":"parser.go"}`, strings.Repeat("func parse() {}\n", 100))...)
}

func TestSummaryQuotesReportOfBackgroundAgent(t *testing.T) {
	text := extract(t, strategy.TaskState, append(started(), message.Assistant("I fix the parser while it runs."),
		notice("a77", "completed", `Agent "Measure the cache" completed`, "<result>The cache answers 40% of the lookups. I changed `cache/size.go`.</result>\n")))
	if !strings.Contains(text, "[s7] the sub-agent for “Measure the cache” reported: The cache answers 40% of the lookups. I changed `cache/size.go`.") ||
		strings.Contains(text, "no report of it") || strings.Contains(text, "Full transcript") {
		t.Errorf("the summary does not quote the report as wanted:\n%s", text)
	}
}

func TestSummaryNamesBackgroundAgentWithoutReport(t *testing.T) {
	const still = "the sub-agent for “Measure the cache” was started in the background; no report of it stands in this part [s2]"
	other := called("3", "Task", `{"description":"Check the docs","prompt":"Read all of them."}`, "The docs are up to date.")
	for _, msgs := range [][]message.Message{started(), append(started(), other...)} {
		if text := extract(t, strategy.TaskState, msgs); !strings.Contains(text, still) {
			t.Errorf("the summary does not name the agent without a report:\n%s", text)
		}
	}
	stopped := append(started(), called("3", "TaskStop", `{"task_id":"a77"}`, "Successfully stopped task: a77")...)
	if text := extract(t, strategy.TaskState, stopped); strings.Contains(text, "no report of it") {
		t.Errorf("a stopped agent still waits for a report:\n%s", text)
	}
	broke := append(started(), notice("a77", "failed", `Agent "Measure the cache" was stopped before it completed.`, ""))
	if text := extract(t, strategy.TaskState, broke); !strings.Contains(text, "the sub-agent for “Measure the cache” failed: Agent") || strings.Contains(text, "no report of it") {
		t.Errorf("a failed agent is not stated as failed:\n%s", text)
	}
}

// If a sub-agent reported on an item after the list was last written, the item has a mark. The
// next summary keeps the mark until a later list replaces it.
func TestItemMarksReportOfSubAgent(t *testing.T) {
	list := func(id, status string) []message.Message {
		return called(id, "TodoWrite", `{"todos":[{"content":"Measure the cache","status":"`+status+`"},{"content":"Fix the parser","status":"pending"}]}`, "Todos have been modified")
	}
	agent := called("2", "Task", `{"description":"Measure the cache","prompt":"Run the benchmark."}`, "The cache answers 40% of the lookups.")
	msgs := append(append([]message.Message{message.User("Measure the cache with an agent, then fix the parser.")}, list("1", "in_progress")...), agent...)
	text := extract(t, strategy.TaskState, msgs)
	const marked = "[open] Measure the cache (in progress) (a sub-agent reported on it [s4])"
	if !strings.Contains(text, marked) || !strings.Contains(text, "[open] Fix the parser\n") {
		t.Errorf("want %q, and the other item without a mark, in:\n%s", marked, text)
	}
	next := func(more ...message.Message) string {
		sum, err := summarize.Writer{}.Write(context.Background(), summarize.Input{Previous: text, First: 6, Count: count4, Messages: append(more, message.User("Go on."))})
		if err != nil {
			t.Fatal(err)
		}
		return sum.Text
	}
	if got := next(called("3", "read", `{"path":"parser.go"}`, "func parse() {}")...); !strings.Contains(got, marked) {
		t.Errorf("want %q in:\n%s", marked, got)
	}
	if got := next(list("3", "pending")...); strings.Contains(got, "reported on it") || !strings.Contains(got, "[open] Measure the cache\n") {
		t.Errorf("the mark must not outlive a new list:\n%s", got)
	}
	if got := next(list("3", "completed")...); strings.Contains(got, "[open] Measure") {
		t.Errorf("a completed item is open:\n%s\nwant text without %q", got, "[open] Measure")
	}
}

func TestReportReplacesPreviousLineAboutBackgroundAgent(t *testing.T) {
	before := extract(t, strategy.TaskState, started())
	sum, err := summarize.Writer{}.Write(context.Background(), summarize.Input{Previous: before, Count: count4, Messages: []message.Message{
		notice("a77", "completed", `Agent "Measure the cache" completed`, "<result>The cache answers 40% of the lookups.</result>\n")}})
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(before, "no report of it") || !strings.Contains(sum.Text, "“Measure the cache” reported: The cache answers 40%") || strings.Contains(sum.Text, "no report of it") {
		t.Errorf("the report does not replace the earlier line:\n%s", sum.Text)
	}
}

func TestBackgroundCheckTakesStatusFromNotice(t *testing.T) {
	msgs := append([]message.Message{message.User("Build all packages.")},
		called("1", "Bash", `{"command":"pnpm build","run_in_background":true}`, "Command running in background with ID: b12. Output is being written to: /tmp/b12.output")...)
	for summary, want := range map[string]string{
		`Background command "Build" completed (exit code 0)`:          "`pnpm build` passed (exit 0)",
		`Background command "Build" failed with (exit code 2) at end`: "`pnpm build` failed (exit 2)",
	} {
		if text := extract(t, strategy.TaskState, append(msgs[:3:3], notice("b12", "completed", summary, ""))); !strings.Contains(text, want) {
			t.Errorf("%s is missing:\n%s", want, text)
		}
	}
}
