package strategy

import "testing"

// A summary quotes each question of a call together with its own answer.
func TestSummaryQuotesAnswersWithTheirQuestions(t *testing.T) {
	for _, c := range []struct {
		tool         string
		args         []Arg
		result, want string
	}{
		{"ask_user", []Arg{{"q", "Which rule?"}, {"options", "max"}, {"q", "Share it?"}}, `{"answers":["top 500","no, keep it local"]}`, "asked “Which rule?”, the user answered: top 500; asked “Share it?”, the user answered: no, keep it local"},
		{"ask_user", []Arg{{"question", "Region?"}, {"question", "Retention?"}}, `{"answers":{"Retention?":"36 months","Region?":"eu only"}}`, "asked “Region?”, the user answered: eu only; asked “Retention?”, the user answered: 36 months"},
		{"request_user_input", []Arg{{"id", "q1"}, {"question", "On Friday?"}}, `{"answers":{"q1":{"answers":["never on Fridays"]}}}`, "asked “On Friday?”, the user answered: never on Fridays"},
		{"mcp__human__ask", []Arg{{"prompt", "Delete the exports?"}}, `{"response":"no, legal hold"}`, "asked “Delete the exports?”, the user answered: no, legal hold"},
		{"ask_followup_question", []Arg{{"question", "Codec?"}, {"follow_up", "zstd"}}, "<answer>zstd, level 3</answer>", "asked “Codec?”, the user answered: zstd, level 3"},
		{"AskUserQuestion", []Arg{{"question", "Where to?"}, {"label", "NAS"}, {"question", "Encrypted?"}}, `User has answered your questions: "Where to?"="NAS, port 2222", "Encrypted?"="Yes". You can now continue with the answers in mind.`, "asked “Where to?”, the user answered: NAS, port 2222; asked “Encrypted?”, the user answered: Yes"},
		{"AskUserQuestion", []Arg{{"question", "Where to?"}}, `Answers: "Where to?"="the .old folder, not the "new" one". You can now continue.`, "asked “Where to?”, the user answered: the .old folder, not the \"new\" one"},
		{"AskUserQuestion", []Arg{{"question", "Which?"}}, "Your questions have been answered: \"Which?\"=\"The outer one\" selected preview:\n+--+\n|  |. You can now continue with it.", "asked “Which?”, the user answered: The outer one"},
		{"AskUserQuestion", []Arg{{"question", "Where to?"}, {"question", "When?"}}, `"Where to?"="home".`, "asked “Where to?”, the user answered: home"},
		{"ask_user", []Arg{{"question", "Which?"}}, "the second one", "asked “Which?”, the user answered: the second one"},
		{"ask_user", []Arg{{"question", "Which?"}, {"question", "When?"}}, `{"answers":["the second one"]}`, "asked “Which?”, the user answered: the second one; asked “When?”, the user answered: (no answer)"},
	} {
		call := Call{Tool: c.tool, Args: c.args, Result: c.result, Answered: true, Exit: -1}
		if call.deed() != deedAsk {
			t.Errorf("%s does not count as a question to the user", c.tool)
		}
		if got, _ := call.standing(); got != c.want {
			t.Errorf("%s: %q, want %q", c.tool, got, c.want)
		}
	}
	if (&Call{Tool: "task_user"}).asksUser() || (&Call{Tool: "search_users"}).asksUser() {
		t.Error("a tool that asks no person counts as a question to the user")
	}
}
