package anthropic

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// summary is a summary on this wire.
const summary = `{"role":"user","content":"<COMPACT-SUMMARY v1>\n…\n</COMPACT-SUMMARY>"}`

var markedSummary = `{"role":"user","content":[{"type":"text","text":"<COMPACT-SUMMARY v1>\n…\n</COMPACT-SUMMARY>"` + short + `}]}`

func TestAutoSetsCacheMarks(t *testing.T) {
	tool := func(mark string) string {
		return `"tools":[{"name":"f","input_schema":{}},{"name":"g","input_schema":{}` + mark + `}],`
	}
	later := `"tools":[{"name":"f","input_schema":{}},{"name":"g","input_schema":{},"defer_loading":true}],`
	msgs := func(all ...string) string { return `"messages":[` + strings.Join(all, ",") + `]}` }
	a, b := user("a", ""), said("b")
	for name, c := range map[string]struct{ in, want string }{
		"system, summary, last": {
			`{"system":"S",` + tool("") + msgs(summary, a, b, user("c", "")),
			`{"system":[{"type":"text","text":"S"` + short + `}],` + tool("") + msgs(markedSummary, a, b, user("c", short)),
		},
		"tools, where there is no system prompt": {
			`{` + tool("") + msgs(a, b, user("c", "")),
			`{` + tool(short) + msgs(a, b, user("c", short)),
		},
		"no mark at a tool that is loaded later": {
			`{` + later + msgs(user("c", "")),
			`{` + strings.Replace(later, `"name":"f","input_schema":{}`, `"name":"f","input_schema":{}`+short, 1) + msgs(user("c", short)),
		},
		"a mark at the last tool stays": {
			`{` + tool(short) + msgs(user("c", "")),
			`{` + tool(short) + msgs(user("c", short)),
		},
		"no tool that is loaded at once": {
			`{"tools":[{"name":"g","input_schema":{},"defer_loading":true}],` + msgs(user("c", "")),
			`{"tools":[{"name":"g","input_schema":{},"defer_loading":true}],` + msgs(user("c", short)),
		},
		"a tool that is not loaded later": {
			`{"tools":[{"name":"g","defer_loading":false,"input_schema":{"later":true}}],` + msgs(user("c", "")),
			`{"tools":[{"name":"g","defer_loading":false,"input_schema":{"later":true}` + short + `}],` + msgs(user("c", short)),
		},
		"other keys behind the mark of a tool": {
			`{"tools":[{"cache_control":{"type":"ephemeral"},"name":"g"}],` + msgs(user("c", "")),
			`{"tools":[{"cache_control":{"type":"ephemeral"},"name":"g"}],` + msgs(user("c", short)),
		},
		"other keys behind defer_loading": {
			`{"tools":[{"defer_loading":true,"name":"g"}],` + msgs(user("c", "")),
			`{"tools":[{"defer_loading":true,"name":"g"}],` + msgs(user("c", short)),
		},
		"a strict tool": {
			`{"tools":[{"name":"g","strict":true}],` + msgs(user("c", "")),
			`{"tools":[{"name":"g","strict":true` + short + `}],` + msgs(user("c", short)),
		},
		"no tools and no system prompt": {
			`{"tools":[],` + msgs(user("c", "")),
			`{"tools":[],` + msgs(user("c", short)),
		},
		"existing marks stay": {
			`{"system":[{"type":"text","text":"S"` + short + `}],` + msgs(a, b, user("c", short)),
			`{"system":[{"type":"text","text":"S"` + short + `}],` + msgs(a, b, user("c", short)),
		},
		"one free mark": {
			`{"system":"S",` + msgs(user("1", short), b, user("2", short), b, user("3", short), b, user("4", "")),
			`{"system":"S",` + msgs(user("1", short), b, user("2", short), b, user("3", short), b, user("4", short)),
		},
		"no free mark": {
			`{"system":"S",` + tool(short) + msgs(user("1", short), b, user("2", short), b, user("3", short), b, user("4", "")),
			`{"system":"S",` + tool(short) + msgs(user("1", short), b, user("2", short), b, user("3", short), b, user("4", "")),
		},
		"before an hour's mark": {
			`{"system":"S",` + msgs(user("1", long), b, user("2", "")),
			`{"system":[{"type":"text","text":"S"` + long + `}],` + msgs(user("1", long), b, user("2", short)),
		},
		"the provider sets the last mark": {
			`{"cache_control":{"type":"ephemeral"},"system":"S",` + msgs(user("1", ""), b, user("2", "")),
			`{"cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"S"` + short + `}],` + msgs(user("1", ""), b, user("2", "")),
		},
		"no free mark beside the provider's": {
			`{"cache_control":{"type":"ephemeral"},"system":"S",` + msgs(user("1", short), b, user("2", short), b, user("3", short), b, user("4", "")),
			`{"cache_control":{"type":"ephemeral"},"system":"S",` + msgs(user("1", short), b, user("2", short), b, user("3", short), b, user("4", "")),
		},
		"before the provider's mark for an hour": {
			`{"cache_control":{"type":"ephemeral","ttl":"1h"},"system":"S",` + tool("") + msgs(summary, a, b, user("c", "")),
			`{"cache_control":{"type":"ephemeral","ttl":"1h"},"system":[{"type":"text","text":"S"` + long + `}],` + tool("") +
				msgs(strings.Replace(markedSummary, short, long, 1), a, b, user("c", "")),
		},
		"thinking last": {
			`{` + msgs(a, `{"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"s"}]}`),
			`{` + msgs(a, `{"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"s"}]}`),
		},
	} {
		req, err := Wire.ParseRequest([]byte(c.in), nil)
		if err != nil {
			t.Fatal(err)
		}
		all := make([]int, len(req.Messages()))
		for i := range all {
			all[i] = i
		}
		m := req.(wire.Marker)
		got, err := m.WriteMarked(req.Messages(), all, -1)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", name, err, got, c.want)
		}
		if plain, err := req.Write(req.Messages(), all); err != nil || string(plain) != c.in {
			t.Errorf("%s: the request without automatic marks became %s", name, plain)
		}
	}
}

func TestMarkedReportsMessagesWithAMark(t *testing.T) {
	req, err := Wire.ParseRequest([]byte(`{"system":[{"type":"text","text":"S"`+short+`}],"messages":[`+user("a", "")+`,`+said("b")+`,`+user("c", long)+`]}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	if got := req.(wire.Marker).Marked(); !slices.Equal(got, []bool{true, false, false, true}) {
		t.Errorf("got %v, want marks in the first and the last message", got)
	}
	var none message.Message
	if summarizes(none.Raw()) || summarizes([]byte(user("COMPACT-SUMMARY v1", ""))) || !summarizes([]byte(summary)) {
		t.Error("a summary is not recognized")
	}
}

// The provider reads the marks of the blocks in a result before the mark of the result itself,
// wherever that mark is in the JSON. So the mark for an hour in a block comes first.
func TestTheMarkOfAResultComesAfterTheMarksInIt(t *testing.T) {
	inner := `"content":[{"type":"text","text":"x"` + long + `}]`
	for _, block := range []string{`{"type":"tool_result","tool_use_id":"t",` + inner + short + `}`, `{"type":"tool_result"` + short + `,"tool_use_id":"t",` + inner + `}`} {
		marks := marksOf([]byte("[" + block + "]"))
		if len(marks) != 2 || !marks[0].hour || marks[1].hour || !inOrder(marks) {
			t.Errorf("%s: got %d marks or another order, want the mark for an hour and then the mark of the result", block, len(marks))
		}
	}
}

// An automatic mark above the limit is an error of the provider. Room counts all marks of the
// caller: at tools, system prompt, messages and the body.
func TestRoomCountsTheMarksOfTheCaller(t *testing.T) {
	tools := func(mark string) string { return `"tools":[{"name":"f","input_schema":{}` + mark + `}],` }
	system := func(mark string) string { return `"system":[{"type":"text","text":"S"` + mark + `}],` }
	for name, c := range map[string]struct {
		body     string
		tools    bool
		left     int
		has      bool
		messages int // with a mark
	}{
		"no mark":             {`{` + tools("") + system("") + `"messages":[` + user("a", "") + `]}`, false, 4, false, 0},
		"at a tool":           {`{` + tools(short) + system("") + `"messages":[` + user("a", "") + `]}`, true, 3, true, 0},
		"at tool and system":  {`{` + tools(short) + system(short) + `"messages":[` + user("a", "") + `]}`, true, 2, true, 1},
		"without a system":    {`{` + tools("") + `"messages":[` + user("a", short) + `,` + said("b") + `,` + user("c", short) + `]}`, false, 2, true, 2},
		"at system, messages": {`{` + tools("") + system(short) + `"messages":[` + user("a", short) + `,` + said("b") + `,` + user("c", short) + `]}`, false, 1, true, 3},
		"at the body":         {`{"cache_control":{"type":"ephemeral"},` + tools("") + `"messages":[` + user("a", "") + `]}`, false, 3, true, 1},
		"more than allowed":   {`{` + tools(short) + system(short) + `"messages":[` + user("a", short) + `,` + user("b", short) + `,` + user("c", short) + `]}`, true, 0, true, 4},
	} {
		req, err := Wire.ParseRequest([]byte(c.body), nil)
		if err != nil {
			t.Fatal(err)
		}
		fresh, err := Wire.ParseRequest([]byte(c.body), nil)
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		for _, marked := range req.(wire.Marker).Marked() {
			if marked {
				n++
			}
		}
		if tools, left := fresh.(wire.Marker).Room(); tools != c.tools || left != c.left || n != c.messages {
			t.Errorf("%s: tools %v, room for %d, %d messages with a mark, want %+v", name, tools, left, n, c)
		}
		if fresh, err = Wire.ParseRequest([]byte(c.body), nil); err != nil || fresh.(wire.Marker).HasMarks() != c.has {
			t.Errorf("%s: has marks: %v, %v", name, !c.has, err)
		}
	}
}
