package strategy

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
)

// The line of a record with twenty members is cut, so the members with the state come first.
func TestRecordLineBeginsWithState(t *testing.T) {
	const record = `{"user":"m","flights":[{"number":"HAT023","date":"2024-05-26"},{"number":"HAT204","date":"2024-05-28"}],"cabin":"economy","reservation_id":"K1","amount":567,"status":"cancelled"}`
	got := calledTool("cancel_reservation", record, "id", "K1").tell()
	const want = "called `cancel_reservation` K1, which returned: status: cancelled, reservation_id: K1, amount: 567, user: m, cabin: economy, flights: (number: HAT023, date: 2024-05-26; number: HAT204, date: 2024-05-28)"
	if got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// The address of a comment's author is not the address of the created comment.
func TestCreatedAddressIsTheRecordsOwn(t *testing.T) {
	for result, want := range map[string]string{
		`{"user":{"html_url":"https://x.org/author"},"id":9,"html_url":"https://x.org/pull/1#r9"}`: "html_url: https://x.org/pull/1#r9",
		`{"user":{"html_url":"https://x.org/author"},"id":9}`:                                      "id: 9",
		`{"id":9}` + "\n" + `{"id":10}`:                                                            "id: 9",
		`{"user":{"html_url":"https://x.org/author"},"body":"Fixed."}`:                             "body: Fixed., user: (html_url: https://x.org/author)",
	} {
		if got := ranCommand("gh api repos/a/b/pulls/1/comments -f body=x", result).tell(); !strings.HasSuffix(got, "which printed: "+want) {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestEffectChainStatesItsLength(t *testing.T) {
	reply := func(n string) string {
		return "# Issue " + n + " isn't here\ngh api repos/some-owner/some-repository/pulls/183/comments --field in_reply_to=28363658" + n + " --raw-field body='Fixed in\nthe last one.'\n"
	}
	for cmd, want := range map[string]string{
		reply("1") + reply("2") + reply("3"): " and 2 more `gh api`",
		reply("1"):                           "",
		"git push a && git push b":           "", // the line quotes both effects
		"pip install " + strings.Repeat("a ", 60) + "|| pip install b": "",
	} {
		if got := ranCommand(cmd, "").more(); got != want {
			t.Errorf("%q: %q, want %q", cmd, got, want)
		}
	}
	if got := ranCommand(reply("1")+reply("2"), "").tell(); !strings.HasSuffix(got, "` and 1 more `gh api`") {
		t.Error(got)
	}
}

// Six replies in one step share one line among the effects that must not be repeated.
func TestEffectsOfOneKindInOneStepShareALine(t *testing.T) {
	call := func(id, cmd string) message.Part { return message.Call(id, "bash", `{"command":`+quote(cmd)+`}`) }
	h := NewHistory(Request{Strategy: TaskState, First: 1, Messages: []message.Message{
		message.Assistant("", call("1", "gh api repos/a/b/pulls/1/comments -f body=x"), call("2", "gh api repos/a/b/pulls/1/comments -f body=y"), call("3", "gh api repos/a/b/pulls/1/comments -f body=z"), call("4", "gh pr merge 1")),
		message.ToolResult("1", `{"id":9}`), message.ToolResult("2", `{"id":10}`), message.ToolResult("3", `{"message":"no","status":"422"}`), message.ToolResult("4", "merged")}})
	var got []string
	for _, f := range h.effects() {
		got = append(got, f.Text)
	}
	want := []string{"ran `gh api repos/a/b/pulls/1/comments -f body=x` and 1 more `gh api`, which printed: id: 9 (do not repeat) [s1]", "ran `gh pr merge 1`, which printed: merged (do not repeat) [s1]"}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestMutationIsAnEffect(t *testing.T) {
	for cmd, want := range map[string]bool{
		"gh api graphql -f query='\nmutation {\n  t1: resolveReviewThread(input: {threadId: \"A\"}) { thread { id } }\n}'": true,
		"gh api graphql -f query='mutation($id: ID!) { a(input: {id: $id}) { id } }' -F id=3":                              true,
		`curl https://x.org/graphql --json '{"query": "mutation { a { id } }"}'`:                                           true,
		"gh api graphql -f query='query { repository(name: \"a\") { mutations } }'":                                        false,
		"gh api graphql -f query='{ viewer { login } }'":                                                                   false,
		"gh api graphql -f query='query { search(query: \"mutation tests\", type: ISSUE) { issueCount } }'":                false,
	} {
		if got := ranCommand(cmd, `{"data":{"t1":{"thread":{"id":"A"}}}}`).Effect(); got != want {
			t.Errorf("%q: %v, want %v", cmd, got, want)
		}
	}
	if !calledTool("graphql", `{"data":{"a":1}}`, "query", "mutation { a }").Effect() || calledTool("graphql", `{"data":{"a":1}}`, "query", "mutations { a }").Effect() {
		t.Error("a tool that takes a query")
	}
}

func TestTagsAndSentinelsAreNotOutcomes(t *testing.T) {
	for result, want := range map[string]string{
		"replied\n</persisted-output>":                                "replied",
		"the page\n</body></html>\n///PROCESS-DONE:0:PROCESS-DONE///": "the page",
		"sum 3\n__END__": "sum 3",
		"added 11 packages, and audited 241 packages in 13s\n\nRun `npm audit` for details.":                 "added 11 packages, and audited 241 packages in 13s",
		"To address all issues, run:\n  npm audit fix --force":                                               "",
		"WARNING: Running pip as the 'root' user can result in broken permissions and conflicting behaviour": "",
		"1 file changed, 2 insertions(+)\n create mode 100644 a.go":                                          "1 file changed, 2 insertions(+)",
	} {
		if got := ranCommand("./gen.sh all", result).lastWords(); got != want {
			t.Errorf("%q: %q, want %q", result, got, want)
		}
	}
}
