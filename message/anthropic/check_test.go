package anthropic_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/anthropic"
	"github.com/agentcompact/compact/message/wire"
	"github.com/agentcompact/compact/message/wire/wiretest"
)

// A conversation in shorthand: u says, c calls ids, r answers ids.
func u(text string) string { return `{"role":"user","content":"` + text + `"}` }
func a(text string) string { return `{"role":"assistant","content":"` + text + `"}` }

func c(ids ...string) string {
	out := []string{`{"type":"thinking","thinking":"t","signature":"s"}`}
	for _, id := range ids {
		out = append(out, `{"type":"tool_use","id":"`+id+`","name":"f","input":{}}`)
	}
	return `{"role":"assistant","content":[` + strings.Join(out, ",") + `]}`
}

func r(ids ...string) string {
	var out []string
	for _, id := range ids {
		block := `{"type":"tool_result","tool_use_id":"` + id + `","content":[{"type":"text","text":"1"},{"type":"text","text":"2"}]}`
		if id == "TEXT" {
			block = `{"type":"text","text":"beside"}`
		}
		out = append(out, block)
	}
	return `{"role":"user","content":[` + strings.Join(out, ",") + `]}`
}

func system(text string) string { return `{"role":"system","content":"` + text + `"}` }

func body(items ...string) string { return `{"messages":[` + strings.Join(items, ",") + `]}` }

func TestEachRuleIsChecked(t *testing.T) {
	compacted := `{"role":"assistant","content":[{"type":"compaction","content":"c"}]}`
	protected := `{"role":"assistant","content":[{"type":"hologram"}],"meta":{"protected":true}}` // only its client protects it
	searched := `{"role":"assistant","content":[{"type":"server_tool_use","id":"s"},{"type":"web_search_tool_result","tool_use_id":"s"}]}`
	runs, ran := `{"role":"assistant","content":[{"type":"server_tool_use","id":"s"},{"type":"tool_use","id":"1","name":"f","input":{}}]}`, `{"role":"assistant","content":[{"type":"code_execution_tool_result","tool_use_id":"s"}]}`
	for body, want := range map[string][]string{
		body(u("a"), runs, r("1"), ran, u("b")):                nil,
		body(u("a"), runs, r("1"), u("b")):                     {"tool_use_without_result 1/s"},
		body(u("a"), ran, u("b")):                              {"tool_result_without_call 1/s"},
		body(u("a"), c("1", "2"), r("1", "2"), a("b"), u("c")): nil,
		body(u("a"), c("1"), r("1", "TEXT"), u("b"), u("c")):   nil,
		body(compacted, u("a")):                                nil,
		body(u("a"), system("s"), a("b"), u("c"), system("s")): nil,
		body(u("a"), searched, system("s"), a("b"), u("c")):    nil,
		body():                            {"empty_message "},
		body(a("b"), u("c")):              {"first_message_not_user "},
		body(u("a"), a("b")):              {"trailing_assistant "},
		body(u("a"), c("1", "2"), r("2")): {"tool_use_without_result 1/1"},
		body(u("a"), `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}},{"type":"tool_result","tool_use_id":"1","content":"x"}]}`, u("b")): {"tool_result_not_first 1/1", "tool_result_without_call 1/1", "tool_use_without_result 1/1"},
		body(u("a"), c("1"), u("b"), r("1")):                                          {"tool_result_without_call 3/1", "tool_use_without_result 1/1"},
		body(u("a"), c("1"), strings.Replace(r("1"), "user", "assistant", 1), u("c")): {"tool_result_without_call 2/1", "tool_use_without_result 1/1"},
		body(u("a"), strings.Replace(c("1"), "assistant", "user", 1), r("1")):         {"tool_result_without_call 2/1"},
		body(r("1")):                                              {"tool_result_without_call 0/1"},
		body(u("a"), c("1"), r("1"), r("1")):                      {"tool_result_without_call 3/1"},
		body(u("a"), c("1"), r("1"), c("1"), r("1")):              {"tool_use_twice 3/1"},
		body(u("a"), c("1"), r("TEXT", "1")):                      {"tool_result_not_first 2/1"},
		body(u("a"), a(" \\n"), u("")):                            {"empty_text 1/0.0", "empty_text 2/0.0"},
		body(u("a"), `{"role":"assistant","content":[]}`, u("c")): {"empty_message 1"},
		body(u("a"), `{"role":"assistant","content":[]}`):         {"trailing_assistant "},
		body(u("a"), `{"role":"tool","content":"x"}`, u("c")):     {"unknown_role 1"},
		body(u("a"), a("b"), system("s"), u("c")):                 {"system_position 2/after", "system_position 2/before"},
		body(u("a"), system("s"), system("s")):                    {"system_position 1/after", "system_position 2/before"},
		body(system("s"), a("b"), u("c")):                         {"first_message_not_user "},
		body(protected, u("c")):                                   {"first_message_not_user "},
	} {
		req := parse(t, body)
		if diff := cmp.Diff(want, wiretest.Broken(req.Check(req.Messages(), seq(len(req.Messages()))))); diff != "" {
			t.Errorf("%s: %s", body, diff)
		}
	}
}

func TestTheMarksOfTheCacheAreCounted(t *testing.T) {
	const mark = `,"cache_control":{"type":"ephemeral"}`
	block := func(inner string) string {
		return `{"role":"user","content":[{"type":"text","text":"a"` + inner + `}]}`
	}
	for body, want := range map[string]int{
		`{"system":[{"type":"text","text":"s"` + mark + `}],"tools":[{"name":"f"` + mark + `}],"messages":[` + block(mark) + `,` + block(mark) + `]}`:             0,
		`{"system":[{"type":"text","text":"s"` + mark + `}],"tools":[{"name":"f"` + mark + `}],"messages":[` + block(mark) + `,` + block(mark) + `]` + mark + `}`: 1,
		`{"messages":[{"role":"user","content":[{"type":"tool_result","tool_use_id":"1","content":[{"type":"text","text":"a"` + strings.Repeat(mark, 1) + `}]` + mark + `}]},` +
			block(mark) + `,` + block(mark) + `,` + block(mark) + `]}`: 1,
		`{"tools":[{"name":"f","input_schema":{"cache_control":{},"b":{"cache_control":{}},"c":{"cache_control":{}}}}],"messages":[` + block(mark) + `,` + block(mark) + `,` + block(`,"cache_control":null`) + `]}`: 0,
	} {
		req, n := parse(t, body), 0
		for _, v := range req.Check(req.Messages(), seq(len(req.Messages()))) {
			if v.Check == anthropic.CheckMarks {
				n++
			}
		}
		if n != want {
			t.Errorf("%s: reported %d times, want %d", body, n, want)
		}
	}
}

func TestACompactionBlockStaysTheFirst(t *testing.T) {
	compacted := `{"role":"assistant","content":[{"type":"compaction","content":"c"}]}`
	req := parse(t, body(compacted, u("a"), a("b"), u("c")))
	msgs := req.Messages()
	if !msgs[0].Protected {
		t.Error("the block is not protected")
	}
	for _, v := range []struct {
		view    []message.Message
		sources []int
		want    []string
	}{
		{[]message.Message{msgs[0], msgs[3]}, []int{0, 3}, nil},
		{[]message.Message{msgs[1], msgs[3]}, []int{1, 3}, []string{"compaction_block_moved 0"}},
		{[]message.Message{message.User("x"), msgs[0], msgs[3]}, []int{-1, 0, 3}, []string{"compaction_block_moved 0"}},
	} {
		if diff := cmp.Diff(v.want, wiretest.Broken(req.Check(v.view, v.sources))); diff != "" {
			t.Errorf("sources %v: %s", v.sources, diff)
		}
	}
}

func TestSealedPartsThatChangeAreReported(t *testing.T) {
	req := parse(t, body(u("a"), c("1"), r("1"), a("b"), u("c")))
	msgs := req.Messages()
	for about, other := range map[string]string{
		"stripped":   `{"role":"assistant","content":[{"type":"tool_use","id":"1","name":"f","input":{}}]}`,
		"other text": strings.Replace(c("1"), `"thinking":"t"`, `"thinking":"T"`, 1),
		"other call": strings.Replace(c("1"), `"input":{}`, `"input":{"a":1}`, 1),
	} {
		m, err := anthropic.Wire.ParseMessage([]byte(other))
		if err != nil {
			t.Fatal(err)
		}
		view := slices.Clone(msgs)
		view[1] = m
		if diff := cmp.Diff([]string{"sealed_part_changed 1"}, wiretest.Broken(req.Check(view, seq(len(view))))); diff != "" {
			t.Errorf("%s: %s", about, diff)
		}
	}
	edited, err := msgs[2].WithPartText(0, "masked")
	if err != nil {
		t.Fatal(err)
	}
	view := slices.Clone(msgs)
	view[2] = edited
	if found := req.Check(view, seq(len(view))); len(found) > 0 {
		t.Errorf("a masked result: the check reports %v, want nothing", found)
	}
}

// If the input breaks rules, the check of a view reports only the violations that the view adds.
func TestViolationsOfTheInputAreNotReported(t *testing.T) {
	req := parse(t, body(a("b"), c("1"), u("x"), c("1", "2"), r("1", "2", "TEXT"), u("end")))
	msgs := req.Messages()
	before := req.Check(msgs, seq(len(msgs)))
	if len(before) != 3 {
		t.Fatalf("the input breaks %v, want 3 violations", wiretest.Broken(before))
	}
	fresh := func(sources ...int) []string {
		var view []message.Message
		for _, s := range sources {
			if s < 0 {
				view = append(view, message.Assistant(message.SummaryText(1, "s")))
			} else {
				view = append(view, msgs[s])
			}
		}
		return wiretest.Broken(wire.New(before, req.Check(view, sources)))
	}
	for _, v := range []struct {
		sources []int
		want    []string
	}{
		{[]int{0, 1, 2, 6}, nil},
		{[]int{-1, 5, 6}, nil},
		{[]int{3, 4, 6}, nil},
		{[]int{2, 4, 6}, []string{"tool_result_without_call 4/1", "tool_result_without_call 4/2"}},
		{[]int{2, 3, 5, 6}, []string{"tool_use_without_result 3/1", "tool_use_without_result 3/2"}},
		{[]int{2, 3, -1, 4, 6}, []string{"tool_result_without_call 4/1", "tool_result_without_call 4/2", "tool_use_without_result 3/1", "tool_use_without_result 3/2"}},
		{[]int{0, 1, 2, 3}, []string{"trailing_assistant ", "tool_use_without_result 3/1", "tool_use_without_result 3/2"}},
	} {
		slices.Sort(v.want)
		if diff := cmp.Diff(v.want, fresh(v.sources...)); diff != "" {
			t.Errorf("%v: %s", v.sources, diff)
		}
	}
}

// Any results may be masked, and a summary may replace any whole rounds.
func TestMaskingAndDroppingRoundsBreaksNoRule(t *testing.T) {
	var items []string
	for i := range 12 {
		id := fmt.Sprintf("toolu_%d", i)
		items = append(items, u("task"), c(id, id+"b"), r(id, id+"b", "TEXT"), a("done"))
	}
	req := parse(t, body(append(items, u("end"))...))
	msgs := req.Messages()
	rounds := message.Rounds(msgs)
	for from := range rounds {
		for to := from; to < len(rounds); to += 3 {
			view, sources := slices.Clone(msgs[:rounds[from].Start]), seq(rounds[from].Start)
			view, sources = append(view, message.Assistant(message.SummaryText(1, "s"))), append(sources, -1)
			for i := rounds[to].Start; i < len(msgs); i++ {
				m := msgs[i]
				if m.Editable(0) && m.Role == message.RoleTool {
					m, _ = m.WithPartText(0, "[observation masked]")
				}
				view, sources = append(view, m), append(sources, i)
			}
			if found := req.Check(view, sources); len(found) > 0 {
				t.Fatalf("without rounds %d to %d: the check reports %v, want nothing", from, to, found)
			}
		}
	}
}

func TestTheLastOfTwoFieldsWithOneNameCounts(t *testing.T) {
	for twice, once := range map[string]string{
		`{"role":"assistant","role":"user","content":"x"}`:                                                                        u("x"),
		`{"role":"assistant","r\u006fle":"user","content":"x"}`:                                                                   u("x"),
		`{"r\u006fle":"assistant","role":"user","content":"x"}`:                                                                   u("x"),
		`{"role":"user","content":"a","content":"b"}`:                                                                             u("b"),
		`{"role":"user","content":"a","content":null}`:                                                                            `{"role":"user","content":null}`,
		`{"role":"user","content":"a","meta":{"protected":true},"meta":{}}`:                                                       u("a"),
		`{"role":"user","content":[{"type":"image","type":"text","text":"a","text":"b"}]}`:                                        `{"role":"user","content":[{"type":"text","text":"b"}]}`,
		u("a") + `,` + strings.Replace(c("2"), `"id":"2"`, `"id":"1","id":"2"`, 1) + `,` + r("2"):                                 u("a") + `,` + c("2") + `,` + r("2"),
		u("a") + `,` + c("2") + `,` + strings.Replace(r("2"), `"tool_use_id":"2"`, `"tool_use_id":"2","tool_use_\u0069d":"1"`, 1): u("a") + `,` + c("2") + `,` + strings.Replace(r("2"), `"tool_use_id":"2"`, `"tool_use_id":"1"`, 1),
	} {
		wiretest.LastCounts(t, anthropic.Wire, `{"messages":[`+twice+`]}`, `{"messages":[`+once+`]}`)
	}
}
