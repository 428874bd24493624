package main

import "fmt"

// scripts are the sessions by file name.
var scripts = map[string]func(*agent){
	"coding-session.jsonl": coding,
	"short-session.jsonl":  short,
}

const systemPrompt = `You are a careful software engineer. You work on a Go repository with the tools bash, read_file, write_file, edit_file and dispatch.
Run the tests after each change. Never edit go.mod. Explain a decision in one sentence before you act on it.`

// coding is a long session: the agent adds a feature to package message, with
// the dead ends and reruns of such work.
func coding(a *agent) {
	a.system(systemPrompt)
	a.developer("Commits must be small. The public API of package message may grow, but nothing in it may change its meaning.")
	a.user("Add a function message.Census to package message: it counts the parts of a conversation by kind and reports the number of rounds and turns. It must have tests, and `go vet ./message/...` must stay clean.")
	a.protected("Constraint from the reviewers, valid for the whole session: Census must be one pass over the messages and must not allocate more than its result. Ticket CMP-1042.")
	explore(a)
	implement(a)
	a.user("很好。请再确认一下：Census 是否正确处理没有任何内容的消息？另外请检查中文和日本語のテキストが壊れないこと。")
	cjk(a)
	a.user("Before we merge, review how the other packages use rounds, so that we know Census fits them. Then run everything once more.")
	review(a)
	a.answer("Census is in message/census.go with its tests in message/census_test.go. The tests of the package pass, go vet is clean, and the packages that use rounds need no change. CMP-1042 is met: one pass, and the only allocation is the result.")
	a.user("Thank you. Which file holds the tests, and what did the reviewers ask for?")
}

func explore(a *agent) {
	a.act("I start with what is there: the layout and the package that is to change.",
		bash("ls"), bash("ls message message/openai"), bash("wc -l message/*.go message/openai/*.go"))
	a.act("The types first.", read("message/message.go"))
	a.act("Rounds and turns are what Census reports, so I read how they are made.", read("message/round.go"), read("message/new.go"))
	a.act("How are messages compared and named?", read("message/fingerprint.go"), read("message/identical.go"))
	a.act("Who uses rounds today?", bash(`grep -rn "message\.Rounds\|message\.Turns\|message\.Open(" --include=*.go . | head -60`))
	a.act("The codec decides which parts a message has.", read("message/openai/parse.go"), read("message/openai/content.go"))
	a.act("And how they are written back.", read("message/openai/write.go"), read("message/openai/file.go"))
	a.act("Do the tests pass before I change anything?", bash("go test ./message/... 2>&1 | tail -20"))
	a.act("The API as a user sees it.", bash("go doc -all ./message"))
}

const census = `package message

// A Census says what a conversation is made of.
type Census struct {
	Messages int
	Rounds   int
	Turns    int
	Parts    [8]int // by Kind
}

// CensusOf counts a conversation in one pass.
func CensusOf(msgs []Message) Census {
	c := Census{Messages: len(msgs)}
	for i := range msgs {
		for _, p := range msgs[i].Parts {
			c.Parts[p.Kind]++
		}
	}
	rounds := Rounds(msgs)
	c.Rounds, c.Turns = len(rounds), len(Turns(rounds))
	return c
}
`

const censusTest = `package message_test

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

func TestCensusCountsPartsRoundsAndTurns(t *testing.T) {
	msgs := []message.Message{
		message.System("s"),
		message.User("u"),
		message.Assistant("a", message.Call("c1", "bash", "{}"), message.Call("c2", "bash", "{}")),
		message.ToolResult("c1", "one"),
		message.ToolResult("c2", "two"),
		message.User("and now?"),
	}
	c := message.CensusOf(msgs)
	if c.Messages != 6 || c.Rounds != 5 || c.Turns != 1 {
		t.Errorf("got %+v", c)
	}
	if c.Parts[message.KindToolCall] != 2 || c.Parts[message.KindToolResult] != 2 || c.Parts[message.KindText] != 4 {
		t.Errorf("parts %v", c.Parts)
	}
}
`

func implement(a *agent) {
	a.act("Decision: an array indexed by kind instead of a map, because a map allocates for each kind (CMP-1042).",
		write("message/census.go", census), write("message/census_test.go", censusTest))
	a.act("Run the new test.", bash("go test ./message/ -run Census -v 2>&1 | tail -20"))
	a.act("The count of rounds is not what I expected. I look at the definition again before I touch the test.",
		read("message/round.go"), bash(`grep -n "A Round is" -A 8 message/round.go`))
	a.act("A round is the assistant message with its results, so there are four rounds: my expectation was wrong, not the code.",
		edit("message/census_test.go", "c.Rounds != 5", "c.Rounds != 4"))
	a.act("Again, with vet.", bash("go test ./message/ -run Census -v 2>&1 | tail -20"), bash("go vet ./message/... && echo clean"))
	a.act("The constraint says no allocation beyond the result. A benchmark shows it.",
		write("message/census_bench_test.go", benchmark), bash("go test ./message/ -run xxx -bench Census -benchmem -benchtime 100x 2>&1 | grep -v '^cpu' | sed -E 's/[0-9.]+ ns\\/op/N ns\\/op/'"))
	a.act("Rounds allocates, so CensusOf does. I read how much of it is needed.",
		bash(`grep -n "make(\|append(\|map\[" message/round.go`), read("message/round.go"))
	for _, p := range []string{"policy", "token", "storage"} {
		a.act(fmt.Sprintf("Does package %s count parts in a way that I can share?", p),
			bash(fmt.Sprintf("ls %s && go doc ./%s | head -60", p, p)), bash(fmt.Sprintf(`grep -rn "KindToolResult" --include=*.go %s | head -40`, p)))
	}
}

const benchmark = `package message_test

import (
	"testing"

	"github.com/agentcompact/compact/message"
)

func BenchmarkCensus(b *testing.B) {
	var msgs []message.Message
	for range 500 {
		msgs = append(msgs, message.User("u"), message.Assistant("a", message.Call("c", "bash", "{}")), message.ToolResult("c", "r"))
	}
	b.ReportAllocs()
	for b.Loop() {
		message.CensusOf(msgs)
	}
}
`

func cjk(a *agent) {
	a.act("我先写一个包含中文、日文和空消息的测试。", write("message/census_cjk_test.go", cjkTest))
	a.act("运行测试。", bash("go test ./message/ -run 'Census' -v 2>&1 | tail -30"))
	a.act("空消息没有部件，不会被计入；中文和日文原样保留。我再读一遍写出代码以确认编码。",
		read("internal/jsonscan/jsonscan.go"), bash(`grep -rn "日本\|中文\|漢字" --include=*.go . | head -20`))
	a.answer("已确认：没有内容的消息不计入任何部件，但计为一条消息；中文、日本語和表情符号在往返之后逐字节相同。测试在 message/census_cjk_test.go。")
}

const cjkTest = `package message_test

import (
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/openai"
)

func TestCensusWithChineseJapaneseAndEmptyMessages(t *testing.T) {
	line := []byte(` + "`" + `{"role":"user","content":"请检查配置文件。設定ファイルを確認してください。🚀"}` + "`" + `)
	m, err := openai.ParseMessage(line)
	if err != nil {
		t.Fatal(err)
	}
	if got := string(openai.AppendMessage(nil, m)); got != string(line) {
		t.Errorf("round trip: %s", got)
	}
	c := message.CensusOf([]message.Message{m, {Role: message.RoleAssistant}})
	if c.Messages != 2 || c.Parts[message.KindText] != 1 {
		t.Errorf("got %+v", c)
	}
}
`

func review(a *agent) {
	a.act("Two workers check the packages that use rounds while I read.",
		dispatch("review-policy", "go vet ./policy/ && grep -rn 'Rounds' --include=*.go policy | head -30"),
		dispatch("review-compact", "grep -rn 'Rounds\\|Turns' --include=*.go compact | head -30"))
	files := [][]string{
		{"policy/view.go", "policy/partition.go"}, {"policy/engine.go"}, {"policy/mask.go", "policy/truncate.go"},
		{"policy/conversation.go"}, {"policy/recipe.go"}, {"policy/check.go", "policy/squeeze.go"},
		{"compact/call.go"}, {"compact/ledger.go", "compact/memo.go"}, {"compact/store.go"}, {"compact/report.go"},
		{"compact/events.go"}, {"compact/manager.go", "compact/recall.go"}, {"trace/pipeline.go", "trace/event.go"},
		{"trace/payload_decide.go", "trace/payload_reduce.go"}, {"storage/archive.go", "storage/session.go"},
		{"storage/fs/fs.go", "storage/verify.go"}, {"token/estimator.go", "token/chat.go", "token/schema.go"},
		{"strategy/stage.go", "strategy/writer.go"}, {"strategy/extractive.go", "strategy/verify.go"},
		{"strategy/task_state.go", "strategy/code_delta.go"}, {"redact/scan.go", "redact/assign.go"},
		{"trace/queue.go", "trace/worker.go"}, {"storage/manifest.go", "storage/key.go"},
		{"cmd/compactctl/reduce.go", "cmd/compactctl/report.go"}, {"configs/load.go", "configs/validate.go"},
		{"internal/invariant/rule_place.go", "internal/invariant/reading.go"},
		{"compact/scenario_test.go"}, {"compact/ledger_test.go"}, {"compact/archive_test.go"},
	}
	for _, group := range files {
		var calls []call
		for _, f := range group {
			calls = append(calls, read(f))
		}
		a.act(fmt.Sprintf("Next: %s.", group[0]), calls...)
	}
	a.act("A worker runs the tests of the packages that depend on message.",
		dispatch("test-dependents", "go test ./message/... ./policy/... ./internal/... 2>&1 | tail -30"))
	a.act("Finally the whole diff against what was there.",
		bash("cat message/census.go message/census_test.go"), bash("go vet ./message/... ./policy/... && echo clean"))
}

// short is a session that needs no compaction.
func short(a *agent) {
	a.system(systemPrompt)
	a.user("What does package internal/jsonscan do, and is it tested?")
	a.act("I look at its documentation and for its tests.", bash("go doc ./internal/jsonscan"), bash("ls internal/jsonscan"))
	a.answer("It walks over JSON without building anything and says where each value lies, so that one string can be replaced while every other byte stays.")
}
