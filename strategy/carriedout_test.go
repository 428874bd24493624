package strategy

import (
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestSummaryOmitsCarriedOutPlan(t *testing.T) {
	edit := func(id, path string) []message.Message {
		return asked(id, "Edit", `{"file_path":"`+path+`","old_string":"a row","new_string":"b row"}`, "The file has been updated")
	}
	passes, fails := command("9", "", "go test ./store", "Exit code: 0\nok  \tx/store\t0.1s"), command("9", "", "go test ./store", "Exit code: 1\n--- FAIL: TestRows")
	const named = "Plan:\n1. add a warning to `docs/rows.md`\n2. link it from `docs/faq.md`\n"
	const runs = "Plan:\n1. measure the importer\n2. batch the inserts\n3. test it again\n"
	const phases = "Plan:\n1. batch the inserts\n2. write the exporter\n"
	for name, c := range map[string]struct {
		plan string
		then [][]message.Message
		next bool
	}{
		"nothing was done":           {named, nil, true},
		"one of two files":           {named, [][]message.Message{edit("1", "docs/rows.md"), passes}, true},
		"both files":                 {named, [][]message.Message{edit("1", "docs/rows.md"), edit("2", "/p/docs/faq.md")}, false},
		"the run of the last step":   {runs, [][]message.Message{edit("1", "store/a.go"), passes}, false},
		"the run fails":              {runs, [][]message.Message{edit("1", "store/a.go"), fails}, true},
		"an edit after the run":      {runs, [][]message.Message{passes, edit("1", "store/a.go")}, true},
		"a run is not the last step": {phases, [][]message.Message{edit("1", "store/a.go"), passes}, true},
	} {
		msgs := []message.Message{message.User("Go on."), message.Assistant(c.plan, message.Call("0", "bash", `{"command":"ls store"}`)), message.ToolResult("0", "a.go")}
		var after []message.Message
		for _, m := range c.then {
			after = append(after, m...)
		}
		if got := nextOf(t, append(msgs[:3:3], after...)...); strings.Contains(got, writtenPlan) != c.next {
			t.Errorf("the plan is a next step or not, want the opposite: %s:\n%s", name, got)
		}
		h := NewHistory(Request{Strategy: TaskState, Previous: "## What is next\n- " + writtenPlan + planList(c.plan) + " [s2]", Messages: after, First: 9})
		if got := len(h.carried(TaskState, nil)) > 0; got != c.next {
			t.Errorf("%s: carried from the previous summary: %v, want %v", name, got, c.next)
		}
	}
}

// The reason of an earlier edit cites the step of that edit.
func TestReasonCitesStepOfEarlierEdit(t *testing.T) {
	edit := func(id, text string) []message.Message {
		return []message.Message{message.Assistant(text, message.Call(id, "Edit", `{"file_path":"store/rows.go","old_string":"a","new_string":"b"}`)), message.ToolResult(id, "The file has been updated")}
	}
	msgs := append([]message.Message{message.User("Count the rows.")}, edit("1", "Let me count the rows of each table in one query, so that it is faster.")...)
	for _, s := range []Strategy{TaskState, CodeDelta} {
		lines := func(msgs []message.Message) string {
			out := ""
			for _, l := range s.Extract(NewHistory(Request{Strategy: s, Messages: msgs, First: 1})) {
				out += l.Text + "\n"
			}
			return out
		}
		if got := lines(msgs); !strings.Contains(got, "said before: “count the rows of each table in one query, so that it is faster.” [s2]") {
			t.Errorf("%s: no reason of the last edit:\n%s", s.Name, got)
		}
		if got := lines(append(msgs[:3:3], edit("2", "")...)); !strings.Contains(got, "said before [s2]: “count the rows of each table in one query, so that it is faster.” [s4]") {
			t.Errorf("%s: no reason of the earlier edit:\n%s", s.Name, got)
		}
	}
}

// A message of the user only answers a question or an offer.
func TestAnswersQuoteOnlyQuestionsAndOffers(t *testing.T) {
	for text, want := range map[string]string{
		"The rows are sorted now. Then restart the dashboard.":                               "",
		"Callers would use the store directly, without the pool.":                            "",
		"Shall I sort the rows?":                                                             "Shall I sort the rows?",
		"Shall I sort the rows? It takes two minutes.":                                       "Shall I sort the rows?",
		"Shall I sort these?\n- the rows of orders\n- the rows of users\n- the rows of tags": "Shall I sort these?",
		"Is the table sorted? I looked it up in the code. The index has it in each case. So the rows are read in order everywhere.": "",
		"The query is slow. I'll add an index on the column.":                                                                       "I'll add an index on the column.",
		"I am ready to sort the rows.": "I am ready to sort the rows.",
	} {
		h := NewHistory(Request{Strategy: TaskState, First: 1, Messages: []message.Message{message.User("Sort the rows."), message.Assistant(text), message.User("Ok.")}})
		got := ""
		for _, l := range h.proposalLines(0) {
			_, got, _ = strings.Cut(l.Text, "answered the assistant's “")
			got, _, _ = strings.Cut(got, "”")
		}
		if got != want {
			t.Errorf("%q: answered %q, want %q", text, got, want)
		}
	}
}
