package transport

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/agentcompact/compact/message/openai"
)

func TestCallsAreIdentifiedByTheirIDs(t *testing.T) {
	call := func(id, name, args string) string {
		return `{"id":"` + id + `","type":"function","function":{"name":"` + name + `","arguments":` + string(enc(args)) + `}}`
	}
	a, b := call("c1", "read", `{"n":1}`), call("c2", "read", `{"n":2}`)
	said := []json.RawMessage{json.RawMessage(`{"role":"assistant","content":"I look.","tool_calls":[` + a + `,` + b + `]}`)}
	message := func(content, calls string) string {
		return `{"role":"assistant","content":` + content + `,"tool_calls":[` + calls + `]}`
	}
	for _, c := range []struct {
		name, elem string
		any, all   bool
	}{
		{"both, without the text", message("null", a+","+b), true, true},
		{"an empty text", message(`""`, a+","+b), true, true},
		{"the first alone", message("null", a), true, false},
		{"the second alone", message("null", b), false, false},
		{"another text", message(`"I read."`, a+","+b), false, false},
		{"parts", message(`[{"type":"text","text":"I read."}]`, a+","+b), false, false},
		{"other arguments", message("null", call("c1", "read", `{"n":3}`)), false, false},
		{"the same arguments, written otherwise", message("null", call("c1", "read", `{ "n": 1 }`)), true, false},
		{"another tool", message("null", call("c1", "write", `{"n":1}`)), false, false},
		{"another id", message("null", call("c3", "read", `{"n":1}`)), false, false},
		{"no id", message("null", call("", "read", `{"n":1}`)), false, false},
		{"one call more", message("null", a+","+b+","+b), false, false},
		{"no calls", `{"role":"assistant","content":null}`, false, false},
	} {
		elems := []json.RawMessage{json.RawMessage(c.elem)}
		if got := showsCalls(elems, said, false); got != c.any {
			t.Errorf("%s: %v, want %v", c.name, got, c.any)
		}
		if got := showsCalls(elems, said, true); got != c.all {
			t.Errorf("%s, all of them: %v, want %v", c.name, got, c.all)
		}
	}
	if showsCalls(nil, said, false) || showsCalls(said, nil, false) {
		t.Error("a message without calls counts as shown")
	}
	none := []json.RawMessage{json.RawMessage(message("null", call("", "read", `{}`)))}
	if showsCalls(none, none, false) {
		t.Error("calls without ids are not known by them")
	}
}

// The data of an event is in all of its data lines. A gateway may break a call of the
// recall tool into several lines. A reader of only some lines would pass that call on
// to the caller, which does not know the tool.
func TestTheDataOfAnEventIsInAllOfItsLines(t *testing.T) {
	for name, c := range map[string]struct{ event, head, want string }{
		"one":                      {"event: a\ndata: {\"n\":[1,2]}\n\n", "event: a\n", `{"n":[1,2]}`},
		"two":                      {"event: a\ndata: {\"n\":\ndata: [1,2]}\n\n", "event: a\n", `{"n":[1,2]}`},
		"one line for each token":  {"data: {\ndata: \"n\":\ndata: [1,\ndata: 2\ndata: ]}\n\n", "", `{"n":[1,2]}`},
		"with CRLF":                {"data: {\"n\":\r\ndata: [1,2]}\r\n\r\n", "", `{"n":[1,2]}`},
		"without blanks":           {"data:{\"n\":\ndata:[1,2]}\n\n", "", `{"n":[1,2]}`},
		"another field in between": {"data: {\"n\":\nid: 7\ndata: [1,2]}\n\n", "id: 7\n", `{"n":[1,2]}`},
		"no object":                {"data: [DONE]\n\n", "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			p := split([]byte(c.event+c.event), true)
			if len(p.list) != 2 || string(p.bytes()) != c.event+c.event {
				t.Fatalf("%d events: %q, want 2", len(p.list), p.bytes())
			}
			for _, e := range p.list {
				if string(e.data) != c.want || string(e.head) != c.head {
					t.Errorf("data %q after %q", e.data, e.head)
				}
				if got := e.read(); c.want != "" && string(got["n"]) != "[1,2]" {
					t.Errorf("the event is not read: %s", got)
				}
			}
		})
	}
}

// The stored size of a conversation's rounds is bounded, for each part of a round that
// may be large. The newest round is kept.
func TestTheRoundsOfAConversationAreBounded(t *testing.T) {
	large := strings.Repeat("x", 30<<10)
	quoted := json.RawMessage(`"` + large + `"`)
	for name, one := range map[string]round{
		"before": {before: []json.RawMessage{quoted}},
		"prior":  {prior: []json.RawMessage{quoted}},
		"said":   {beside: &beside{said: &said{whole: []json.RawMessage{quoted}}}},
		"texts":  {beside: &beside{said: &said{}, texts: []string{large}}},
	} {
		r := newRounds()
		x := &exchange{format: openai.Wire, dialect: chatDialect{}, who: identity{session: "s"}}
		came := `{"messages":[{"role":"user","content":"go"}`
		const all = 40
		for range all {
			r.keep(x, []byte(came+"]}"), one)
			came += `,{"role":"assistant","content":"on"}`
		}
		kept := r.get(x.roundKey())
		if n := len(kept); n < 1 || n > maxRoundBytes/len(large) || kept[n-1].at != all {
			t.Errorf("%s: %d rounds of %d bytes are kept, the last at %d", name, n, len(large), kept[max(n-1, 0)].at)
		}
	}
}

// A request reads the rounds of its conversation while others of the same agent read and keep
// some. The remembered rounds keep their order, so the oldest rounds are forgotten first.
func TestWeavingLeavesTheRememberedRoundsAsTheyAre(t *testing.T) {
	r, d := newRounds(), chatDialect{}
	x := &exchange{format: openai.Wire, dialect: d, who: identity{session: "s"}}
	answer := json.RawMessage(`{"role":"assistant","content":"on"}`)
	body := `{"messages":[{"role":"user","content":"go"}`
	for i := range 3 {
		r.keep(x, []byte(body+"]}"), round{said: []json.RawMessage{answer}, before: []json.RawMessage{enc(fmt.Sprint("hidden ", i))}})
		body += "," + string(answer) + `,{"role":"user","content":"go"}`
	}
	want, err := r.weave(x, d, []byte(body+"]}"))
	if err != nil || bytes.Count(want, []byte("hidden")) != 3 {
		t.Fatalf("%s, %v", want, err)
	}
	for range 2 {
		kept := r.get(x.roundKey())
		if len(kept) != 3 || kept[0].at != 1 || kept[1].at != 3 || kept[2].at != 5 {
			t.Fatalf("%d rounds, at %d to %d; want 3 and 1", len(kept), kept[0].at, kept[len(kept)-1].at)
		}
		if got, err := r.weave(x, d, []byte(body+"]}")); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s, %v; want %s", got, err, want)
		}
	}
}
