package compat_test

import (
	"slices"
	"testing"

	"github.com/agentcompact/compact/internal/formname"
	"github.com/agentcompact/compact/message"
	"github.com/agentcompact/compact/policy"
)

// said returns one message of a row.
func said(role message.Role, text string) wireMessage { return wireMessage{Role: role, Content: &text} }

// The test covers cases that the vectors lack: no history, a history without a request,
// and a system message inside a history.
func TestLoopAdapterAcceptsOtherForms(t *testing.T) {
	user, system := said(message.RoleUser, "go"), said(message.RoleSystem, "be good")
	for name, initial := range map[string][]wireMessage{
		"nothing": nil, "no request": {system}, "a system message inside": {user, system, user}, "a request": {system, user},
	} {
		for turns := range 3 {
			var r loopRow
			r.Input.Initial = initial
			r.Input.Call.Name, r.Input.Call.Arguments = "run", "{}"
			r.Options.MaxResult, r.Options.Keep, r.Options.Window, r.Options.Budget = 100, "head", 10_000, 10_000
			r.Input.Turns = slices.Grow(r.Input.Turns, turns)[:turns]
			for i := range r.Input.Turns {
				r.Input.Turns[i].Assistant.Calls, r.Input.Turns[i].Results = []string{"a"}, []string{"done"}
			}
			got := requests(t, &r)
			if len(got) != turns {
				t.Fatalf("%s: %d requests for %d turns", name, len(got), turns)
			}
			for i, q := range got {
				if want := len(initial) + 2*i; len(q.messages) != want || q.over || q.broken != nil {
					t.Errorf("%s: request %d has %d messages, want %d: %v", name, i, len(q.messages), want, q.broken)
				}
			}
			if wrong := soundLoop(&r, got); wrong != "" {
				t.Errorf("%s: %s", name, wrong)
			}
		}
	}
}

func TestMaskAdapterAcceptsOtherForms(t *testing.T) {
	user, system := said(message.RoleUser, "go"), said(message.RoleSystem, "be good")
	for name, msgs := range map[string][]wireMessage{"nothing": nil, "no results": {user}, "a system message inside": {user, system, user}} {
		out, err := stage(t, policy.Mask{Since: at(0), Form: formname.Result}, history(msgs), unbounded)
		if err != nil || out.Changed() || out.Conversation.Len() != len(msgs) {
			t.Errorf("%s: %v, %d messages; want no error and %d", name, err, out.Conversation.Len(), len(msgs))
		}
		var r maskRow
		r.Input.Messages, r.Expected.Messages = msgs, msgs
		if d := maskResultDeviations(&r, lines(history(msgs))); len(d) > 0 {
			t.Errorf("%s: a predicate matches a text that was not masked", name)
		}
	}
}

func TestPartitionAdapterAcceptsOtherForms(t *testing.T) {
	plain := func(role message.Role) plainMessage { return plainMessage{Role: role, Content: "x"} }
	for name, c := range map[string]struct {
		msgs                      []plainMessage
		pinned, recent, remainder int
	}{
		"nothing":                 {},
		"a request alone":         {[]plainMessage{plain("user")}, 0, 1, 0},
		"a system message inside": {[]plainMessage{plain("user"), plain("assistant"), plain("system"), plain("user"), plain("assistant")}, 1, 2, 2},
		"a developer at the end":  {[]plainMessage{plain("user"), plain("assistant"), plain("developer")}, 1, 2, 0},
	} {
		var r partitionRow
		r.Input.Messages = c.msgs
		r.Options.Turns, r.Options.Pairs, r.Options.Roles = 1, 1, []message.Role{"system", "developer"}
		p := policy.NewView(r.history(), policy.Pins(r.Options.Roles), words{}).Partition(r.keep())
		if len(p.Pinned) != c.pinned || len(p.Recent) != c.recent || len(p.Remainder) != c.remainder {
			t.Errorf("%s: %v pinned, %v recent, %v left", name, p.Pinned, p.Recent, p.Remainder)
		}
	}
}
