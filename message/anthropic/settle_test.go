package anthropic

import (
	"slices"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/message/wire"
)

// Marks of requests, for an hour and for less.
const (
	short = `,"cache_control":{"type":"ephemeral"}`
	long  = `,"cache_control":{"type":"ephemeral","ttl":"1h"}`
)

func user(text, mark string) string {
	return `{"role":"user","content":[{"type":"text","text":"` + text + `"` + mark + `}]}`
}

func said(text string) string { return `{"role":"assistant","content":"` + text + `"}` }

// without writes a request with only some messages left, in the given order; -1
// is a summary.
func without(t *testing.T, body string, left ...int) (string, []wire.Violation) {
	t.Helper()
	req, err := Wire.ParseRequest([]byte(body), nil)
	if err != nil {
		t.Fatal(err)
	}
	var view []message.Message
	for _, s := range left {
		if s < 0 {
			view = append(view, message.Assistant("<COMPACT-SUMMARY v1>\n…\n</COMPACT-SUMMARY v1>"))
			continue
		}
		view = append(view, req.Messages()[s])
	}
	out, err := req.Write(view, left)
	if err != nil {
		t.Fatal(err)
	}
	all := make([]int, len(req.Messages()))
	for i := range all {
		all[i] = i
	}
	return string(out), wire.New(req.Check(req.Messages(), all), req.Check(view, left))
}

func TestCacheMarkMovesToThePreviousMessage(t *testing.T) {
	body := func(msgs ...string) string { return `{"model":"m","messages":[` + strings.Join(msgs, ",") + `]}` }
	thinks := `{"role":"assistant","content":[{"type":"text","text":"so"},{"type":"thinking","thinking":"T","signature":"s"}]}`
	onlyThinks := `{"role":"assistant","content":[{"type":"thinking","thinking":"T","signature":"s"}]}`
	for name, c := range map[string]struct {
		in   string
		left []int
		want string
	}{
		"a mark changes a text into a block": {
			body(`{ "role":"user", "content" : "a" }`, said("b"), user("c", long), said("d"), user("e", short)), []int{0, 4},
			body(`{ "role":"user", "content" : [{"type":"text","text":"a"`+long+`}] }`, user("e", short)),
		},
		"a mark moves past a summary": {
			body(user("a", ""), said("b"), user("c", short), said("d"), user("e", "")), []int{0, -1, 4},
			body(user("a", short), `{"role":"user","content":"<COMPACT-SUMMARY v1>\n…\n</COMPACT-SUMMARY v1>"}`, user("e", "")),
		},
		"a mark never moves to thinking": {
			body(user("a", ""), thinks, user("c", short), said("d"), user("e", "")), []int{0, 1, 4},
			body(user("a", ""), `{"role":"assistant","content":[{"type":"text","text":"so"`+short+`},{"type":"thinking","thinking":"T","signature":"s"}]}`, user("e", "")),
		},
		"a mark moves past a message of thinking only": {
			body(user("a", ""), onlyThinks, user("c", short), said("d"), user("e", "")), []int{0, 1, 4},
			body(user("a", short), onlyThinks, user("e", "")),
		},
		"a mark replaces null": {
			body(user("a", `,"cache_control":null`), said("b"), user("c", short), user("e", "")), []int{0, 3},
			body(user("a", short), user("e", "")),
		},
		"a mark is dropped at a message with a mark": {
			body(user("a", long), said("b"), user("c", short), said("d"), user("e", short)), []int{0, 4},
			body(user("a", long), user("e", short)),
		},
		"a mark never moves past another mark": {
			body(user("0", ""), said("1"), user("a", long), said("b"), user("c", short), said("d"), user("e", "")), []int{0, 1, 2, 6},
			body(user("0", ""), said("1"), user("a", long), user("e", "")),
		},
		"one of two marks of a message": {
			body(user("a", ""), `{"role":"user","content":[{"type":"text","text":"x"`+long+`},{"type":"text","text":"y"`+short+`}]}`, user("e", "")), []int{0, 2},
			body(user("a", long), user("e", "")),
		},
		"a mark in the removed half of an item": {
			body(user("a", ""), `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"},{"type":"text","text":"go"`+short+`}]}`, said("d"), user("e", "")), []int{0, 1, 2, 5},
			body(user("a", ""), `{"role":"assistant","content":[{"type":"tool_use","id":"t","name":"f","input":{}}]}`,
				`{"role":"user","content":[{"type":"tool_result","tool_use_id":"t","content":"r"`+short+`}]}`, user("e", "")),
		},
		"a longer mark after a shorter one": {
			body(user("a", long), said("b"), user("c", short), said("d"), user("e", "")), []int{2, 0, 4},
			body(user("c", ""), user("a", long), user("e", "")),
		},
		"no message before the mark": {
			body(user("a", short), said("b"), user("c", "")), []int{2},
			body(user("c", "")),
		},
	} {
		got, broken := without(t, c.in, c.left...)
		if got != c.want {
			t.Errorf("%s:\n%s\nwant\n%s", name, got, c.want)
		}
		if len(broken) > 0 && c.left[0] == 0 {
			t.Errorf("%s: %v, want no violation", name, broken)
		}
	}
}

func TestCacheMarkMovesToTheSystemPrompt(t *testing.T) {
	msgs := `"messages":[` + user("a", "") + `,` + said("b") + `,` + user("c", long) + `,` + user("d", "") + `]`
	left := `"messages":[` + user("d", "") + `]`
	for in, want := range map[string]string{
		`{"system":"S",` + msgs + `}`:     `{"system":[{"type":"text","text":"S"` + long + `}],` + left + `}`,
		`{` + msgs + `, "system" : "S" }`: `{` + left + `, "system" : [{"type":"text","text":"S"` + long + `}] }`,
		`{"system":[{"type":"text","text":"S"},{"type":"text","text":"T"}],` + msgs + `}`:           `{"system":[{"type":"text","text":"S"},{"type":"text","text":"T"` + long + `}],` + left + `}`,
		`{"system":[{"type":"text","text":"S"` + long + `}],` + msgs + `}`:                          `{"system":[{"type":"text","text":"S"` + long + `}],` + left + `}`,
		`{"cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"S"}],` + msgs + `}`: `{"cache_control":{"type":"ephemeral"},"system":[{"type":"text","text":"S"` + long + `}],` + left + `}`,
	} {
		if got, broken := without(t, in, 0, 4); got != want || len(broken) > 0 {
			t.Errorf("%s\nbecame\n%s\nwant\n%s\n%v", in, got, want, broken)
		}
	}
}

// A wrong order in the request itself stays, and is not reported for the view.
func TestCallersWrongOrderOfCacheMarksIsKept(t *testing.T) {
	in := `{"messages":[` + user("a", short) + `,` + said("b") + `,` + user("c", "") + `,` + user("d", long) + `]}`
	got, broken := without(t, in, 0, 3)
	if want := `{"messages":[` + user("a", short) + `,` + user("d", long) + `]}`; got != want || len(broken) > 0 {
		t.Errorf("got %s and violations %v, want the order of the request and no violation", got, broken)
	}
	req, err := Wire.ParseRequest([]byte(in), nil)
	if err != nil {
		t.Fatal(err)
	}
	found := req.Check(req.Messages(), []int{0, 1, 2, 3})
	if !slices.ContainsFunc(found, func(v wire.Violation) bool { return v.Check == CheckMarkOrder }) {
		t.Errorf("the order is not found: %v", found)
	}
}
